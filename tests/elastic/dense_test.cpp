#include <cotouch/base/random.h>
#include <cotouch/elastic/dense.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace cotouch::this_file {
namespace {

std::vector<double> random_values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values(count);
  for (double& v : values) v = random.uniform(-1, 1);
  return values;
}

struct Sizes {
  std::size_t rows, columns, terms;
};
constexpr Sizes k_sizes[]{{1, 1, 1}, {3, 2, 5}, {8, 4, 7}, {9, 5, 256}, {17, 23, 257}, {40, 300, 33}, {61, 30, 600}};

// The order of the sums is part of what dense.h promises, so the plain loops below must give the very same bits.
TEST(Dense, ProductsHaveTheBitsOfPlainLoops) {
  for (const Sizes& s : k_sizes) {
    const std::size_t step = s.rows + 3;
    const std::vector<double> a = random_values(s.rows * s.terms, 1), b = random_values(s.columns * s.terms, 2);
    const std::vector<double> c0 = random_values(step * s.columns, 3);
    for (const bool a_by_rows : {false, true})
      for (const bool b_by_rows : {false, true})
        for (const double factor : {1.0, -1.0}) {
          const ConstDense av = a_by_rows ? ConstDense{a.data(), s.rows, s.terms, s.terms, 1}
                                          : ConstDense{a.data(), s.rows, s.terms, 1, s.rows};
          const ConstDense bv = b_by_rows ? ConstDense{b.data(), s.terms, s.columns, s.columns, 1}
                                          : ConstDense{b.data(), s.terms, s.columns, 1, s.terms};
          std::vector<double> c = c0, plain = c0;
          add_product(Dense(c.data(), s.rows, s.columns, step), factor, av, bv);
          for (std::size_t j = 0; j < s.columns; ++j)
            for (std::size_t i = 0; i < s.rows; ++i)
              for (std::size_t first = 0; first < s.terms; first += 256) {
                double sum = 0;
                for (std::size_t k = first; k < std::min(s.terms, first + 256); ++k)
                  sum += av.data[i * av.row_step + k * av.column_step] * bv.data[k * bv.row_step + j * bv.column_step];
                plain[i + j * step] += factor * sum;
              }
          EXPECT_EQ(std::memcmp(c.data(), plain.data(), c.size() * sizeof(double)), 0)
              << s.rows << " x " << s.columns << ", " << s.terms << " terms";
        }
  }
}

TEST(Dense, LowerPartIsThatOfTheWholeAndNothingElseIsTouched) {
  for (const std::size_t n : {1U, 5U, 8U, 30U, 301U}) {
    const std::size_t rows = n + 7, terms = 40;
    const std::vector<double> a = random_values(rows * terms, 4), c0 = random_values(rows * n, 5);
    const Dense view(const_cast<double*>(a.data()), rows, terms);
    std::vector<double> whole = c0, lower = c0;
    add_product(Dense(whole.data(), rows, n), -1, view, view.block(0, 0, n, terms).transposed());
    add_product(Dense(lower.data(), rows, n), -1, view, view.block(0, 0, n, terms).transposed(), Half::lower);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < rows; ++i)
        ASSERT_EQ(lower[i + j * rows], i >= j ? whole[i + j * rows] : c0[i + j * rows]) << n << ": " << i << ", " << j;
  }
}

TEST(Dense, CholeskyColumnsMultiplyBackToTheMatrix) {
  for (const std::size_t n : {1U, 3U, 24U, 25U, 64U, 150U})
    for (const std::size_t below : {0U, 1U, 10U, 77U}) {
      const std::size_t rows = n + below;
      // A = B B' + n I is positive definite.
      const std::vector<double> b = random_values(rows * rows, n + below);
      std::vector<double> a(rows * rows, 0);
      for (std::size_t i = 0; i < rows; ++i) a[i + i * rows] = static_cast<double>(rows);
      const ConstDense bv{b.data(), rows, rows, 1, rows};
      add_product(Dense(a.data(), rows, rows), 1, bv, bv.transposed());
      std::vector<double> l = a;
      ASSERT_TRUE(cholesky_columns(Dense(l.data(), rows, n)));
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = j; i < rows; ++i) {
          double sum = 0;
          for (std::size_t k = 0; k <= j; ++k) sum += l[i + k * rows] * l[j + k * rows];
          ASSERT_NEAR(sum, a[i + j * rows], 1e-13 * static_cast<double>(rows)) << n << " of " << rows;
        }
    }
}

TEST(Dense, CholeskyRefusesWhatIsNotPositiveDefinite) {
  std::vector<double> a(60 * 60, 0);
  for (std::size_t i = 0; i < 60; ++i) a[i * 61] = 1;
  EXPECT_TRUE(cholesky_columns(Dense(std::vector<double>(a).data(), 60, 60)));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    std::vector<double> b = a;
    b[41 * 61] = bad;
    EXPECT_FALSE(cholesky_columns(Dense(b.data(), 60, 60))) << bad;
  }
}

}  // namespace
}  // namespace cotouch::this_file
