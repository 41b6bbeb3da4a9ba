#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace cotouch {
namespace {

// Everything is in proportion to the body's length: a limb is a row of balls, and a tube around them.
struct Ball {
  Vec3d at;  // in body lengths
  double radius;
};

constexpr Ball k_body[] = {{{-0.50, 0, 0.40}, 0.06}, {{-0.42, 0, 0.41}, 0.12}, {{-0.25, 0, 0.42}, 0.16},
                           {{0.00, 0, 0.42}, 0.17},  {{0.25, 0, 0.43}, 0.155}, {{0.42, 0, 0.45}, 0.12},
                           {{0.50, 0, 0.47}, 0.06}};
constexpr Ball k_neck[] = {{{0.40, 0, 0.45}, 0.09}, {{0.52, 0, 0.55}, 0.075}, {{0.62, 0, 0.64}, 0.07}};
constexpr Ball k_tail[] = {
    {{-0.44, 0, 0.41}, 0.08}, {{-0.62, 0, 0.44}, 0.05}, {{-0.80, 0, 0.38}, 0.032}, {{-0.98, 0, 0.40}, 0.014}};
constexpr Ball k_leg[] = {
    {{0, 0, 0.38}, 0.07}, {{0.01, 0.03, 0.20}, 0.05}, {{0, 0.035, 0.06}, 0.04}, {{0.01, 0.035, 0.0}, 0.055}};

// A smooth curve through the balls (Catmull-Rom), cut into pieces of about `edge`.
TriangleMesh limb(std::span<const Ball> balls, const Vec3d& offset, double side, double scale, double edge) {
  std::vector<Vec3d> path;
  std::vector<double> radii;
  double thickest = 0;
  const auto ball = [&](std::ptrdiff_t i) {
    return balls[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, std::ssize(balls) - 1))];
  };
  for (std::ptrdiff_t i = 0; i + 1 < std::ssize(balls); ++i) {
    const Ball a = ball(i - 1), b = ball(i), c = ball(i + 1), d = ball(i + 2);
    const int pieces = std::max(1, static_cast<int>(std::lround(norm(c.at - b.at) * scale / edge)));
    for (int k = 0; k < pieces + (i + 2 == std::ssize(balls) ? 1 : 0); ++k) {
      const double t = static_cast<double>(k) / pieces;
      const auto mix = [&](const auto& p, const auto& q, const auto& r, const auto& s) {
        return (q * 2.0 + (r - p) * t + (p * 2.0 - q * 5.0 + r * 4.0 - s) * (t * t) +
                (q * 3.0 - p - r * 3.0 + s) * (t * t * t)) *
               0.5;
      };
      const Vec3d at = mix(a.at, b.at, c.at, d.at) + offset;
      path.push_back(Vec3d{at.x, at.y * side, at.z} * scale);
      radii.push_back(mix(a.radius, b.radius, c.radius, d.radius) * scale);
      thickest = std::max(thickest, radii.back());
    }
  }
  return sweep_tube(path, radii, std::max(8, static_cast<int>(std::lround(2 * k_pi * thickest / edge))));
}

TriangleMesh ball_at(const Vec3d& at, double radius, double edge) {
  // The edges of the icosphere are about 1.1 radii long, halved by every subdivision.
  int subdivisions = 1;
  while (subdivisions < 7 && 1.1 * radius / (1 << subdivisions) > edge) ++subdivisions;
  TriangleMesh ball = make_sphere(radius, subdivisions);
  translate(ball, at);
  return ball;
}

// The body's upper edge at a place along it, in body lengths: what a ball rolling along the back would touch.
double back_height(double x) {
  for (std::size_t i = 0; i + 1 < std::size(k_body); ++i) {
    const Ball &b = k_body[i], &c = k_body[i + 1];
    if (x > c.at.x) continue;
    const double t = (x - b.at.x) / (c.at.x - b.at.x);
    return (b.at.z + b.radius) * (1 - t) + (c.at.z + c.radius) * t;
  }
  return 0;
}

// Bumps sink into the back by three tenths of their radius.
std::vector<Vec3d> bump_centers(const CreatureShape& shape) {
  require(shape.length > 0 && shape.edge > 0 && shape.bumps >= 0, "A creature needs a length and an edge length.");
  require(shape.bump_spacing > 2 * shape.bump_radius,
          "Bumps need a spacing of more than their width to be told apart.");
  require((shape.bumps - 1) * shape.bump_spacing <= 0.8 * shape.length, "The bumps do not fit on the creature's back.");
  std::vector<Vec3d> centers;
  for (int i = 0; i < shape.bumps; ++i) {
    const double x = (i - 0.5 * (shape.bumps - 1)) * shape.bump_spacing;
    centers.push_back({x, 0, back_height(x / shape.length) * shape.length - 0.3 * shape.bump_radius});
  }
  return centers;
}

}  // namespace

std::vector<Vec3d> creature_bump_tops(const CreatureShape& shape) {
  std::vector<Vec3d> tops = bump_centers(shape);
  for (Vec3d& top : tops) top.z += shape.bump_radius;
  return tops;
}

TriangleMesh make_creature(const CreatureShape& shape) {
  const double s = shape.length, edge = shape.edge;
  TriangleMesh mesh;
  mesh.name = "creature";
  append(mesh, limb(k_body, {}, 1, s, edge));
  append(mesh, limb(k_neck, {}, 1, s, edge));
  append(mesh, limb(k_tail, {}, 1, s, edge));
  for (const double x : {-0.30, 0.30})
    for (const double side : {-1.0, 1.0}) append(mesh, limb(k_leg, {x, 0.09, 0}, side, s, edge));
  append(mesh, ball_at(Vec3d{0.66, 0, 0.67} * s, 0.11 * s, edge));  // head
  append(mesh, ball_at(Vec3d{0.76, 0, 0.64} * s, 0.07 * s, edge));  // snout
  for (const double side : {-1.0, 1.0})
    append(mesh, ball_at(Vec3d{0.63, 0.07 * side, 0.77} * s, 0.03 * s, edge));  // ears
  for (const Vec3d& center : bump_centers(shape)) append(mesh, ball_at(center, shape.bump_radius, edge));
  return mesh;
}

}  // namespace cotouch
