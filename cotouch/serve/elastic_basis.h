// How an elastic part's picture bends, as pages get it (docs/viewer-protocol.md, Elastic part).
#pragma once

#include <cotouch/session/shown_scene.h>

#include <cstddef>
#include <string>

namespace cotouch {

inline constexpr std::size_t k_most_basis_bytes = std::size_t{256} << 20;

// Bytes that encode_basis makes. The picture's part is elastic.
std::size_t basis_bytes(const PartPicture& picture);
// Only the nodes that vertices move with are sent. The gradient at a node is the mean of the tetrahedra around it, by
// volume, as ElasticData's rotations have it.
std::string encode_basis(const PartPicture& picture);

}  // namespace cotouch
