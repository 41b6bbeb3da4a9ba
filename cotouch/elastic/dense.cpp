#include <cotouch/base/cancel.h>
#include <cotouch/elastic/dense.h>
#include <cotouch/elastic/pair.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

namespace cotouch {
namespace {

// A tile of C is held in registers: as many rows as fit, which is no matter of bits.
#ifdef __aarch64__
constexpr std::size_t k_tile_rows = 8;
#else
constexpr std::size_t k_tile_rows = 4;
#endif
constexpr std::size_t k_tile_columns = 4;
constexpr std::size_t k_run = 256;    // terms of a sum that are added from zero
constexpr std::size_t k_block = 256;  // columns of B that are packed at a time; with k_run rows they fit the cache
constexpr std::size_t k_narrow = 24;  // columns that are factorised without products of blocks
constexpr std::size_t k_pairs = k_tile_rows / 2;

using Tile = std::array<std::array<Pair, k_pairs>, k_tile_columns>;

// Copies `count` <= Width rows of a matrix side by side: out[k * Width + i] = a(i, k), zero beyond the last row.
template <std::size_t Width>
void pack(const ConstDense& a, std::size_t first_row, std::size_t first_column, std::size_t columns, double* out) {
  const std::size_t count = std::min(Width, a.rows - first_row);
  const double* from = a.data + first_row * a.row_step + first_column * a.column_step;
  if (count == Width && a.row_step == 1) {
    for (std::size_t k = 0; k < columns; ++k, from += a.column_step, out += Width)
      for (std::size_t i = 0; i < Width; ++i) out[i] = from[i];
  } else {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t k = 0; k < columns; ++k) out[k * Width + i] = from[i * a.row_step + k * a.column_step];
    for (std::size_t i = count; i < Width; ++i)
      for (std::size_t k = 0; k < columns; ++k) out[k * Width + i] = 0;
  }
}

Tile multiply_packed(std::size_t terms, const double* a, const double* b) {
  Tile tile{};
  for (std::size_t k = 0; k < terms; ++k, a += k_tile_rows, b += k_tile_columns)
    for (std::size_t j = 0; j < k_tile_columns; ++j)
      for (std::size_t i = 0; i < k_pairs; ++i) tile[j][i] += load_pair(a + 2 * i) * b[j];
  return tile;
}

void add_tile(const Tile& tile, double factor, double* c, std::size_t column_step) {
  for (std::size_t j = 0; j < k_tile_columns; ++j, c += column_step)
    for (std::size_t i = 0; i < k_pairs; ++i) store_pair(c + 2 * i, load_pair(c + 2 * i) + tile[j][i] * factor);
}

// Of a tile at (row, column) only what lies in C and in the part that is asked for.
void add_part_of_tile(const Tile& tile, double factor, const Dense& c, std::size_t row, std::size_t column, Half half) {
  const std::size_t columns = std::min(k_tile_columns, c.columns - column);
  const std::size_t rows = std::min(k_tile_rows, c.rows - row);
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < rows; ++i)
      if (half == Half::both || row + i >= column + j) c(row + i, column + j) += tile[j][i / 2][i % 2] * factor;
}

// X := X L^-T for a few columns of X, where `inverse` holds 1 / L(j, j) and `lower` the rows of L.
template <std::size_t Pairs>
void solve_rows(const Dense& x, std::size_t row, const double* lower, const double* inverse) {
  for (std::size_t j = 0; j < x.columns; ++j) {
    std::array<Pair, Pairs> sum;
    for (std::size_t i = 0; i < Pairs; ++i) sum[i] = load_pair(&x(row + 2 * i, j));
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = 0; i < Pairs; ++i) sum[i] -= load_pair(&x(row + 2 * i, k)) * lower[j * k_narrow + k];
    for (std::size_t i = 0; i < Pairs; ++i) store_pair(&x(row + 2 * i, j), sum[i] * inverse[j]);
  }
}

