#include <cotouch/mesh/triangle_tree.h>

#include <cotouch/base/cancel.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace cotouch {
namespace {

constexpr std::size_t k_bins = 16;
// Below this depth triangles are split by count, which needs at most 32 more levels for any 32-bit number of them.
constexpr int k_count_split_depth = TriangleTree::k_max_depth - 32;

void add(Box3d& box, const Box3d& other) {
  box.low = min(box.low, other.low);
  box.high = max(box.high, other.high);
}

double half_area(const Box3d& box) {
  if (box.empty()) return 0;
  const Vec3d s = box.size();
  return s.x * s.y + s.y * s.z + s.z * s.x;
}

class Builder {
 public:
  Builder(const TriangleMesh& mesh, std::uint32_t leaf_size) : leaf_size_(std::max(leaf_size, 1u)) {
    boxes_.resize(mesh.triangles.size());
    for_each_cancellable(boxes_.size(), [&](std::size_t t) {
      for (const Vec3d& corner : mesh.corners(t)) boxes_[t].add(corner);
    });
    tree_.order.resize(boxes_.size());
    std::iota(tree_.order.begin(), tree_.order.end(), 0u);
  }

  TriangleTree build() {
    if (!boxes_.empty()) add_node(0, static_cast<std::uint32_t>(boxes_.size()), 0);
    return std::move(tree_);
  }

 private:
  void add_node(std::uint32_t first, std::uint32_t count, int depth) {
    throw_if_cancelled();
    const std::size_t index = tree_.nodes.size();
    TriangleTree::Node node{{}, first, count, 0};
    Box3d centers;
    for (std::uint32_t i = first; i < first + count; ++i) {
      const Box3d& box = boxes_[tree_.order[i]];
      add(node.box, box);
      centers.add(box.center());
    }
    tree_.nodes.push_back(node);
    if (count <= leaf_size_) return;

    const std::uint32_t left = split(first, count, centers, depth);
    add_node(first, left, depth + 1);
    tree_.nodes[index].right = static_cast<std::uint32_t>(tree_.nodes.size());
    add_node(first + left, count - left, depth + 1);
  }

  // Reorders the range and returns how many triangles go left: at least one, and not all.
  std::uint32_t split(std::uint32_t first, std::uint32_t count, const Box3d& centers, int depth) {
    const Vec3d size = centers.size();
    const std::size_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    // Triangles that all lie in one place cannot be told apart by where they are.
    if (!(size[axis] > 0) || depth >= k_count_split_depth) return count / 2;

    const double scale = k_bins * (1 - 1e-12) / size[axis];
    const auto bin_of = [&](std::uint32_t triangle) {
      const double at = (boxes_[triangle].center()[axis] - centers.low[axis]) * scale;
      return std::min(static_cast<std::size_t>(at), k_bins - 1);
    };
    std::array<Box3d, k_bins> boxes;
    std::array<std::uint32_t, k_bins> counts{};
    const auto begin = tree_.order.begin() + first, end = begin + count;
    for (auto i = begin; i != end; ++i) {
      const std::size_t bin = bin_of(*i);
      add(boxes[bin], boxes_[*i]);
      ++counts[bin];
    }
    // right_cost[b]: area times count of everything from bin b on.
    std::array<double, k_bins> right_cost{};
    Box3d box;
    std::uint32_t right_count = 0;
    for (std::size_t b = k_bins; b-- > 1;) {
      add(box, boxes[b]);
      right_count += counts[b];
      right_cost[b] = half_area(box) * right_count;
    }
    box = {};
    std::uint32_t left_count = 0;
    std::size_t best = 0;
    double best_cost = std::numeric_limits<double>::infinity();
    for (std::size_t b = 1; b < k_bins; ++b) {
      add(box, boxes[b - 1]);
      left_count += counts[b - 1];
      if (left_count == 0 || left_count == count) continue;
      const double cost = half_area(box) * left_count + right_cost[b];
      if (cost < best_cost) {
        best_cost = cost;
        best = b;
      }
    }
    if (best == 0) return count / 2;
    // Stable, because the order within each side decides the order of later sums.
    const auto middle = std::stable_partition(begin, end, [&](std::uint32_t t) { return bin_of(t) < best; });
    return static_cast<std::uint32_t>(middle - begin);
  }

  std::uint32_t leaf_size_;
  std::vector<Box3d> boxes_;
  TriangleTree tree_;
};

}  // namespace

TriangleTree build_triangle_tree(const TriangleMesh& mesh, std::uint32_t leaf_size) {
  return Builder(mesh, leaf_size).build();
}

}  // namespace cotouch
