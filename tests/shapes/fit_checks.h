// What the tests of parts that fit together ask: how near two of them come.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/mesh.h>
#include <cotouch/mesh/winding.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace cotouch {

// A mesh prepared for being held against others: its surface as points no more than `spacing` apart (on edges, and
// about that in the middle of triangles), its closest points and its inside.
struct FitPart {
  explicit FitPart(const TriangleMesh& mesh, double spacing = 0.002)
      : closest(mesh), winding(mesh), bounds(mesh.bounds()) {
    points = mesh.vertices;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto [a, b, c] = mesh.corners(t);
      const double longest = std::sqrt(std::max({norm_squared(b - a), norm_squared(c - b), norm_squared(a - c)}));
      const int n = static_cast<int>(std::ceil(longest / spacing));
      for (int i = 0; i <= n; ++i)
        for (int j = 0; i + j <= n; ++j) points.push_back(a + (b - a) * (double(i) / n) + (c - a) * (double(j) / n));
    }
    // Slivers give many points in nearly the same place; one for each tenth of the spacing is enough.
    const auto place = [&](const Vec3d& p) {
      const double cell = 0.1 * spacing;
      return std::array<double, 3>{std::floor(p.x / cell), std::floor(p.y / cell), std::floor(p.z / cell)};
    };
    std::stable_sort(points.begin(), points.end(), [&](const Vec3d& p, const Vec3d& q) { return place(p) < place(q); });
    points.erase(
        std::unique(points.begin(), points.end(), [&](const Vec3d& p, const Vec3d& q) { return place(p) == place(q); }),
        points.end());
  }

  std::vector<Vec3d> points;
  ClosestTriangle closest;
  WindingNumber winding;
  Box3d bounds;
};

// The distance of the points of `a` to the surface of `b`, negative for points inside; no more than `most`.
inline double one_sided_clearance(const FitPart& a, const Pose& pose_a, const FitPart& b, const Pose& pose_b,
                                  double most) {
  const Pose to_b = inverse(pose_b) * pose_a;
  double least = most;
  for (const Vec3d& v : a.points) {
    const Vec3d p = transform(to_b, v);
    bool near = true;
    for (std::size_t i = 0; i < 3; ++i) near &= p[i] > b.bounds.low[i] - most && p[i] < b.bounds.high[i] + most;
    if (!near) continue;
    if (b.winding.at(p) > 0.5)
      least = std::min(least, -std::sqrt(b.closest.closest(p).distance_squared));
    else if (const ClosestHit hit = b.closest.closest(p, std::max(least, 0.0)))
      least = std::min(least, std::sqrt(hit.distance_squared));
  }
  return least;
}

inline double clearance(const FitPart& a, const Pose& pose_a, const FitPart& b, const Pose& pose_b,
                        double most = 0.01) {
  return std::min(one_sided_clearance(a, pose_a, b, pose_b, most), one_sided_clearance(b, pose_b, a, pose_a, most));
}

}  // namespace cotouch
