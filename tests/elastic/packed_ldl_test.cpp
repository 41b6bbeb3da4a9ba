#include <cotouch/base/random.h>
#include <cotouch/elastic/packed_ldl.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cotouch {
namespace {

// Element (i, j) of a packed matrix.
double element(const std::vector<double>& a, std::size_t n, std::size_t i, std::size_t j) {
  if (i > j) std::swap(i, j);
  return a[packed_size(n) - packed_size(n - i) + (j - i)];
}

std::vector<double> times(const std::vector<double>& a, const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> b(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) b[i] += element(a, n, i, j) * x[j];
  return b;
}

std::vector<double> random_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = random.uniform(-1, 1);
  return numbers;
}

// 1 + B'B, of which every pivot is at least one.
std::vector<double> positive(std::size_t n, std::uint64_t seed) {
  const std::vector<double> b = random_numbers(n * n, seed);
  std::vector<double> a;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      double sum = i == j ? 1 : 0;
      for (std::size_t k = 0; k < n; ++k) sum += b[k * n + i] * b[k * n + j];
      a.push_back(sum);
    }
  return a;
}

TEST(PackedLdl, SolvesPositiveSystemsOfEverySize) {
  for (std::size_t n = 1; n <= 40; ++n) {
    const std::vector<double> a = positive(n, n), x = random_numbers(n, 100 + n);
    std::vector<double> factors = a, solution = times(a, x);
    EXPECT_EQ(factor_packed(factors, n, 0.99), 0U) << n;
    solve_packed(factors, n, solution);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(solution[i], x[i], 1e-12) << n;
  }
}

TEST(PackedLdl, RaisesOnlyTheDiagonalOfAnIndefiniteMatrix) {
  const std::size_t n = 12;
  std::vector<double> a = positive(n, 5);
  a[packed_size(n) - packed_size(n - 4)] -= 30;  // element (4, 4)
  std::vector<double> factors = a;
  EXPECT_GE(factor_packed(factors, n, 0.5), 1U);
  // The matrix that was factorised, column by column: the factors times unit vectors, through their inverse.
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k <= std::min(i, j); ++k) {
        const auto u = [&](std::size_t row, std::size_t column) {
          return row == column ? 1 : element(factors, n, row, column);
        };
        sum += u(k, i) * element(factors, n, k, k) * u(k, j);
      }
      if (i == j) {
        EXPECT_GE(sum, element(a, n, i, j) - 1e-12);
        EXPECT_GE(element(factors, n, i, i), 0.5);
      } else {
        EXPECT_NEAR(sum, element(a, n, i, j), 1e-12);
      }
    }
}

TEST(PackedLdl, AnswersStayBoundedWhateverTheMatrix) {
  Random random(9);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t n = 1 + random.below(30);
    std::vector<double> a = random_numbers(packed_size(n), random.bits());
    for (double& x : a) x *= 1e6;
    std::vector<double> b(n, 1.0);
    factor_packed(a, n, 0.5);
    solve_packed(a, n, b);
    for (const double x : b) EXPECT_LT(std::abs(x), 1e6);
  }
}

}  // namespace
}  // namespace cotouch
