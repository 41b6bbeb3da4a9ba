#include <cotouch/base/parallel.h>
#include <cotouch/shell/build.h>
#include <cotouch/shell/point_grid.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

// Distance of each point to its nearest neighbour; none for a single point.
std::vector<double> neighbour_distances(std::span<const Vec3f> positions) {
  if (positions.size() < 2) return {};
  Box3d box;
  for (const Vec3f& p : positions) box.add(Vec3d(p));
  const Vec3d size = box.size();
  const double area = 2 * (size.x * size.y + size.y * size.z + size.z * size.x);
  const PointGrid grid(positions, static_cast<float>(std::sqrt(area / static_cast<double>(positions.size()))));
  std::vector<double> distances(positions.size());
  parallel_for(positions.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double squared = 0;
      grid.nearest(
          positions[i], [&](std::uint32_t j) { return j != i; }, squared);
      distances[i] = std::sqrt(squared);
    }
  });
  return distances;
}

}  // namespace

ShellQuality measure_quality(const Shell& shell) {
  ShellQuality quality;
  for (std::uint32_t l = 0; l < shell.levels(); ++l) {
    const std::uint32_t points = shell.points_to_level(l);
    const std::vector<double> distances = neighbour_distances(shell.data().positions.first(points));
    ShellQuality::Level level{points, 0, 0};
    if (!distances.empty()) {
      const auto count = static_cast<double>(distances.size());
      double sum = 0, squares = 0;
      for (const double d : distances) sum += d;
      level.mean_spacing = sum / count;
      for (const double d : distances) squares += (d - level.mean_spacing) * (d - level.mean_spacing);
      if (sum > 0) level.variation = std::sqrt(squares / count) / level.mean_spacing;
    }
    quality.levels.push_back(level);
  }
  return quality;
}

}  // namespace cotouch
