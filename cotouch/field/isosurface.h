// The surface where a field has a given value, as a closed triangle mesh (surface nets: the dual of the lattice, one
// vertex in every cell that the surface passes through, two triangles across every lattice edge that it crosses).
//
// The mesh is closed and its triangles face outward, towards larger values. Where two sheets pass through one cell they
// share its vertex, so an edge may have four triangles instead of two.
#pragma once

#include <cotouch/field/field.h>
#include <cotouch/mesh/mesh.h>

namespace cotouch {

// The surface lies within one cell of the exact one. Only levels with |level| < field.band() - spacing are represented;
// throws Error for others. The same field and level give the same mesh, vertex by vertex.
TriangleMesh extract_isosurface(const Field& field, float level);

}  // namespace cotouch
