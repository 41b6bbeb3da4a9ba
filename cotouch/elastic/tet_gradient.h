// How a displacement that is linear in a tetrahedron changes from place to place.
#pragma once

#include <cotouch/elastic/tet_mesh.h>

#include <array>
#include <cstddef>

namespace cotouch {

struct TetGradient {
  Tet nodes;
  double volume = 0;           // m^3
  std::array<Vec3d, 4> slope;  // of the function that is 1 at one node and 0 at the others, 1/m

  // The gradient du_i/dX_j of a displacement: x, y and z of every node of the mesh in turn.
  Mat3 of(const double* displacement) const {
    Mat3 g;
    for (std::size_t k = 0; k < 4; ++k) {
      const double* const u = displacement + 3 * std::size_t{nodes[k]};
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) g(i, j) += u[i] * slope[k][j];
    }
    return g;
  }
};

// The tetrahedron must not be flat.
inline TetGradient tet_gradient(const TetMesh& mesh, std::size_t tet) {
  TetGradient g{mesh.tets[tet], tet_volume(mesh, tet), {}};
  const auto edge = [&](std::size_t k) { return mesh.nodes[g.nodes[k]] - mesh.nodes[g.nodes[0]]; };
  const Vec3d b = edge(1), c = edge(2), d = edge(3);
  const double scale = 1 / (6 * g.volume);
  g.slope[1] = cross(c, d) * scale;
  g.slope[2] = cross(d, b) * scale;
  g.slope[3] = cross(b, c) * scale;
  g.slope[0] = -(g.slope[1] + g.slope[2] + g.slope[3]);
  return g;
}

}  // namespace cotouch
