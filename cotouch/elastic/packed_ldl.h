// Small dense symmetric systems, solved in the touch thread: no allocation, the same work and bits every time.
//
// A symmetric matrix of n rows is packed as its upper triangle, row by row: (0,0) (0,1) ... (0,n-1) (1,1) ...
// (n-1,n-1).
#pragma once

#include <cstddef>
#include <span>

namespace cotouch {

constexpr std::size_t packed_size(std::size_t n) {
  return n * (n + 1) / 2;
}

// Replaces A by the factors of A = U' D U, where U has ones on its diagonal: D is stored on the diagonal, the rest of U
// above it. Returns false, A being spoilt, if a pivot is less than `least`, which must not be negative: then A is not
// positive definite, or has an eigenvalue less than that.
[[nodiscard]] bool factor_packed(std::span<double> a, std::size_t n, double least) noexcept;

// Solves A x = b, given the factors, in place.
void solve_packed(std::span<const double> factors, std::size_t n, std::span<double> b) noexcept;

// y = A x.
void times_packed(std::span<const double> a, std::size_t n, const double* x, double* y) noexcept;

}  // namespace cotouch
