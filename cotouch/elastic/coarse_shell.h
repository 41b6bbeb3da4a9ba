// How far and how fast the surface of an elastic part may be, from the two coarsest levels of its shell.
//
// Sizes of coordinates add up to a bound that is ten to thirty times too large. The few points of the coarsest level,
// each with a bound of how much the points below differ from it (ElasticData::spread), come within a factor of two;
// those of the next level, where it matters, within a third.
#pragma once

#include <cotouch/elastic/elastic_model.h>
#include <cotouch/shell/shell.h>

#include <cstdint>
#include <vector>

namespace cotouch {

class CoarseShell {
 public:
  CoarseShell(const ElasticModel& model, const Shell& shell);

  // No point of the shell is farther from its place at rest, metres.
  double farthest(const double* q) const noexcept;
  // None is faster at these coordinates and rates, m/s. A move by `move` from q is no longer than fastest(q, move).
  double fastest(const double* q, const double* rate) const noexcept;

 private:
  struct Padded;
  struct Bound {
    float own, all;  // of a node's own point, and of every point below
  };
  // Displacement, or rotation, as the modes have it.
  Bound bound(const std::vector<float>& rows, std::size_t node, const Padded& coordinates) const noexcept;
  // The largest of all bounds. Where that of a node may decide, because no point known so far is as far, its children
  // are asked.
  template <class NodeBound>
  double largest(const NodeBound& bound) const noexcept;

  bool warped_;
  std::uint32_t size_, stride_;
  std::vector<std::uint32_t> first_child_;  // of each node of the coarsest level, and where the last one's end
  std::vector<float> shapes_, rotations_;   // of each node: three rows of its own point and one of the spread below
};

}  // namespace cotouch
