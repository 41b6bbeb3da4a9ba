// The nested pointshell: oriented points on a smooth closed surface, in a tree whose every level samples the whole
// surface (paper 001, II-D, Figure 6).
//
// Tree level l holds a node for each point of repulsion levels 0..l, so a point has a copy on every deeper level.
// Order is part of the format, because sums over contacts are made in it:
// - on each level the children of a node are contiguous, in the order of their parents;
// - the first child of a node is its own copy (same point); the others are points new on that level;
// - points are numbered in the order in which they first appear, level by level, so the points of level l are
//   a prefix of the point arrays.
#pragma once

#include <cotouch/base/vec.h>

#include <cstdint>
#include <memory>
#include <span>

namespace cotouch {

struct ShellNode {
  Vec3f position;             // metres, in the part's frame; equal to the point's
  float radius;               // of a ball around `position` holding every node below
  std::uint32_t first_child;  // index of its copy on the next level; children end where the next node's begin
  std::uint32_t point;
};
static_assert(sizeof(ShellNode) == 24);

// What a walk needs to know of a node: a third of it, so that more of the tree stays in the cache.
struct ShellBranch {
  float radius;
  std::uint32_t first_child;
};

struct ShellData {
  // Nodes of all levels, one level after another, each level followed by one sentinel whose `first_child` ends the
  // last node's children. level_begin[l] .. level_begin[l + 1] - 1 are the nodes of level l (sentinel excluded).
  // `first_child` indexes this same array. Nodes of the deepest level have radius 0 and no
  // children; `first_child` is 0 there.
  std::span<const ShellNode> nodes;            // may be left out: see has_tree()
  std::span<const std::uint32_t> level_begin;  // levels + 1
  std::span<const Vec3f> positions;            // one per point
  std::span<const Vec3f> inward_normals;       // one per point, unit length
};

class Shell {
 public:
  Shell() = default;
  // Throws Error where the arrays break the order above (they may come from a stranger's file).
  Shell(const ShellData& data, std::shared_ptr<const void> keep_alive);

  std::uint32_t levels() const noexcept {
    return data_.level_begin.empty() ? 0 : static_cast<std::uint32_t>(data_.level_begin.size()) - 1;
  }
  // Of a shell with a tree.
  std::span<const ShellNode> level(std::uint32_t l) const noexcept {
    return data_.nodes.subspan(data_.level_begin[l], data_.level_begin[l + 1] - data_.level_begin[l] - 1);
  }
  // Points of levels 0..l.
  std::uint32_t points_to_level(std::uint32_t l) const noexcept {
    return data_.level_begin[l + 1] - data_.level_begin[l] - 1;
  }
  // Points and levels alone are enough for those who ask every point.
  bool has_tree() const noexcept { return !data_.nodes.empty(); }
  std::uint32_t point_count() const noexcept { return static_cast<std::uint32_t>(data_.positions.size()); }
  // Distance from the part's origin to its farthest point: bounds how far a rotation moves any point.
  float reach() const noexcept { return reach_; }
  const ShellData& data() const noexcept { return data_; }
  // Nodes above the deepest level, each level with its sentinel.
  std::uint32_t branch_count() const noexcept { return data_.level_begin[data_.level_begin.size() - 2]; }
  // Of these, numbered alike.
  const ShellBranch* branches() const noexcept { return branches_.get(); }

 private:
  ShellData data_;
  float reach_ = 0;
  std::shared_ptr<const ShellBranch[]> branches_;
  std::shared_ptr<const void> keep_alive_;
};

}  // namespace cotouch
