#include <cotouch/field/walls.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/parallel.h>
#include <cotouch/field/pieces.h>
#include <cotouch/mesh/closest.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace cotouch {
namespace {

constexpr double k_thin = 1;         // cells
constexpr double k_opposite = -0.9;  // cosine between the outward normals of a wall's two sides
constexpr double k_piece = 4;        // cells

Vec3d normal_of(const std::array<Vec3d, 3>& t) {
  return normalized(cross(t[1] - t[0], t[2] - t[0]));
}

class WallFinder {
 public:
  explicit WallFinder(const TriangleMesh& boundary)
      : boundary_(boundary), closest_(boundary), piece_(piece_length(boundary, k_piece)) {}

  // Adds the middle of the wall behind a triangle, in pieces where only some of it is thin. Returns whether all of it
  // is; then nothing is added yet.
  bool find(const std::array<Vec3d, 3>& t, const Vec3d& normal, std::vector<std::array<Vec3d, 3>>& middles) const {
    const auto halves = halve(t, piece_);
    if (!halves) return thickness((t[0] + t[1] + t[2]) / 3.0, normal).has_value();
    const auto& [low, high] = *halves;
    const bool low_thin = find(low, normal, middles), high_thin = find(high, normal, middles);
    if (low_thin && high_thin) return true;
    if (low_thin) middles.push_back(middle(low, normal));
    if (high_thin) middles.push_back(middle(high, normal));
    return false;
  }

  // A thin triangle moved to the middle of its wall, each corner by the thickness there.
  std::array<Vec3d, 3> middle(std::array<Vec3d, 3> t, const Vec3d& normal) const {
    const Vec3d center = (t[0] + t[1] + t[2]) / 3.0;
    const double usual = thickness(center, normal).value_or(0);
    for (Vec3d& corner : t) {
      // Just within the triangle: at its very edge the nearest side may be the wall's rim.
      const double there = thickness(corner * 0.9 + center * 0.1, normal).value_or(usual);
      corner -= normal * (there / 2);
    }
    return t;
  }

 private:
  // Of the wall behind a point of its surface; nothing where it is no thin wall. Half a cell deep, the opposite side of
  // a thin wall is nearer than the side one came from.
  std::optional<double> thickness(const Vec3d& p, const Vec3d& normal) const {
    throw_if_cancelled();
    const ClosestHit hit = closest_.closest(p - normal * (k_thin / 2), k_thin / 2 * 0.999);
    if (!hit || dot(normal_of(boundary_.corners(hit.triangle)), normal) > k_opposite) return std::nullopt;
    const double depth = dot(p - hit.point, normal);
    if (!(depth > 0 && depth < k_thin)) return std::nullopt;
    return depth;
  }

  const TriangleMesh& boundary_;
  ClosestTriangle closest_;
  double piece_;
};

}  // namespace

TriangleMesh thin_walls(const TriangleMesh& boundary) {
  const WallFinder finder(boundary);
  std::vector<std::vector<std::array<Vec3d, 3>>> middles(boundary.triangles.size());
  parallel_for(boundary.triangles.size(), 256, [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      const auto corners = boundary.corners(t);
      const Vec3d normal = normal_of(corners);
      if (finder.find(corners, normal, middles[t])) middles[t].push_back(finder.middle(corners, normal));
    }
  });
  TriangleMesh walls;
  for (const auto& of_triangle : middles)
    for (const std::array<Vec3d, 3>& corners : of_triangle) add_triangle(walls, corners);
  return walls;
}

}  // namespace cotouch
