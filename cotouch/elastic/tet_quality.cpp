#include <cotouch/base/trig.h>
#include <cotouch/elastic/tet_quality.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

// An angle from 0 to pi by a sine and a cosine of any common length.
struct Angle {
  double sin, cos;
  friend bool operator<(const Angle& a, const Angle& b) { return b.sin * a.cos > b.cos * a.sin; }
  double degrees() const { return angle_of(sin, cos) * (180 / k_pi); }
};

}  // namespace

TetQuality tet_quality(const TetMesh& mesh) {
  TetQuality quality;
  quality.count = mesh.tets.size();
  if (mesh.tets.empty()) return quality;
  Angle smallest{0, -1}, largest{0, 1};
  quality.worst_radius_ratio = 1;
  quality.smallest_volume = tet_volume(mesh, 0);
  for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
    const Tet& t = mesh.tets[i];
    const Vec3d a = mesh.nodes[t[0]], b = mesh.nodes[t[1]] - a, c = mesh.nodes[t[2]] - a, d = mesh.nodes[t[3]] - a;
    const double volume = tet_volume(mesh, i);
    quality.volume += volume;
    quality.smallest_volume = std::min(quality.smallest_volume, volume);

    // Outward, each twice as long as its face's area.
    const std::array<Vec3d, 4> normals{cross(c - b, d - b), cross(d, c), cross(b, d), cross(c, b)};
    double area = 0;
    for (const Vec3d& normal : normals) area += norm(normal) / 2;
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t k = j + 1; k < 4; ++k) {
        const Angle angle{norm(cross(normals[j], normals[k])), -dot(normals[j], normals[k])};
        if (angle < smallest) smallest = angle;
        if (largest < angle) largest = angle;
      }
    const double inscribed = 3 * volume / area;
    const Vec3d to_center =
        cross(c, d) * norm_squared(b) + cross(d, b) * norm_squared(c) + cross(b, c) * norm_squared(d);
    const double around = norm(to_center) / (12 * volume);
    quality.worst_radius_ratio = std::min(quality.worst_radius_ratio, 3 * inscribed / around);
  }
  quality.smallest_angle = smallest.degrees();
  quality.largest_angle = largest.degrees();
  return quality;
}

}  // namespace cotouch
