#include <cotouch/elastic/eigen_symmetric.h>

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace cotouch {
namespace {

constexpr double k_epsilon = std::numeric_limits<double>::epsilon();
constexpr int k_most_steps = 60;  // for one eigenvalue; two are usual

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// A = Q T Q' with T tridiagonal: A is replaced by Q, `diagonal` and `beside` are T's.
void make_tridiagonal(std::vector<double>& a, std::size_t n, std::vector<double>& diagonal,
                      std::vector<double>& beside) {
  const auto column = [&](std::size_t j) { return a.data() + j * n; };
  std::vector<double> scale(n, 0), p(n);  // reflections I - scale v v', with v kept below the diagonal of A
  for (std::size_t k = 0; k + 2 < n; ++k) {
    throw_if_cancelled();
    double* v = column(k) + k + 1;
    const std::size_t m = n - k - 1;
    const double length = std::sqrt(dot(v, v, m));
    beside[k] = v[0] > 0 ? -length : length;
    if (length == 0) continue;
    v[0] -= beside[k];  // of the same sign, so no digits are lost
    scale[k] = 1 / (length * std::fabs(v[0]));
    // A := (I - s v v') A (I - s v v') = A - v w' - w v', where p = s A v and w = p - s/2 (p . v) v.
    std::fill_n(p.begin(), m, 0.0);
    for (std::size_t j = 0; j < m; ++j) {
      const double* aj = column(k + 1 + j) + k + 1;
      for (std::size_t i = 0; i < m; ++i) p[i] += aj[i] * v[j];
    }
    for (std::size_t i = 0; i < m; ++i) p[i] *= scale[k];
    const double half = scale[k] * dot(p.data(), v, m) / 2;
    for (std::size_t i = 0; i < m; ++i) p[i] -= half * v[i];
    for (std::size_t j = 0; j < m; ++j) {
      double* aj = column(k + 1 + j) + k + 1;
      for (std::size_t i = 0; i < m; ++i) aj[i] -= v[i] * p[j] + p[i] * v[j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) diagonal[i] = column(i)[i];
  if (n >= 2) beside[n - 2] = column(n - 2)[n - 1];

  // Q is the product of the reflections, built from the last, which touches the fewest columns.
  std::vector<double> v(n);
  for (std::size_t k = n; k-- > 0;) {
    throw_if_cancelled();
    const std::size_t m = n - k - 1;
    if (m > 0) std::copy_n(column(k) + k + 1, m, v.begin());
    // Column k + 1 and those after it are Q's already; column k of Q is found in the next round.
    if (scale[k] != 0)
      for (std::size_t j = k + 1; j < n; ++j) {
        double* q = column(j) + k + 1;
        const double factor = scale[k] * dot(v.data(), q, m);
        for (std::size_t i = 0; i < m; ++i) q[i] -= factor * v[i];
      }
    std::fill_n(column(k), n, 0.0);
    column(k)[k] = 1;
    for (std::size_t j = k + 1; j < n; ++j) column(j)[k] = 0;
  }
}

// Turns the tridiagonal matrix diagonal and the columns of Q with it.
void make_diagonal(std::vector<double>& q, std::size_t n, std::vector<double>& d, std::vector<double>& e) {
  for (std::size_t low = 0; low < n; ++low)
    for (int step = 0;; ++step) {
      throw_if_cancelled();
      std::size_t high = low;  // the block from `low` to `high` hangs together
      while (high + 1 < n && std::fabs(e[high]) > k_epsilon * (std::fabs(d[high]) + std::fabs(d[high + 1]))) ++high;
      if (high == low) break;
      if (step == k_most_steps)
        throw Error("The eigenvalues of a matrix were not found; it holds numbers out of range.");
      // Wilkinson's shift: the eigenvalue of the upper corner that is nearer to d[low].
      const double ratio = (d[low + 1] - d[low]) / (2 * e[low]);
      const double root = std::sqrt(ratio * ratio + 1);
      double g = d[high] - d[low] + e[low] / (ratio + (ratio < 0 ? -root : root));
      double sine = 1, cosine = 1, shift = 0;
      std::size_t i = high;
      while (i > low) {
        --i;
        const double f = sine * e[i], b = cosine * e[i];
        const double r = std::sqrt(f * f + g * g);
        e[i + 1] = r;
        if (r == 0) {  // the block falls apart early
          d[i + 1] -= shift;
          break;
        }
        sine = f / r;
        cosine = g / r;
        const double rest = d[i + 1] - shift;
        const double t = (d[i] - rest) * sine + 2 * cosine * b;
        shift = sine * t;
        d[i + 1] = rest + shift;
        g = cosine * t - b;
        double *left = q.data() + i * n, *right = left + n;
        for (std::size_t k = 0; k < n; ++k) {
          const double x = left[k], y = right[k];
          right[k] = sine * x + cosine * y;
          left[k] = cosine * x - sine * y;
        }
        if (i == low) {
          d[low] -= shift;
          e[low] = g;
        }
      }
      e[high] = 0;
    }
}

}  // namespace

SymmetricEigen eigen_symmetric(std::vector<double> matrix, std::size_t n) {
  // To the size of one, so that squares neither overflow nor vanish.
  double largest = 0;
  for (const double v : matrix) largest = std::isfinite(v) ? std::max(largest, std::fabs(v)) : v;
  if (!std::isfinite(largest))
    throw Error("The eigenvalues of a matrix with numbers that are not finite were asked for.");
  if (largest > 0)
    for (double& v : matrix) v /= largest;

  std::vector<double> d(n), e(n);
  make_tridiagonal(matrix, n, d, e);
  make_diagonal(matrix, n, d, e);

  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return d[a] < d[b] || (d[a] == d[b] && a < b); });
  SymmetricEigen eigen;
  eigen.vectors.reserve(n * n);
  for (const std::size_t i : order) {
    eigen.values.push_back(d[i] * largest);
    eigen.vectors.insert(eigen.vectors.end(), matrix.data() + i * n, matrix.data() + (i + 1) * n);
  }
  return eigen;
}

}  // namespace cotouch
