// Points that move along with tetrahedra: a surface or a contact shell embedded in a coarser volume.
//
// A point of the tetrahedron with the nodes x_i is the sum of w_i x_i, its weights w_i (barycentric coordinates) adding
// up to one. If the nodes are displaced by u_i, the point is by the sum of w_i u_i, so displacements that are linear in
// space are reproduced exactly.
#pragma once

#include <cotouch/elastic/tet_mesh.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

struct Embedding {
  std::vector<std::uint32_t> tet;            // of each point
  std::vector<std::array<float, 4>> weight;  // of the tetrahedron's nodes in turn
};

// A point outside belongs to the tetrahedron behind the closest point of the mesh's surface and is extrapolated from
// it: some of its weights are negative. Weights go beyond those of that closest surface point by at most this much; a
// point further out than so many heights of its tetrahedron moves like the one on the way to it where that limit is
// reached. Unlimited weights would magnify the noise of one tetrahedron.
constexpr double k_longest_extrapolation = 4;

// The same on every machine. Throws Error if the mesh has no tetrahedra or a point is not finite.
Embedding embed(const TetMesh& mesh, std::span<const Vec3f> points);

}  // namespace cotouch
