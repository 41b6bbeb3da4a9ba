// How a tetrahedron of the lattice is filled with tetrahedra up to the surface (isosurface stuffing, Labelle & Shewchuk
// 2007, section 3.3). Pure combinatorics: nodes have no places here.
//
// The tetrahedra of a body-centred cubic lattice have two opposite long edges, here 01 and 23, and four short ones.
// Each of their faces has one long edge. What is left of a face with two corners inside and one outside is a
// quadrilateral, and both tetrahedra at the face must choose the same diagonal, so the choice depends on the face
// alone:
// - If its long edge is cut, the diagonal begins at that cut.
// - If not, its long edge is between the two corners inside, which have different parities; the diagonal begins at the
//   corner with the parity of the corner outside. (So the two faces at a long edge choose different ends of it, which
//   gives better angles than the same end.)
// No choice of signs makes the three diagonals of a prism run in a ring, in which case it could not be filled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cotouch {

struct LatticeTet {
  std::array<int, 4> side;  // of each corner: 1 inside, 0 on the surface, -1 outside
  std::array<bool, 4> odd;  // parity of each corner; the ends of a long edge differ
};

struct Stencil {
  // A corner of a filling tetrahedron: on the edge between the corners `a` and `b` of the lattice's tetrahedron, or the
  // corner itself if they are the same.
  struct Node {
    std::uint8_t a, b;
    friend bool operator==(const Node&, const Node&) = default;
  };
  using Filling = std::array<Node, 4>;

  std::array<Filling, 3> fillings;
  std::size_t count = 0;
};

// Fillings have positive volumes if the lattice's tetrahedron has.
Stencil fill(const LatticeTet& tet);

}  // namespace cotouch
