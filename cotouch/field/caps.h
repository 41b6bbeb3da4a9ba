// Closes wide holes: wherever a point inside and one outside are neighbours with no triangle between them, the surface
// that separates them becomes part of the boundary, so that distances count from it too and the sign of the field
// changes nowhere else. It lies where the winding number passes one half, if it does.
#pragma once

#include <cotouch/field/sides.h>

namespace cotouch {

// Triangles facing outward, in cells, within the bounds of `enclosure`, which must be the one that `sides` were found
// with. `space` holds the distances to the triangles that bound the solid so far.
TriangleMesh close_holes(const Space& space, const Sides& sides, const Enclosure& enclosure, Progress& progress);

}  // namespace cotouch
