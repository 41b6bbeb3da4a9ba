// Ends of a part that are thinner than its tetrahedra, such as the feet of a figure: the lattice has no points in them,
// so the tetrahedra stop short. Whoever holds such an end means to hold what is nearest to it.
#pragma once

#include <cotouch/elastic/tet_mesh.h>
#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cotouch {

// The pieces of `surface` within the place that `inside` tells, as they hang together there, of which no node in `held`
// is nearest: behind each of their vertices the nodes of the nearest face of the tetrahedra, if that is no farther than
// `reach` metres. May hold nodes twice.
std::vector<std::uint32_t> nodes_behind_thin_ends(const TetMesh& mesh, const TriangleMesh& surface,
                                                  const std::function<bool(const Vec3d&)>& inside,
                                                  std::span<const std::uint32_t> held, double reach);

}  // namespace cotouch
