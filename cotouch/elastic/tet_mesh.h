// A volume cut into tetrahedra: what bends.
#pragma once

#include <cotouch/base/vec.h>

#include <array>
#include <cstdint>
#include <vector>

namespace cotouch {

using Tet = std::array<std::uint32_t, 4>;  // nodes a, b, c, d with a positive volume: ((b - a) x (c - a)) . (d - a) > 0

struct TetMesh {
  std::vector<Vec3d> nodes;  // metres
  std::vector<Tet> tets;
};

double tet_volume(const TetMesh& mesh, std::size_t tet);  // m^3

// A box with its low corner at the origin, `counts` cells along each axis and six tetrahedra in each cell, all of whose
// faces fit together. What theory knows the answer for is made of it.
TetMesh tet_box(const Vec3d& size, const std::array<std::uint32_t, 3>& counts);

}  // namespace cotouch
