#include <cotouch/elastic/packed_ldl.h>

#include <cmath>

namespace cotouch {
namespace {

// x := x - s y, element by element.
void subtract(double* __restrict x, double s, const double* __restrict y, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) x[i] -= s * y[i];
}

double larger(double a, double b) noexcept {
  return a > b ? a : b;
}

}  // namespace

std::uint32_t factor_packed(std::span<double> a, std::size_t n, double least) noexcept {
  double* row = a.data();  // of the pivot; element (j, k) is row[k - j]
  // No element of a positive definite matrix is larger than the largest on its diagonal, and elimination keeps it so.
  double bound = least;
  for (std::size_t j = 0; j < n; row += n - j, ++j) bound = larger(bound, std::fabs(row[0]));
  std::uint32_t raised = 0;
  row = a.data();
  for (std::size_t j = 0; j < n; row += n - j, ++j) {
    const std::size_t count = n - j;
    double beside = 0;
    for (std::size_t k = 1; k < count; ++k) beside = larger(beside, std::fabs(row[k]));
    const double needed = larger(least, beside * beside / bound);
    if (!(row[0] >= needed * (1 - 1e-12))) {  // by more than the rounding of a matrix that is almost singular
      row[0] = larger(std::fabs(row[0]), needed);
      ++raised;
    }
    const double inverse = 1 / row[0];
    double* below = row + count;
    for (std::size_t k = 1; k < count; below += count - k, ++k) subtract(below, row[k] * inverse, row + k, count - k);
    for (std::size_t k = 1; k < count; ++k) row[k] *= inverse;
  }
  return raised;
}

void solve_packed(std::span<const double> factors, std::size_t n, std::span<double> b) noexcept {
  double* const x = b.data();
  const double* row = factors.data();
  for (std::size_t j = 0; j < n; row += n - j, ++j) subtract(x + j + 1, x[j], row + 1, n - j - 1);
  for (std::size_t j = n; j-- > 0;) {
    row -= n - j;
    double sum = x[j] / row[0];
    for (std::size_t k = 1; k < n - j; ++k) sum -= row[k] * x[j + k];
    x[j] = sum;
  }
}

}  // namespace cotouch
