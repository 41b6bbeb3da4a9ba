// Closed walls that are thinner than the lattice can show.
//
// No sample lies inside a plate thinner than a cell, so the interpolated field would not be negative anywhere in it and
// everything would pass through. Such a wall is taken for what it looks like from a cell's distance: a sheet in its
// middle, to be thickened like an open one.
#pragma once

#include <cotouch/mesh/mesh.h>

namespace cotouch {

// The middle of all walls of `boundary` thinner than a cell. Lengths are in cells; triangles face outward. An edge
// where two sides meet at an angle is no wall, however sharp it is: the sides of one are parallel within about 25
// degrees.
TriangleMesh thin_walls(const TriangleMesh& boundary);

}  // namespace cotouch
