// How well shaped tetrahedra are. Flat ones make finite elements stiff and badly conditioned (Shewchuk 2002, "What is a
// good linear finite element?"): the largest angles spoil what is interpolated, the smallest the stiffness matrix.
#pragma once

#include <cotouch/elastic/tet_mesh.h>

#include <cstddef>

namespace cotouch {

struct TetQuality {
  std::size_t count = 0;
  double smallest_angle = 0, largest_angle = 0;  // between two faces, degrees; 70.5 both in a regular tetrahedron
  // Three times the radius of the largest ball inside over that of the ball through the corners: 1 for a regular
  // tetrahedron, 0 for a flat one. The worst of all.
  double worst_radius_ratio = 0;
  double volume = 0, smallest_volume = 0;  // m^3
};

// All zero for a mesh without tetrahedra.
TetQuality tet_quality(const TetMesh& mesh);

}  // namespace cotouch
