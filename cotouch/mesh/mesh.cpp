#include <cotouch/mesh/mesh.h>

namespace cotouch {

Box3d TriangleMesh::bounds() const {
  Box3d box;
  for (const Vec3d& v : vertices) box.add(v);
  return box;
}

void append(TriangleMesh& mesh, const TriangleMesh& other) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), other.vertices.begin(), other.vertices.end());
  for (const Triangle& t : other.triangles) mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
}

}  // namespace cotouch
