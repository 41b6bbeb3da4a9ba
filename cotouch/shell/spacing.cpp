#include <cotouch/base/parallel.h>
#include <cotouch/shell/point_grid.h>
#include <cotouch/shell/spacing.h>

#include <cmath>
#include <vector>

namespace cotouch {

Spacing measure_spacing(std::span<const Vec3f> points) {
  if (points.size() < 2) return {};
  const PointGrid grid(points, typical_spacing(points));
  std::vector<double> distances(points.size());
  parallel_for(points.size(), 1024, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double squared = 0;
      grid.nearest(
          points[i], [&](std::uint32_t j) { return j != i; }, squared);
      distances[i] = std::sqrt(squared);
    }
  });
  const auto count = static_cast<double>(points.size());
  double sum = 0, squares = 0;
  for (const double d : distances) sum += d;
  const double mean = sum / count;
  for (const double d : distances) squares += (d - mean) * (d - mean);
  return {mean, mean > 0 ? std::sqrt(squares / count) / mean : 0};
}

}  // namespace cotouch
