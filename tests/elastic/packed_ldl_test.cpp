#include <cotouch/base/random.h>
#include <cotouch/elastic/packed_ldl.h>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace cotouch::this_file {
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
    ASSERT_TRUE(factor_packed(factors, n, 0.99)) << n;
    solve_packed(factors, n, solution);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(solution[i], x[i], 1e-12) << n;
  }
}

TEST(PackedLdl, RefusesWhatIsNotPositiveDefinite) {
  const std::size_t n = 12;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> a = positive(n, 5);
    double& diagonal = a[packed_size(n) - packed_size(n - i)];
    diagonal -= 2 * diagonal;
    EXPECT_FALSE(factor_packed(a, n, 0)) << i;
  }
}

TEST(PackedLdl, RefusesSmallPivotsAndWhatIsNotANumber) {
  std::vector<double> a{2, 1, 1};  // pivots 2 and 1/2
  std::vector<double> b = a, c{2, 1, std::numeric_limits<double>::quiet_NaN()}, zero{0};
  EXPECT_TRUE(factor_packed(a, 2, 0.49));
  EXPECT_FALSE(factor_packed(b, 2, 0.51));
  EXPECT_FALSE(factor_packed(c, 2, 0));
  EXPECT_FALSE(factor_packed(zero, 1, 0));
}

}  // namespace
}  // namespace cotouch::this_file
