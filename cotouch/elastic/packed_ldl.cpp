#include <cotouch/elastic/packed_ldl.h>

namespace cotouch {
namespace {

// x := x - s y, element by element.
void subtract(double* __restrict x, double s, const double* __restrict y, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) x[i] -= s * y[i];
}

}  // namespace

bool factor_packed(std::span<double> a, std::size_t n, double least) noexcept {
  double* row = a.data();  // of the pivot; element (j, k) is row[k - j]
  for (std::size_t j = 0; j < n; row += n - j, ++j) {
    const std::size_t count = n - j;
    if (!(row[0] > 0 && row[0] >= least)) return false;
    const double inverse = 1 / row[0];
    double* below = row + count;
    for (std::size_t k = 1; k < count; below += count - k, ++k) subtract(below, row[k] * inverse, row + k, count - k);
    for (std::size_t k = 1; k < count; ++k) row[k] *= inverse;
  }
  return true;
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

void times_packed(std::span<const double> a, std::size_t n, const double* x, double* y) noexcept {
  for (std::size_t i = 0; i < n; ++i) y[i] = 0;
  const double* row = a.data();
  for (std::size_t i = 0; i < n; row += n - i, ++i) {
    double sum = row[0] * x[i];
    for (std::size_t k = 1; k < n - i; ++k) {
      sum += row[k] * x[i + k];
      y[i + k] += row[k] * x[i];
    }
    y[i] += sum;
  }
}

}  // namespace cotouch
