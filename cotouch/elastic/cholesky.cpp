#include <cotouch/elastic/cholesky.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/elastic/dense.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace cotouch {
namespace {

constexpr std::string_view k_stage = "Factorising";
constexpr std::size_t k_step = 256;  // columns that are eliminated and updated between two looks at the progress

// What elimination of a piece does to the nodes around it, until the next piece takes it: a stack in which the pieces
// of odd and even depth alternate, so that a piece's own entry can be made while its children's are read.
class Updates {
 public:
  explicit Updates(const std::array<std::size_t, 2>& sizes)
      : memory_{std::make_unique_for_overwrite<double[]>(sizes[0]),
                std::make_unique_for_overwrite<double[]>(sizes[1])} {}

  Dense push(std::uint32_t depth, std::size_t rows) {
    std::size_t& used = used_[depth % 2];
    const Dense update(memory_[depth % 2].get() + used, rows, rows);
    used += rows * rows;
    return update;
  }
  Dense pop(std::uint32_t depth, std::size_t rows) {
    std::size_t& used = used_[depth % 2];
    used -= rows * rows;
    return {memory_[depth % 2].get() + used, rows, rows};
  }

 private:
  std::array<std::unique_ptr<double[]>, 2> memory_;
  std::array<std::size_t, 2> used_{};
};

// The dense matrix that a piece is eliminated from: columns of its own nodes, and of those below.
struct Front {
  Dense own, update;
};

// Adds a child's update. `to` are the places of its nodes in the front, ascending.
void add_update(const Front& front, const Dense& from, std::span<const std::uint32_t> to) {
  const std::size_t own_nodes = front.own.columns / 3;
  for (std::size_t j = 0; j < to.size(); ++j) {
    const bool own = to[j] < own_nodes;
    const std::size_t shift = own ? 0 : own_nodes;
    for (std::size_t c = 0; c < 3; ++c) {
      double* target = own ? &front.own(0, 3 * to[j] + c) : &front.update(0, 3 * (to[j] - shift) + c);
      const double* source = &from(0, 3 * j + c);
      for (std::size_t r = c; r < 3; ++r) target[3 * (to[j] - shift) + r] += source[3 * j + r];
      for (std::size_t i = j + 1; i < to.size(); ++i)
        for (std::size_t r = 0; r < 3; ++r) target[3 * (to[i] - shift) + r] += source[3 * i + r];
    }
  }
}

// Eliminates a front's own columns. Calls done(multiplications) after each part of the work.
template <class Done>
bool eliminate(const Front& front, const Done& done) {
  const Dense& own = front.own;
  for (std::size_t first = 0; first < own.columns; first += k_step) {
    const std::size_t width = std::min(k_step, own.columns - first), next = first + width;
    if (!cholesky_columns(own.block(first, first, own.rows - first, width))) return false;
    done(static_cast<double>(width) * static_cast<double>(width) * static_cast<double>(own.rows - first));
    const auto update = [&](const Dense& target, std::size_t first_row) {
      for (std::size_t j = 0; j < target.columns; j += k_step) {
        const std::size_t columns = std::min(k_step, target.columns - j);
        const Dense left = own.block(first_row + j, first, own.rows - first_row - j, width);
        add_product(target.block(j, j, target.rows - j, columns), -1, left,
                    left.block(0, 0, columns, width).transposed(), Half::lower);
        done(2 * static_cast<double>(width) * static_cast<double>(columns) * static_cast<double>(left.rows));
      }
    };
    update(own.block(next, next, own.rows - next, own.columns - next), next);
    update(front.update, own.columns);
  }
  return true;
}

}  // namespace

SparseCholesky::SparseCholesky(const FemSystem& system, std::span<const Vec3d> positions,
                               std::span<const Spring> springs, Progress& progress) {
  progress.update("Numbering", 0);
  const NodeGraph graph(system);
  order_ = dissect(graph, positions);
  place_.resize(order_.node.size());
  for (std::uint32_t i = 0; i < order_.node.size(); ++i) place_[order_.node[i]] = i;
  find_structure(graph);
  progress.update("Numbering", 1);
  factorise(system, graph, springs, progress);
}