bool narrow_cholesky_columns(const Dense& a) {
  const std::size_t n = a.columns;
  std::array<double, k_narrow * k_narrow> lower;
  std::array<double, k_narrow> inverse;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i * k_narrow + k] * lower[j * k_narrow + k];
      if (j == i) {
        if (!(sum > 0) || !std::isfinite(sum)) return false;
        lower[i * k_narrow + i] = std::sqrt(sum);
        inverse[i] = 1 / lower[i * k_narrow + i];
      } else {
        lower[i * k_narrow + j] = sum * inverse[j];
      }
      a(i, j) = lower[i * k_narrow + j];
    }
  }
  std::size_t row = n;
  for (; row + 8 <= a.rows; row += 8) solve_rows<4>(a, row, lower.data(), inverse.data());
  for (; row + 2 <= a.rows; row += 2) solve_rows<1>(a, row, lower.data(), inverse.data());
  if (row < a.rows)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = a(row, j);
      for (std::size_t k = 0; k < j; ++k) sum -= a(row, k) * lower[j * k_narrow + k];
      a(row, j) = sum * inverse[j];
    }
  return true;
}

}  // namespace

void add_product(const Dense& c, double factor, const ConstDense& a, const ConstDense& b, Half half) {
  if (c.rows == 0 || c.columns == 0 || a.columns == 0) return;
  const ConstDense columns_of_b = b.transposed();
  const std::size_t most_terms = std::min(k_run, a.columns);
  const std::size_t packed_columns =
      std::min(k_block, c.columns + k_tile_columns - 1) / k_tile_columns * k_tile_columns;
  const auto packed_a = std::make_unique_for_overwrite<double[]>(most_terms * k_tile_rows);
  const auto packed_b = std::make_unique_for_overwrite<double[]>(most_terms * packed_columns);
  for (std::size_t first = 0; first < c.columns; first += k_block) {
    const std::size_t end = std::min(c.columns, first + k_block);
    for (std::size_t k = 0; k < a.columns; k += k_run) {
      throw_if_cancelled();
      const std::size_t terms = std::min(k_run, a.columns - k);
      for (std::size_t j = first; j < end; j += k_tile_columns)
        pack<k_tile_columns>(columns_of_b, j, k, terms, packed_b.get() + (j - first) * terms);
      const std::size_t first_row = half == Half::lower ? first / k_tile_rows * k_tile_rows : 0;
      for (std::size_t i = first_row; i < c.rows; i += k_tile_rows) {
        pack<k_tile_rows>(a, i, k, terms, packed_a.get());
        const std::size_t row_end = half == Half::lower ? std::min(end, i + k_tile_rows) : end;
        for (std::size_t j = first; j < row_end; j += k_tile_columns) {
          const Tile tile = multiply_packed(terms, packed_a.get(), packed_b.get() + (j - first) * terms);
          const bool cut = i + k_tile_rows > c.rows || j + k_tile_columns > c.columns ||
                           (half == Half::lower && j + k_tile_columns > i + 1);
          if (cut)
            add_part_of_tile(tile, factor, c, i, j, half);
          else
            add_tile(tile, factor, &c(i, j), c.column_step);
        }
      }
    }
  }
}

bool cholesky_columns(const Dense& a) {
  if (a.columns <= k_narrow) return narrow_cholesky_columns(a);
  // Halves, so that most work is in products of large blocks.
  const std::size_t left = (a.columns / 2 + 7) / 8 * 8, right = a.columns - left;
  if (!cholesky_columns(a.block(0, 0, a.rows, left))) return false;
  const Dense below = a.block(left, 0, a.rows - left, left);
  const Dense rest = a.block(left, left, a.rows - left, right);
  add_product(rest, -1, below, below.block(0, 0, right, left).transposed(), Half::lower);
  return cholesky_columns(rest);
}

}  // namespace cotouch
