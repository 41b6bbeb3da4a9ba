// Fields of shapes whose distance is known in closed form.
#pragma once

#include <cotouch/field/build.h>

#include <algorithm>
#include <cmath>

namespace cotouch::test {

inline double sphere_distance(const Vec3d& p, double radius) {
  return norm(p) - radius;
}

inline double torus_distance(const Vec3d& p, double ring, double tube) {
  const double from_ring = std::sqrt(p.x * p.x + p.y * p.y) - ring;
  return std::sqrt(from_ring * from_ring + p.z * p.z) - tube;
}

inline double box_distance(const Vec3d& p, const Vec3d& half) {
  const Vec3d q{std::fabs(p.x) - half.x, std::fabs(p.y) - half.y, std::fabs(p.z) - half.z};
  const Vec3d outside{std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0)};
  return norm(outside) + std::min(std::max({q.x, q.y, q.z}), 0.0);
}

inline Field field_of(const std::function<double(const Vec3d&)>& distance, const Vec3d& half, int resolution) {
  Box3d box;
  box.add(-half);
  box.add(half);
  FieldSettings settings;
  settings.resolution = resolution;
  return build_field(distance, box, settings);
}

inline Field sphere_field(int resolution = 48) {
  return field_of([](const Vec3d& p) { return sphere_distance(p, 0.05); }, {0.05, 0.05, 0.05}, resolution);
}
inline Field torus_field(int resolution = 64) {
  return field_of([](const Vec3d& p) { return torus_distance(p, 0.04, 0.015); }, {0.055, 0.055, 0.015}, resolution);
}
inline Field box_field(int resolution = 64) {
  const Vec3d half{0.05, 0.03, 0.02};
  return field_of([=](const Vec3d& p) { return box_distance(p, half); }, half, resolution);
}
// Two cells thick at resolution 64, far less than the spacing of the upper levels.
inline Field plate_field(int resolution = 64) {
  const Vec3d half{0.05, 0.05, 0.0016};
  return field_of([=](const Vec3d& p) { return box_distance(p, half); }, half, resolution);
}
// A plate with teeth narrower than the spacing of the upper levels.
inline Field comb_field(int resolution = 64) {
  const auto distance = [](const Vec3d& p) {
    double d = box_distance(p, {0.05, 0.05, 0.005});
    for (int i = -4; i <= 4; ++i) d = std::min(d, box_distance(p - Vec3d{i * 0.0115, 0, 0.01}, {0.003, 0.05, 0.01}));
    return d;
  };
  return field_of(distance, {0.05, 0.05, 0.02}, resolution);
}
// A large and a small ball, apart.
inline Field balls_field(int resolution = 64) {
  const auto distance = [](const Vec3d& p) {
    return std::min(sphere_distance(p, 0.03), sphere_distance(p - Vec3d{0.055, 0, 0}, 0.015));
  };
  return field_of(distance, {0.07, 0.03, 0.03}, resolution);
}

}  // namespace cotouch::test
