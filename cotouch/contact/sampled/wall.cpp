#include <cotouch/contact/sampled/wall.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr std::uint32_t k_points = 20'000;  // a few milliseconds
constexpr float k_way_in = 2;               // cells within which the inside begins

// Along a ray from the surface, in steps that cross no wall which the field can show.
float wall_at(const Vec3f& point, const Vec3f& inward, const Field& field, float most) {
  const float cell = field.spacing(), step = 0.5F * cell;
  float t = 0;
  while (!(field.distance(point + inward * t) < 0)) {
    t += step;
    if (t > k_way_in * cell) return 0;
  }
  while (t < most) {
    const float distance = field.distance(point + inward * t);
    if (!(distance < 0)) return t;
    t += std::max(step, -distance);
  }
  return most;
}

}  // namespace

double thinnest_wall(const Shell& shell, const Field& field, double most) {
  if (field.data().brick_index.empty()) return most;  // it is never entered
  std::uint32_t count = 0;                            // whole levels: their points are spread evenly
  for (std::uint32_t level = 0; shell.point_count() > 0 && level < shell.levels(); ++level)
    if (level == 0 || shell.points_to_level(level) <= k_points) count = shell.points_to_level(level);
  auto thinnest = static_cast<float>(most);
  for (std::uint32_t i = 0; i < count && thinnest > 0; ++i)
    thinnest = std::min(thinnest, wall_at(shell.data().positions[i], shell.data().inward_normals[i], field, thinnest));
  return static_cast<double>(thinnest);
}

}  // namespace cotouch
