// A mesh for the eye: what the viewer draws of a part that has more triangles than anyone can see.
//
// Small meshes stay exactly as they are. Larger ones are simplified by meshoptimizer, which removes vertices by quadric
// error (Garland & Heckbert 1997) and moves none of those that it keeps: whatever belongs to a vertex, such as its
// place among the tetrahedra of an elastic part, is that of a point of the part's own surface. The error is a mean over
// the surface around a vertex, so thin spikes of a scan may lose more (of the dragon 241 of 435 545 vertices, up to 0.6
// % of its diagonal). Nothing that is felt depends on it, so its bits may differ from machine to machine.
//
// What meshoptimizer does goes on for a moment by itself if the work that wants it is cancelled.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstddef>

namespace cotouch {

struct DisplayLimits {
  std::size_t exact = 100'000;  // triangles; no mesh is simplified below it for the sake of speed
  double error = 1e-3;          // of the diagonal of the mesh's bounds: how far the surface may move for that
  std::size_t most = 200'000;   // triangles; to get there the surface may move farther
};

// The same mesh if it is small enough. Vertices that no triangle uses any more are left out.
TriangleMesh display_mesh(const TriangleMesh& mesh, const DisplayLimits& limits = {});

}  // namespace cotouch
