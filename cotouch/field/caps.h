// Closes wide holes: where the winding number passes one half away from any triangle, that surface becomes part of the
// boundary, so that distances inside an open scan count from it too.
#pragma once

#include <cotouch/field/sides.h>

namespace cotouch {

// Triangles facing outward, in cells. `winding` must be the one that `sides` were found with.
TriangleMesh close_holes(const Space& space, const Sides& sides, const WindingNumber& winding, Progress& progress);

}  // namespace cotouch
