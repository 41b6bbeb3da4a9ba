#include <cotouch/elastic/semidefinite.h>

#include <cotouch/elastic/packed_ldl.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace cotouch {
namespace {

double dot_of(const double* a, const double* b, std::size_t n) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

// x := x + s y, element by element.
void add_times(double* __restrict x, double s, const double* __restrict y, std::size_t n) noexcept {
  for (std::size_t k = 0; k < n; ++k) x[k] += s * y[k];
}

}  // namespace

SemidefiniteSolver::SemidefiniteSolver(std::size_t most_rows)
    : columns_(most_rows * most_rows), inner_(packed_size(most_rows)), inside_(most_rows) {
}

std::size_t SemidefiniteSolver::factor(double* g, std::size_t n, double least_share) noexcept {
  n_ = n;
  rank_ = 0;
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, g[i * n + i]);
  if (!(largest > 0) || !std::isfinite(largest)) return 0;
  while (rank_ < n) {
    std::size_t pivot = 0;
    for (std::size_t i = 1; i < n; ++i)
      if (g[i * n + i] > g[pivot * n + pivot]) pivot = i;
    const double size = g[pivot * n + pivot];
    if (!(size > least_share * largest)) break;
    double* const column = columns_.data() + rank_ * n;
    const double scale = 1 / std::sqrt(size);
    for (std::size_t i = 0; i < n; ++i) column[i] = g[pivot * n + i] * scale;
    for (std::size_t i = 0; i < n; ++i) add_times(g + i * n, -column[i], column, n);
    ++rank_;
    // Exactly zero but for rounding, which must not be taken for a pivot again.
    for (std::size_t i = 0; i < n; ++i) g[i * n + pivot] = g[pivot * n + i] = 0;
  }
  double* inner = inner_.data();
  for (std::size_t i = 0; i < rank_; ++i)
    for (std::size_t j = i; j < rank_; ++j) *inner++ = dot_of(columns_.data() + i * n, columns_.data() + j * n, n);
  // Positive definite but for rounding, because no pivot is small.
  if (!factor_packed(std::span(inner_).first(packed_size(rank_)), rank_, 0)) rank_ = 0;
  return rank_;
}

void SemidefiniteSolver::solve(double* b) const noexcept {
  const auto inside = std::span(inside_).first(rank_);
  const auto inner = std::span(inner_).first(packed_size(rank_));
  for (std::size_t i = 0; i < rank_; ++i) inside[i] = dot_of(columns_.data() + i * n_, b, n_);
  solve_packed(inner, rank_, inside);
  solve_packed(inner, rank_, inside);
  std::fill_n(b, n_, 0.0);
  for (std::size_t i = 0; i < rank_; ++i) add_times(b, inside[i], columns_.data() + i * n_, n_);
}

}  // namespace cotouch
