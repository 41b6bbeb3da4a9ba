// The surface where a field has a given value, as a closed triangle mesh (dual contouring of one vertex per cell).
#pragma once

#include <cotouch/field/field.h>
#include <cotouch/mesh/mesh.h>

namespace cotouch {

// Only levels with |level| < field.band() - spacing are represented exactly; throws Error for others.
TriangleMesh extract_isosurface(const Field& field, float level);

}  // namespace cotouch
