#include <cotouch/elastic/dissection.h>

#include <cotouch/base/cancel.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace cotouch {

namespace {

constexpr std::size_t k_leaf = 24;  // nodes that are not cut any further; a dense block of so few costs little
constexpr int k_shifts = 4;         // cuts that are tried on either side of the middle,
constexpr double k_shift = 0.025;   // so far apart, as a share of the nodes

enum class Side : std::uint8_t { outside, low, high, cut };

class Dissector {
 public:
  Dissector(const NodeGraph& graph, std::span<const Vec3d> positions)
      : graph_(graph), positions_(positions), side_(positions.size(), Side::outside) {}

  Dissection run() {
    std::vector<std::uint32_t> all(positions_.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    dissect(all);
    return std::move(result_);
  }

 private:
  // `nodes` ascending. Returns the pieces that have no parent yet.
  std::vector<std::uint32_t> dissect(const std::vector<std::uint32_t>& nodes) {
    if (nodes.size() <= k_leaf) return nodes.empty() ? std::vector<std::uint32_t>{} : add_piece(nodes, {});
    split(nodes);
    std::vector<std::uint32_t> low, high, cut;
    for (const std::uint32_t node : nodes)
      (side_[node] == Side::low ? low : side_[node] == Side::high ? high : cut).push_back(node);
    for (const std::uint32_t node : nodes) side_[node] = Side::outside;
    std::vector<std::uint32_t> roots = dissect(low);
    const std::vector<std::uint32_t> others = dissect(high);
    roots.insert(roots.end(), others.begin(), others.end());
    return cut.empty() ? roots : add_piece(cut, roots);
  }

  std::vector<std::uint32_t> add_piece(const std::vector<std::uint32_t>& nodes,
                                       const std::vector<std::uint32_t>& children) {
    const auto piece = static_cast<std::uint32_t>(result_.pieces.size());
    const auto begin = static_cast<std::uint32_t>(result_.node.size());
    result_.node.insert(result_.node.end(), nodes.begin(), nodes.end());
    result_.pieces.push_back({begin, static_cast<std::uint32_t>(result_.node.size()), k_no_piece});
    for (const std::uint32_t child : children) result_.pieces[child].parent = piece;
    return {piece};
  }

  struct Cut {
    std::size_t axis;
    std::uint32_t first_high;  // nodes before it along the axis are on the low side
    std::vector<std::uint32_t> nodes;
  };

  // Tries cuts near the middle across every axis and keeps the one with the fewest nodes for how evenly it halves.
  void split(const std::vector<std::uint32_t>& nodes) {
    Cut best{};
    double best_score = std::numeric_limits<double>::infinity();
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::vector<std::uint32_t> order = nodes;
      sort_cancellable(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return before(a, b, axis); });
      for (int shift = -k_shifts; shift <= k_shifts; ++shift) {
        const double share = 0.5 + k_shift * shift, uneven = 2 * share - 1;
        throw_if_cancelled();
        Cut cut{axis, order[static_cast<std::size_t>(share * static_cast<double>(order.size()))], {}};
        find_cut(nodes, cut);
        const double score = static_cast<double>(cut.nodes.size()) * (1 + 3 * uneven * uneven);
        if (score < best_score) {
          best_score = score;
          best = std::move(cut);
        }
      }
    }
    set_sides(nodes, best);
    for (const std::uint32_t node : best.nodes) side_[node] = Side::cut;
  }

  bool before(std::uint32_t a, std::uint32_t b, std::size_t axis) const {
    const double pa = positions_[a][axis], pb = positions_[b][axis];
    return pa < pb || (pa == pb && a < b);
  }

  void set_sides(const std::vector<std::uint32_t>& nodes, const Cut& cut) {
    for (const std::uint32_t node : nodes)
      side_[node] = before(node, cut.first_high, cut.axis) ? Side::low : Side::high;
  }

  // The nodes of one side that have neighbours on the other: of the side with fewer of them.
  void find_cut(const std::vector<std::uint32_t>& nodes, Cut& cut) {
    set_sides(nodes, cut);
    std::vector<std::uint32_t> low, high;
    for (const std::uint32_t node : nodes) {
      const Side other = side_[node] == Side::low ? Side::high : Side::low;
      const auto begin = graph_.neighbour.begin() + graph_.begin[node],
                 end = graph_.neighbour.begin() + graph_.begin[node + 1];
      if (std::any_of(begin, end, [&](std::uint32_t neighbour) { return side_[neighbour] == other; }))
        (other == Side::high ? low : high).push_back(node);
    }
    cut.nodes = low.size() <= high.size() ? std::move(low) : std::move(high);
  }

  const NodeGraph& graph_;
  const std::span<const Vec3d> positions_;
  std::vector<Side> side_;
  Dissection result_;
};

}  // namespace

NodeGraph::NodeGraph(const FemSystem& system) {
  const std::size_t nodes = system.free_nodes.size();
  begin.assign(nodes + 1, 0);
  for (std::uint32_t row = 0; row < nodes; ++row)
    for (std::uint32_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k)
      if (system.column[k] != row) {
        ++begin[row + 1];
        ++begin[system.column[k] + 1];
      }
  for (std::size_t i = 0; i < nodes; ++i) begin[i + 1] += begin[i];
  neighbour.resize(begin.back());
  entry.resize(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  const auto add = [&](std::uint32_t from, std::uint32_t to, std::uint32_t k) {
    neighbour[next[from]] = to;
    entry[next[from]++] = k;
  };
  for (std::uint32_t row = 0; row < nodes; ++row)
    for (std::uint32_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k)
      if (system.column[k] != row) {
        add(row, system.column[k], k);
        add(system.column[k], row, k);
      }
}

Dissection dissect(const NodeGraph& graph, std::span<const Vec3d> positions) {
  return Dissector(graph, positions).run();
}

}  // namespace cotouch
