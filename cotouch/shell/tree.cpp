#include <cotouch/base/parallel.h>
#include <cotouch/shell/point_grid.h>
#include <cotouch/shell/tree.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cotouch {
namespace {

struct Storage {
  std::vector<ShellNode> nodes;
  std::vector<std::uint32_t> level_begin;
  std::vector<Vec3f> positions, inward_normals;
};

// Nearest node of `above` (indices into points) for each of the points [begin, end).
std::vector<std::uint32_t> nearest_parents(std::span<const Vec3f> positions, std::span<const std::uint32_t> above,
                                           std::uint32_t begin, std::uint32_t end) {
  std::vector<Vec3f> parents(above.size());
  for (std::size_t i = 0; i < above.size(); ++i) parents[i] = positions[above[i]];
  const PointGrid grid(parents, typical_spacing(parents));
  std::vector<std::uint32_t> parent(end - begin);
  parallel_for(parent.size(), 1024, [&](std::size_t first, std::size_t last) {
    double distance_squared;
    for (std::size_t i = first; i < last; ++i)
      parent[i] = grid.nearest(
          positions[begin + i], [](std::uint32_t) { return true; }, distance_squared);
  });
  return parent;
}

// A float not below the distance as anyone may compute it in float: each rounding is at most 2^-24 of it, and there are
// fewer than eight.
float rounded_up(double distance) {
  return std::nextafter(static_cast<float>(distance * (1 + 0x1p-21)), std::numeric_limits<float>::infinity());
}

void set_radii(Storage& shell) {
  const std::size_t levels = shell.level_begin.size() - 1;
  // A subtree is one range of the deepest level.
  std::vector<std::uint32_t> leaf_begin(shell.nodes.size());
  for (std::uint32_t i = shell.level_begin[levels - 1]; i < shell.level_begin[levels]; ++i) leaf_begin[i] = i;
  for (std::size_t l = levels - 1; l-- > 0;) {
    const std::uint32_t begin = shell.level_begin[l], end = shell.level_begin[l + 1];
    for (std::uint32_t i = begin; i < end; ++i) leaf_begin[i] = leaf_begin[shell.nodes[i].first_child];
    parallel_for(end - begin - 1, 256, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = begin + first; i < begin + last; ++i) {
        double farthest = 0;
        const Vec3d center(shell.nodes[i].position);
        for (std::uint32_t leaf = leaf_begin[i]; leaf < leaf_begin[i + 1]; ++leaf)
          farthest = std::max(farthest, norm_squared(Vec3d(shell.nodes[leaf].position) - center));
        shell.nodes[i].radius = farthest > 0 ? rounded_up(std::sqrt(farthest)) : 0;
      }
    });
  }
}

}  // namespace

Shell build_tree(const NestedPoints& points) {
  const std::size_t levels = points.level_points.size();
  const auto shell = std::make_shared<Storage>();
  shell->positions.reserve(points.positions.size());
  shell->inward_normals.reserve(points.positions.size());

  // `order` lists the points of a level in the order of its nodes; `number` is a point's place in the finished shell.
  std::vector<std::uint32_t> order, number(points.positions.size());
  const auto append_level = [&](std::vector<std::uint32_t> level_order, std::uint32_t first_new) {
    order = std::move(level_order);
    shell->level_begin.push_back(static_cast<std::uint32_t>(shell->nodes.size()));
    for (const std::uint32_t point : order) {
      if (point >= first_new) {
        number[point] = static_cast<std::uint32_t>(shell->positions.size());
        shell->positions.push_back(points.positions[point]);
        shell->inward_normals.push_back(points.inward_normals[point]);
      }
      shell->nodes.push_back({points.positions[point], 0, 0, number[point]});
    }
    shell->nodes.push_back({});  // sentinel
  };

  const std::span<const Vec3f> positions(points.positions);
  append_level(morton_order(positions.first(points.level_points[0])), 0);
  for (std::size_t l = 1; l < levels; ++l) {
    const std::uint32_t begin = points.level_points[l - 1], end = points.level_points[l];
    const std::vector<std::uint32_t> parent = nearest_parents(positions, order, begin, end);
    // New points in Morton order, then dealt out to their parents: a counting sort, which keeps that order.
    const std::vector<std::uint32_t> along_curve = morton_order(positions.subspan(begin, end - begin));
    std::vector<std::uint32_t> next(order.size() + 1, 0);
    for (const std::uint32_t p : parent) ++next[p + 1];
    for (std::size_t i = 0; i < order.size(); ++i) next[i + 1] += next[i] + 1;  // and its own copy
    std::vector<std::uint32_t> below(end);
    const std::uint32_t level_begin = shell->level_begin.back();
    const auto next_begin = static_cast<std::uint32_t>(shell->nodes.size());
    for (std::size_t i = 0; i <= order.size(); ++i) shell->nodes[level_begin + i].first_child = next_begin + next[i];
    for (std::size_t i = 0; i < order.size(); ++i) below[next[i]++] = order[i];
    for (const std::uint32_t i : along_curve) below[next[parent[i]]++] = begin + i;
    append_level(std::move(below), begin);
  }
  shell->level_begin.push_back(static_cast<std::uint32_t>(shell->nodes.size()));
  set_radii(*shell);
  return Shell({shell->nodes, shell->level_begin, shell->positions, shell->inward_normals}, shell);
}

}  // namespace cotouch
