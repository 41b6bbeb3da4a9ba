// Linear tetrahedra: stiffness and consistent mass of a body that bends a little about its rest shape.
//
// In a tetrahedron of the volume V displacements are linear, u(x) = sum of N_i(x) u_i, with the constant gradients
// g_i = grad N_i. Hooke's law with Lame's constants l and m gives the blocks
//   K_ij = V (l g_i g_j' + m g_j g_i' + m (g_i . g_j) I)    M_ij = density V (1 + [i = j]) / 20 I
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

  std::size_t unknowns() const { return 3 * free_nodes.size(); }  // x, y and z of each free node in turn
};

// `anchored`: numbers of the nodes that do not move, in any order; none for a free body. The material must make sense
// (check_material).
//
// Throws Error if tetrahedra are flat or inside out, if the mesh is not in one piece or if the anchored nodes lie on a
// line, about which the body would turn freely.
FemSystem assemble(const TetMesh& mesh, const Material& material, std::span<const std::uint32_t> anchored = {});

// y = K x and y = M x for fields of the unknowns.
void multiply_stiffness(const FemSystem& system, std::span<const double> x, std::span<double> y);
void multiply_mass(const FemSystem& system, std::span<const double> x, std::span<double> y);

}  // namespace cotouch
