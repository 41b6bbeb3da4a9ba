#include <cotouch/base/random.h>
#include <cotouch/elastic/semidefinite.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cotouch::this_file {
namespace {

// G = B B' with B of n rows and `rank` columns.
std::vector<double> random_product(std::size_t n, std::size_t rank, Random& random) {
  std::vector<double> b(n * rank), g(n * n);
  for (double& v : b) v = random.uniform(-1, 1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < rank; ++k) g[i * n + j] += b[i * rank + k] * b[j * rank + k];
  return g;
}

std::vector<double> times(const std::vector<double>& g, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += g[i * x.size() + j] * x[j];
  return y;
}

TEST(Semidefinite, SolvesRegularSystems) {
  Random random(1);
  for (const std::size_t n : {1U, 2U, 5U, 12U}) {
    const std::vector<double> g = random_product(n, n + 3, random);
    std::vector<double> b(n), spoilt = g;
    for (double& v : b) v = random.uniform(-1, 1);
    SemidefiniteSolver solver(12);
    EXPECT_EQ(solver.factor(spoilt.data(), n, 1e-12), n);
    std::vector<double> x = b;
    solver.solve(x.data());
    const std::vector<double> y = times(g, x);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], b[i], 1e-9);
  }
}

// Penrose's conditions of least squares: what remains is at right angles to G, and x is in its range.
TEST(Semidefinite, FindsTheShortestLeastSquaresSolution) {
  Random random(2);
  for (const std::size_t rank : {1U, 3U, 6U}) {
    constexpr std::size_t n = 9;
    const std::vector<double> g = random_product(n, rank, random);
    std::vector<double> b(n), spoilt = g;
    for (double& v : b) v = random.uniform(-1, 1);
    SemidefiniteSolver solver(n);
    EXPECT_EQ(solver.factor(spoilt.data(), n, 1e-9), rank);
    std::vector<double> x = b;
    solver.solve(x.data());
    std::vector<double> rest = times(g, x);
    for (std::size_t i = 0; i < n; ++i) rest[i] -= b[i];
    for (const double v : times(g, rest)) EXPECT_NEAR(v, 0, 1e-9);
    // A multiple of `rest` is in the null space: x has no share of it.
    double along = 0;
    for (std::size_t i = 0; i < n; ++i) along += rest[i] * x[i];
    EXPECT_NEAR(along, 0, 1e-9);
  }
}

TEST(Semidefinite, OfNothingAnswersNothing) {
  SemidefiniteSolver solver(3);
  std::vector<double> zero(9), b{1, 2, 3};
  EXPECT_EQ(solver.factor(zero.data(), 3, 1e-6), 0U);
  solver.solve(b.data());
  for (const double v : b) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace cotouch::this_file
