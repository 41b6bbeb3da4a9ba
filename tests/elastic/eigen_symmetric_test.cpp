#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/elastic/eigen_symmetric.h>
#include <support/error_code.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace cotouch::this_file {
namespace {

void expect_eigen(const std::vector<double>& a, std::size_t n, double scale) {
  const SymmetricEigen eigen = eigen_symmetric(a, n);
  ASSERT_EQ(eigen.values.size(), n);
  for (std::size_t k = 0; k < n; ++k) {
    const double* v = eigen.vectors.data() + k * n;
    if (k > 0) {
      ASSERT_LE(eigen.values[k - 1], eigen.values[k]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += a[i + j * n] * v[j];
      ASSERT_NEAR(sum, eigen.values[k] * v[i], 1e-14 * scale * static_cast<double>(n));
    }
    for (std::size_t l = 0; l <= k; ++l) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += v[i] * eigen.vectors[l * n + i];
      ASSERT_NEAR(sum, l == k ? 1 : 0, 1e-14 * static_cast<double>(n));
    }
  }
}

TEST(EigenSymmetric, RandomMatricesAreDiagonalised) {
  for (const std::size_t n : {1U, 2U, 3U, 4U, 10U, 57U, 150U}) {
    Random random(n);
    std::vector<double> a(n * n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i <= j; ++i) a[i + j * n] = a[j + i * n] = random.uniform(-1, 1);
    expect_eigen(a, n, 1);
    for (double& v : a) v *= 1e-200;
    expect_eigen(a, n, 1e-200);
  }
}

// The second difference on a chain of n points: 2 - 2 cos(k pi / (n + 1)).
TEST(EigenSymmetric, ChainHasTheKnownEigenvalues) {
  constexpr std::size_t k_n = 40;
  std::vector<double> a(k_n * k_n, 0);
  for (std::size_t i = 0; i < k_n; ++i) a[i * (k_n + 1)] = 2;
  for (std::size_t i = 0; i + 1 < k_n; ++i) a[i * (k_n + 1) + 1] = a[i * (k_n + 1) + k_n] = -1;
  const SymmetricEigen eigen = eigen_symmetric(a, k_n);
  for (std::size_t k = 0; k < k_n; ++k)
    EXPECT_NEAR(eigen.values[k], 2 - 2 * std::cos(static_cast<double>(k + 1) * std::numbers::pi / (k_n + 1)), 1e-13);
}

TEST(EigenSymmetric, RepeatedAndZeroEigenvaluesAreFound) {
  expect_eigen(std::vector<double>(36, 0.0), 6, 1);
  std::vector<double> a(49, 1.0);  // of rank one: 7 and six zeros
  expect_eigen(a, 7, 7);
  EXPECT_NEAR(eigen_symmetric(a, 7).values[6], 7, 1e-13);
  EXPECT_NEAR(eigen_symmetric(a, 7).values[5], 0, 1e-13);
  for (std::size_t i = 0; i < 7; ++i) a[i * 8] += 3;
  expect_eigen(a, 7, 10);
}

TEST(EigenSymmetric, NumbersThatAreNotFiniteAreRefused) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    for (std::size_t place = 0; place < 4; ++place) {
      std::vector<double> a(4, 1.0);
      a[place] = bad;
      EXPECT_EQ(code_of([&] { eigen_symmetric(a, 2); }), ErrorCode::other);
    }
}

}  // namespace
}  // namespace cotouch::this_file
