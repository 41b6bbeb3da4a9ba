// A tree of boxes over the triangles of a mesh, from which the closest-point search and the winding number are built.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <vector>

namespace cotouch {

struct TriangleTree {
  struct Node {
    Box3d box;
    std::uint32_t first = 0, count = 0;  // this node's triangles are order[first, first + count)
    std::uint32_t right = 0;             // zero in a leaf; the left child follows its parent directly
  };
  std::vector<Node> nodes;           // parents before children; empty for a mesh without triangles
  std::vector<std::uint32_t> order;  // triangle indices

  // At most this many steps from the root to a leaf, whatever the mesh.
  static constexpr int k_max_depth = 72;
};

// Splits where the surface-area heuristic is least, until at most `leaf_size` triangles are left. The same mesh gives
// the same tree on every machine.
TriangleTree build_triangle_tree(const TriangleMesh& mesh, std::uint32_t leaf_size);

}  // namespace cotouch
