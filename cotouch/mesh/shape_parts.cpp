#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/shape_parts.h>

namespace cotouch {

TriangleMesh turn_profile(const std::vector<ProfilePoint>& profile, bool closed, int steps) {
  if (steps < 3 || profile.size() < 3)
    throw Error("A turned shape needs at least three steps and a profile of three points.");
  TriangleMesh mesh;
  const auto around = static_cast<std::uint32_t>(steps);
  std::vector<SinCos> turns;
  for (std::uint32_t j = 0; j < around; ++j) turns.push_back(sin_cos(2 * k_pi * j / around));

  // One ring of vertices a profile point; a point on the axis is a single vertex.
  std::vector<std::uint32_t> first;
  std::vector<bool> on_axis;
  for (const ProfilePoint& p : profile) {
    first.push_back(static_cast<std::uint32_t>(mesh.vertices.size()));
    on_axis.push_back(p.radius == 0);
    if (p.radius == 0)
      mesh.vertices.push_back({0, 0, p.z});
    else
      for (const SinCos& t : turns) mesh.vertices.push_back({p.radius * t.cos, p.radius * t.sin, p.z});
  }
  const std::size_t segments = closed ? profile.size() : profile.size() - 1;
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t k = (i + 1) % profile.size();
    for (std::uint32_t j = 0; j < around; ++j) {
      const std::uint32_t next = (j + 1) % around;
      const std::uint32_t a = first[i] + (on_axis[i] ? 0 : j), b = first[i] + (on_axis[i] ? 0 : next);
      const std::uint32_t c = first[k] + (on_axis[k] ? 0 : next), d = first[k] + (on_axis[k] ? 0 : j);
      if (!on_axis[i]) mesh.triangles.push_back({a, b, c});
      if (!on_axis[k]) mesh.triangles.push_back({a, c, d});
    }
  }
  return mesh;
}

double signed_volume(const TriangleMesh& mesh) {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    sum += dot(a, cross(b, c));
  }
  return sum / 6;
}

}  // namespace cotouch
