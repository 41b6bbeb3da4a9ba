#include <cotouch/mesh/mesh.h>

#include <cotouch/base/cancel.h>

namespace cotouch {

Box3d TriangleMesh::bounds() const {
  Box3d box;
  for_each_cancellable(vertices.size(), [&](std::size_t i) { box.add(vertices[i]); });
  return box;
}

void append(TriangleMesh& mesh, const TriangleMesh& other) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Triangle& t : other.triangles) mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
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
