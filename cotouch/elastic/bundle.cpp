#include <cotouch/elastic/bundle.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr std::size_t k_run = 256;  // rows whose products are summed from zero, for accuracy and to stay in the cache

// Columns [First, First + 4) of the products of `rows` rows.
template <std::size_t First>
void add_products(const double* a, const double* b, std::size_t rows, BundleMatrix& sums) {
  std::array<BundleRow, 4> tile{};
  for (std::size_t k = 0; k < rows; ++k, a += k_bundle, b += k_bundle) {
    const BundleRow row = load_row(a);
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t i = 0; i < row.size(); ++i) tile[j][i] += row[i] * b[First + j];
  }
  for (std::size_t j = 0; j < 4; ++j)
    for (std::size_t i = 0; i < k_bundle; ++i) sums[k_bundle * i + First + j] += tile[j][i / 2][i % 2];
}

template <std::size_t Rows>
void subtract_rows(double* b, const double* a, const BundleMatrix& h) {
  std::array<BundleRow, Rows> rows;
  for (std::size_t r = 0; r < Rows; ++r) rows[r] = load_row(b + r * k_bundle);
  for (std::size_t i = 0; i < k_bundle; ++i) {
    const BundleRow factors = load_row(h.data() + k_bundle * i);
    for (std::size_t r = 0; r < Rows; ++r) subtract(rows[r], a[r * k_bundle + i], factors);
  }
  for (std::size_t r = 0; r < Rows; ++r) store_row(b + r * k_bundle, rows[r]);
}

}  // namespace

BundleMatrix products(std::span<const double> a, std::span<const double> b) {
  BundleMatrix sums{};
  const std::size_t rows = a.size() / k_bundle;
  for (std::size_t first = 0; first < rows; first += k_run) {
    const std::size_t count = std::min(k_run, rows - first);
    add_products<0>(a.data() + first * k_bundle, b.data() + first * k_bundle, count, sums);
    add_products<4>(a.data() + first * k_bundle, b.data() + first * k_bundle, count, sums);
  }
  return sums;
}

void subtract_combinations(std::span<double> b, std::span<const double> a, const BundleMatrix& h) {
  const std::size_t rows = b.size() / k_bundle;
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) subtract_rows<4>(b.data() + row * k_bundle, a.data() + row * k_bundle, h);
  for (; row < rows; ++row) subtract_rows<1>(b.data() + row * k_bundle, a.data() + row * k_bundle, h);
}

void gather(const Shapes& from, std::size_t first, std::size_t count, const FemSystem& system, std::span<double> to) {
  std::fill(to.begin(), to.end(), 0.0);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t n = 0; n < system.free_nodes.size(); ++n)
      for (std::size_t r = 0; r < 3; ++r)
        to[(3 * n + r) * k_bundle + i] = from[first + i][3 * std::size_t{system.free_nodes[n]} + r];
}

void scatter(std::span<const double> from, const FemSystem& system, Shapes& to, std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::fill_n(to[first + i], 3 * std::size_t{to.nodes}, 0.0);
    for (std::size_t n = 0; n < system.free_nodes.size(); ++n)
      for (std::size_t r = 0; r < 3; ++r)
        to[first + i][3 * std::size_t{system.free_nodes[n]} + r] = from[(3 * n + r) * k_bundle + i];
  }
}

void multiply_stiffness_bundle(const FemSystem& system, std::span<const double> x, std::span<double> y) {
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t row = 0; row < system.free_nodes.size(); ++row)
    for (std::uint32_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      const std::size_t column = system.column[k];
      const Mat3& block = system.stiffness[k];
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) {
          double* y_row = y.data() + (3 * row + r) * k_bundle;
          double* y_column = y.data() + (3 * column + c) * k_bundle;
          const double* x_row = x.data() + (3 * row + r) * k_bundle;
          const double* x_column = x.data() + (3 * column + c) * k_bundle;
          for (std::size_t i = 0; i < k_bundle; ++i) y_row[i] += block(r, c) * x_column[i];
          if (column == row) continue;
          for (std::size_t i = 0; i < k_bundle; ++i) y_column[i] += block(r, c) * x_row[i];
        }
    }
}

void multiply_mass_bundle(const FemSystem& system, std::span<const double> x, std::span<double> y) {
  std::fill(y.begin(), y.end(), 0.0);
  constexpr std::size_t k_node = 3 * k_bundle;
  for (std::size_t row = 0; row < system.free_nodes.size(); ++row)
    for (std::uint32_t k = system.row_begin[row]; k < system.row_begin[row + 1]; ++k) {
      const std::size_t column = system.column[k];
      const double mass = system.mass[k];
      for (std::size_t i = 0; i < k_node; ++i) y[row * k_node + i] += mass * x[column * k_node + i];
      if (column == row) continue;
      for (std::size_t i = 0; i < k_node; ++i) y[column * k_node + i] += mass * x[row * k_node + i];
    }
}

}  // namespace cotouch
