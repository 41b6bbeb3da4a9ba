#include <cotouch/elastic/tet_mesh.h>

#include <utility>

namespace cotouch {

double tet_volume(const TetMesh& mesh, std::size_t tet) {
  const Tet& t = mesh.tets[tet];
  const Vec3d& a = mesh.nodes[t[0]];
  return dot(cross(mesh.nodes[t[1]] - a, mesh.nodes[t[2]] - a), mesh.nodes[t[3]] - a) / 6;
}

TetMesh tet_box(const Vec3d& size, const std::array<std::uint32_t, 3>& counts) {
  TetMesh mesh;
  const auto [nx, ny, nz] = counts;
  for (std::uint32_t z = 0; z <= nz; ++z)
    for (std::uint32_t y = 0; y <= ny; ++y)
      for (std::uint32_t x = 0; x <= nx; ++x) mesh.nodes.push_back({size.x * x / nx, size.y * y / ny, size.z * z / nz});
  // Kuhn's cut: each tetrahedron goes from a cell's low corner to its high one along the three axes, in one of the six
  // orders. Every second order is a mirror image.
  constexpr std::array<std::array<int, 3>, 6> orders{
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  const std::array<std::uint32_t, 3> stride{1, nx + 1, (nx + 1) * (ny + 1)};
  for (std::uint32_t z = 0; z < nz; ++z)
    for (std::uint32_t y = 0; y < ny; ++y)
      for (std::uint32_t x = 0; x < nx; ++x)
        for (std::size_t k = 0; k < orders.size(); ++k) {
          Tet tet;
          tet[0] = x * stride[0] + y * stride[1] + z * stride[2];
          for (std::size_t i = 0; i < 3; ++i) tet[i + 1] = tet[i] + stride[static_cast<std::size_t>(orders[k][i])];
          if (k >= 3) std::swap(tet[1], tet[2]);
          mesh.tets.push_back(tet);
        }
  return mesh;
}

}  // namespace cotouch