void SparseCholesky::find_structure(const NodeGraph& graph) {
  const std::size_t count = order_.pieces.size();
  std::vector<std::vector<std::uint32_t>> below(count);
  std::vector<std::uint32_t> seen(order_.node.size(), k_no_piece);
  pieces_.resize(count);
  row_.resize(order_.node.size());
  for (std::uint32_t p = 0; p < count; ++p) {
    throw_if_cancelled();
    const DissectionPiece& from = order_.pieces[p];
    // What its children are coupled to is in `below` already.
    std::vector<std::uint32_t> nodes;
    const auto add = [&](std::uint32_t place) {
      if (place < from.end || seen[place] == p) return;
      seen[place] = p;
      nodes.push_back(place);
    };
    for (const std::uint32_t place : below[p]) add(place);
    for (std::uint32_t i = from.begin; i < from.end; ++i) {
      const std::uint32_t node = order_.node[i];
      for (std::uint32_t k = graph.begin[node]; k < graph.begin[node + 1]; ++k) add(place_[graph.neighbour[k]]);
    }
    std::sort(nodes.begin(), nodes.end());
    below[p].clear();
    below[p].shrink_to_fit();
    if (from.parent != k_no_piece) below[from.parent].insert(below[from.parent].end(), nodes.begin(), nodes.end());

    Piece& piece = pieces_[p];
    piece = {from.begin, from.end, from.parent, 0, below_.size(), below_.size() + nodes.size(), value_count_, rows_};
    below_.insert(below_.end(), nodes.begin(), nodes.end());
    for (std::uint32_t i = from.begin; i < from.end; ++i) row_[i] = rows_ + 3 * (i - from.begin);
    // In strips of four rows: see store().
    const std::size_t own_strips = (3 * piece.own_nodes() + 3) / 4, below_strips = (3 * nodes.size() + 3) / 4;
    rows_ += 4 * own_strips;
    most_below_ = std::max(most_below_, 4 * below_strips);
    value_count_ += 8 * own_strips * (own_strips + 1) + 16 * own_strips * below_strips;
  }
  for (std::size_t p = count; p-- > 0;)
    if (pieces_[p].parent != k_no_piece) pieces_[p].depth = pieces_[pieces_[p].parent].depth + 1;
}

void SparseCholesky::factorise(const FemSystem& system, const NodeGraph& graph, std::span<const Spring> springs,
                               Progress& progress) {
  values_ = std::make_unique_for_overwrite<double[]>(value_count_);
  // How much memory is needed at most, and how much work there is.
  std::array<std::size_t, 2> used{}, most{};
  std::vector<std::vector<std::uint32_t>> children(pieces_.size());
  std::size_t most_own = 0;
  double work = 0, work_done = 0;
  for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    const std::size_t own = 3 * piece.own_nodes(), below = 3 * piece.below_nodes();
    used[piece.depth % 2] += below * below;
    most[piece.depth % 2] = std::max(most[piece.depth % 2], used[piece.depth % 2]);
    for (const std::uint32_t child : children[p]) {
      const std::size_t rows = 3 * pieces_[child].below_nodes();
      used[pieces_[child].depth % 2] -= rows * rows;
    }
    if (piece.parent != k_no_piece) children[piece.parent].push_back(p);
    most_own = std::max(most_own, own * (own + below));
    const auto o = static_cast<double>(own), b = static_cast<double>(below);
    work += o * (o * o / 3 + o * b + b * b);
  }
  const auto report = [&](double multiplications) {
    work_done += multiplications;
    progress.update(k_stage, std::min(1.0, work_done / work));
  };

  Updates updates(most);
  const auto own_memory = std::make_unique_for_overwrite<double[]>(most_own);
  std::vector<std::uint32_t> local(order_.node.size());  // place in the front by place in the order
  std::vector<std::uint32_t> to;
  for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
    throw_if_cancelled();
    const Piece& piece = pieces_[p];
    const std::size_t own_nodes = piece.own_nodes(), below_nodes = piece.below_nodes();
    for (std::uint32_t i = 0; i < own_nodes; ++i) local[piece.begin + i] = i;
    for (std::uint32_t i = 0; i < below_nodes; ++i)
      local[below_[piece.below_begin + i]] = static_cast<std::uint32_t>(own_nodes + i);
    const Front front{Dense(own_memory.get(), 3 * (own_nodes + below_nodes), 3 * own_nodes),
                      updates.push(piece.depth, 3 * below_nodes)};
    std::fill_n(front.own.data, front.own.rows * front.own.columns, 0.0);
    std::fill_n(front.update.data, front.update.rows * front.update.columns, 0.0);

    for (std::uint32_t j = 0; j < own_nodes; ++j) {
      const std::uint32_t node = order_.node[piece.begin + j];
      const auto add = [&](std::uint32_t i, const Mat3& block) {
        for (std::size_t c = 0; c < 3; ++c)
          for (std::size_t r = i == j ? c : 0; r < 3; ++r) front.own(3 * i + r, 3 * j + c) += block(r, c);
      };
      add(j, system.stiffness[system.row_begin[node + 1] - 1]);
      for (const Spring& spring : springs)
        if (spring.node == node) add(j, spring.stiffness);
      for (std::uint32_t k = graph.begin[node]; k < graph.begin[node + 1]; ++k) {
        const std::uint32_t other = graph.neighbour[k];
        if (place_[other] < piece.begin + j) continue;
        const Mat3& block = system.stiffness[graph.entry[k]];
        add(local[place_[other]], other > node ? block : block.transposed());
      }
    }
    for (std::size_t c = children[p].size(); c-- > 0;) {
      const Piece& child = pieces_[children[p][c]];
      to.clear();
      for (std::size_t i = child.below_begin; i < child.below_end; ++i) to.push_back(local[below_[i]]);
      add_update(front, updates.pop(child.depth, 3 * child.below_nodes()), to);
    }
    if (!eliminate(front, report))
      throw Error(
          "The body's stiffness cannot be computed with: parts of it hang together by an edge or a single node, or its "
          "tetrahedra are nearly flat. Cut the volume into tetrahedra again.",
          ErrorCode::invalid_argument);
    store(piece, front.own.data);
  }
}

}  // namespace cotouch
