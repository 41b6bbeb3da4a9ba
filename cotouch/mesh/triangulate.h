// Cuts polygons into triangles.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <span>

namespace cotouch {

// Appends the triangles of one polygon, given by its corners in order, to `mesh`. Nearly flat polygons are cut without
// leaving their outline, also where they turn inward; anything else is halved again and again.
void add_polygon(TriangleMesh& mesh, std::span<const std::uint32_t> corners);

}  // namespace cotouch
