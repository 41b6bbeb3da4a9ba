// Where an elastic body is held: nodes that do not move, chosen by simple shapes in the mesh's frame.
//
// As text, for the command line and scene files, in metres:
//   x<0.01, z>=-0.2       the nodes on one side of a plane; those on the plane belong to it, with or without the '='
//   box:0,0,0,0.1,0.1,0.1 the nodes in a box, low corner first, its surface included
//   point:0,0,0@0.005     the surface node nearest to the point and all nodes within the radius; without a radius that
//                         node alone (the body can still turn about it)
#pragma once

#include <cotouch/elastic/tet_mesh.h>
#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cotouch {

struct PlaneAnchor {
  std::uint8_t axis = 0;  // 0, 1, 2: x, y, z
  bool above = false;     // holds what is above `at`, else what is below
  double at = 0;
  friend bool operator==(const PlaneAnchor&, const PlaneAnchor&) = default;
};
struct BoxAnchor {
  Vec3d low, high;
  friend bool operator==(const BoxAnchor&, const BoxAnchor&) = default;
};
struct PointAnchor {
  Vec3d point;
  double radius = 0;
  friend bool operator==(const PointAnchor&, const PointAnchor&) = default;
};
using Anchor = std::variant<PlaneAnchor, BoxAnchor, PointAnchor>;

// Ascending, each once. `surface` is the part's, which the tetrahedra fill as far as it is not thinner than they are:
// of an end that an anchor holds and no node is in, the nearest nodes are held (thin_ends.h).
//
// Throws Error, saying where the mesh is, if an anchor holds no node or a point is further from the surface than its
// radius and the mesh's longest edge, and if no node is left to move.
std::vector<std::uint32_t> anchored_nodes(const TetMesh& mesh, std::span<const Anchor> anchors,
                                          const TriangleMesh& surface = {});

// Throws Error saying what is wrong and how anchors are written.
Anchor parse_anchor(std::string_view text);
// What parse_anchor reads back as the same anchor, to the last bit.
std::string to_string(const Anchor& anchor);

}  // namespace cotouch
