#include <cotouch/elastic/coarse_shell.h>

#include <cotouch/elastic/row_products.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_most = 1e15;   // of a coordinate: its square, and that times many others, are floats
constexpr float k_up = 1.00001F;  // far more than the rounding of these sums

}  // namespace

struct CoarseShell::Padded {
  std::array<float, k_most_coordinates> value{}, size{};
  Padded(const double* q, std::uint32_t count) noexcept {
    // A state may come from a stranger: what is not a number, or makes none, is as large as can be.
    for (std::uint32_t j = 0; j < count; ++j) {
      value[j] = std::fabs(q[j]) <= k_most ? static_cast<float>(q[j]) : static_cast<float>(k_most);
      size[j] = std::fabs(value[j]);
    }
  }
};

CoarseShell::CoarseShell(const ElasticModel& model, const Shell& shell)
    : warped_(model.data().law == ElasticLaw::warped), size_(model.size()), stride_(model.stride()) {
  const ElasticData& data = model.data();
  const std::span<const ShellNode> nodes = shell.data().nodes;
  std::vector<std::uint32_t> listed;  // where they are in the tree
  const auto list = [&](std::uint32_t level) {
    for (std::uint32_t i = 0; i < shell.points_to_level(level); ++i)
      listed.push_back(shell.data().level_begin[level] + i);
  };
  list(0);
  const auto roots = static_cast<std::uint32_t>(listed.size());
  if (shell.levels() > 1) list(1);
  for (std::uint32_t i = 0; i <= roots; ++i)
    first_child_.push_back(shell.levels() > 1 ? roots + nodes[i].first_child - shell.data().level_begin[1] : roots);
  const auto gather = [&](std::span<const float> rows, std::size_t spread, std::vector<float>& out) {
    out.assign(std::size_t{4} * stride_ * listed.size(), 0);
    for (std::size_t i = 0; i < listed.size(); ++i) {
      float* const to = out.data() + 4 * stride_ * i;
      const EmbeddedPoint& point = data.shell[nodes[listed[i]].point];
      for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t j = 0; j < 3 * stride_; ++j)
          to[j] += rows[std::size_t{3} * stride_ * point.node[k] + j] * point.weight[k];
      if (listed[i] < shell.branch_count())
        std::copy_n(data.spread.data() + (std::size_t{2} * listed[i] + spread) * stride_, stride_, to + 3 * stride_);
    }
  };
  gather(data.shapes, 0, shapes_);
  if (warped_) gather(data.rotations, 1, rotations_);
}

CoarseShell::Bound CoarseShell::bound(const std::vector<float>& rows, std::size_t node,
                                      const Padded& q) const noexcept {
  const float* const first = rows.data() + 4 * stride_ * node;
  const float own = norm(dot_rows(first, q.value.data(), stride_));
  return {own, own + dot_row(first + std::size_t{3} * stride_, q.size.data(), stride_)};
}

template <class NodeBound>
double CoarseShell::largest(const NodeBound& bound) const noexcept {
  float own = 0, largest = 0;
  for (std::size_t i = 0; i + 1 < first_child_.size(); ++i) {
    const Bound root = bound(i);
    own = std::max(own, root.own);
    float all = root.all;
    if (all > own && first_child_[i] < first_child_[i + 1]) {
      float below = 0;
      for (std::uint32_t k = first_child_[i]; k < first_child_[i + 1]; ++k) below = std::max(below, bound(k).all);
      all = std::min(all, below);
    }
    largest = std::max(largest, all);
  }
  return static_cast<double>(largest * k_up);
}

// Warped points are no farther than their modes have them (warp.h).
double CoarseShell::farthest(const double* q) const noexcept {
  const Padded now(q, size_);
  return largest([&](std::size_t node) { return bound(shapes_, node, now); });
}

// Of warped points, besides: R~ changes with half of the rotation's rate, and with it all that is displaced.
double CoarseShell::fastest(const double* q, const double* rate) const noexcept {
  const Padded now(q, size_), rates(rate, size_);
  return largest([&](std::size_t node) {
    Bound speed = bound(shapes_, node, rates);
    if (warped_) speed.all += 0.5F * bound(rotations_, node, rates).all * bound(shapes_, node, now).all;
    return speed;
  });
}

}  // namespace cotouch
