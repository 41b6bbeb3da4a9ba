// The same surface in smaller triangles.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstddef>

namespace cotouch {

// Halves edges until none is longer than `longest` metres. Neighbours halve a shared edge in the same places, so a
// closed mesh stays closed. Where that would make more than `most` triangles, longer edges are left.
TriangleMesh with_short_edges(const TriangleMesh& mesh, double longest, std::size_t most);

}  // namespace cotouch
