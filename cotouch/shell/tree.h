// Links nested point sets into the tree of shell.h (paper 001, II-D): every node's parent is the nearest node of the
// level above.
#pragma once

#include <cotouch/shell/shell.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

// Points of all repulsion levels, one level after another.
struct NestedPoints {
  std::vector<Vec3f> positions;             // metres
  std::vector<Vec3f> inward_normals;        // unit length
  std::vector<std::uint32_t> level_points;  // level_points[l]: points of repulsion levels 0..l, increasing
};

// Renumbers the points. Neighbours in space come out as neighbours in memory: the top level lies along a Morton curve,
// the children of a node likewise.
Shell build_tree(const NestedPoints& points);

}  // namespace cotouch
