// Small systems G x = b of a symmetric, positive semidefinite G, in the touch thread: the shortest of the x that leave
// the least |G x - b|.
//
// Cholesky's factorisation with the largest pivot first, G = L L' with as many columns as G has rank; then the
// pseudoinverse is L (L'L)^-2 L'. No allocation after construction, the same bits on every machine.
#pragma once

#include <cstddef>
#include <vector>

namespace cotouch {

class SemidefiniteSolver {
 public:
  explicit SemidefiniteSolver(std::size_t most_rows);

  // `g` has n rows, one after another; it is spoilt. Returns the rank: pivots below `least_share` of the largest
  // element of the diagonal count as zero.
  std::size_t factor(double* g, std::size_t n, double least_share) noexcept;
  void solve(double* b) const noexcept;

 private:
  std::size_t n_ = 0, rank_ = 0;
  std::vector<double> columns_;  // of L
  std::vector<double> inner_;    // the factors of L'L, packed (packed_ldl.h)
  mutable std::vector<double> inside_;
};

}  // namespace cotouch
