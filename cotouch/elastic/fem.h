// Linear tetrahedra: stiffness and consistent mass of a body that bends a little about its rest shape.
#pragma once

#include <cotouch/elastic/material.h>
#include <cotouch/elastic/tet_mesh.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

// Matrices over the nodes that are free to move, in the order of `free_nodes`. Both are symmetric with the same
// pattern, of which the lower triangle is stored, row by row, columns ascending, the diagonal last in its row.
struct FemSystem {
  std::vector<std::uint32_t> free_nodes;  // ascending numbers in the mesh
  std::vector<std::uint32_t> row_begin;   // free_nodes.size() + 1
  std::vector<std::uint32_t> column;
  std::vector<Mat3> stiffness;  // N/m: force on the row's node for a displacement of the column's
  std::vector<double> mass;     // kg, times the 3x3 identity
};

// `anchored`: numbers of the nodes that do not move, in any order.
FemSystem assemble(const TetMesh& mesh, const Material& material, std::span<const std::uint32_t> anchored = {});

}  // namespace cotouch
