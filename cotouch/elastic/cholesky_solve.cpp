// Solving with the factor. A piece's part of it is stored for that: in strips of four rows, of which column after
// column is read. First the strips of its own rows, each up to its diagonal, which holds 1 / L(j, j); then the strips
// of the rows below. Rows that fill a last strip are zero, with ones on their diagonal.
#include <cotouch/base/cancel.h>
#include <cotouch/elastic/cholesky.h>

#include <algorithm>
#include <array>

namespace cotouch {
namespace {

constexpr std::size_t k_strip = 4;

using StripRows = std::array<BundleRow, k_strip>;

StripRows load_strip(const double* from) {
  StripRows rows;
  for (std::size_t r = 0; r < k_strip; ++r) rows[r] = load_row(from + r * k_bundle);
  return rows;
}
void store_strip(double* to, const StripRows& rows) {
  for (std::size_t r = 0; r < k_strip; ++r) store_row(to + r * k_bundle, rows[r]);
}
// rows - L x for a strip of L. The rows are passed by value here and below, so that they stay in registers.
StripRows multiply_strip(const double* strip, const double* x, std::size_t columns, StripRows rows) {
  for (std::size_t k = 0; k < columns; ++k, strip += k_strip, x += k_bundle) {
    const BundleRow other = load_row(x);
    for (std::size_t r = 0; r < k_strip; ++r) subtract(rows[r], strip[r], other);
  }
  return rows;
}

// x -= L' rows for a strip of L.
void multiply_transposed(const double* strip, double* x, std::size_t columns, const StripRows rows) {
  for (std::size_t k = 0; k < columns; ++k, strip += k_strip, x += k_bundle) {
    BundleRow row = load_row(x);
    for (std::size_t r = 0; r < k_strip; ++r) subtract(row, strip[r], rows[r]);
    store_row(x, row);
  }
}

std::size_t strips(std::size_t nodes) {
  return (3 * nodes + k_strip - 1) / k_strip;
}
// Values of own strips before the one of this number.
std::size_t own_strip(std::size_t number) {
  return k_strip * k_strip * number * (number + 1) / 2;
}

}  // namespace

void SparseCholesky::store(const Piece& piece, const double* columns) {
  const std::size_t own = 3 * piece.own_nodes(), below = 3 * piece.below_nodes(), step = own + below;
  double* out = values_.get() + piece.values;
  // Rows from `row` on, of which there are `rows` before zeros follow; `width` columns, filled up from `own` on.
  const auto write = [&](std::size_t row, std::size_t row_end, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k, out += k_strip)
      for (std::size_t r = 0; r < k_strip; ++r) out[r] = k < own && row + r < row_end ? columns[row + r + k * step] : 0;
  };
  for (std::size_t s = 0; s < strips(piece.own_nodes()); ++s) {
    write(k_strip * s, own, k_strip * (s + 1));
    double* corner = out - k_strip * k_strip;
    for (std::size_t r = 0; r < k_strip; ++r) {
      double& diagonal = corner[r * k_strip + r];
      diagonal = k_strip * s + r < own ? 1 / diagonal : 1;
    }
  }
  for (std::size_t s = 0; s < strips(piece.below_nodes()); ++s)
    write(own + k_strip * s, own + below, k_strip * strips(piece.own_nodes()));
}

void SparseCholesky::solve_forward(const Piece& piece, double* x, double* below) const {
  const std::size_t own = strips(piece.own_nodes());
  double* own_rows = x + piece.first_row * k_bundle;
  const double* values = values_.get() + piece.values;
  for (std::size_t s = 0; s < own; ++s) {
    const double* strip = values + own_strip(s);
    StripRows rows = multiply_strip(strip, own_rows, k_strip * s, load_strip(own_rows + s * k_strip * k_bundle));
    const double* corner = strip + k_strip * k_strip * s;
    for (std::size_t r = 0; r < k_strip; ++r) {
      for (std::size_t k = 0; k < r; ++k) subtract(rows[r], corner[k * k_strip + r], rows[k]);
      for (Pair& value : rows[r]) value *= corner[r * k_strip + r];
    }
    store_strip(own_rows + s * k_strip * k_bundle, rows);
  }
  values += own_strip(own);
  for (std::size_t s = 0; s < strips(piece.below_nodes()); ++s, values += k_strip * k_strip * own) {
    store_strip(below + s * k_strip * k_bundle, multiply_strip(values, own_rows, k_strip * own, {}));
  }
  for (std::size_t i = piece.below_begin; i < piece.below_end; ++i, below += 3 * k_bundle) {
    double* target = x + row_[below_[i]] * k_bundle;
    for (std::size_t k = 0; k < 3 * k_bundle; ++k) target[k] += below[k];
  }
}

void SparseCholesky::solve_backward(const Piece& piece, double* x, double* below) const {
  const std::size_t own = strips(piece.own_nodes()), below_strips = strips(piece.below_nodes());
  std::fill_n(below + 3 * piece.below_nodes() * k_bundle, (k_strip * below_strips - 3 * piece.below_nodes()) * k_bundle,
              0.0);
  for (std::size_t i = piece.below_begin; i < piece.below_end; ++i)
    std::copy_n(x + row_[below_[i]] * k_bundle, 3 * k_bundle, below + (i - piece.below_begin) * 3 * k_bundle);
  double* own_rows = x + piece.first_row * k_bundle;
  const double* values = values_.get() + piece.values + own_strip(own);
  for (std::size_t s = 0; s < below_strips; ++s, values += k_strip * k_strip * own)
    multiply_transposed(values, own_rows, k_strip * own, load_strip(below + s * k_strip * k_bundle));
  for (std::size_t s = own; s-- > 0;) {
    const double* strip = values_.get() + piece.values + own_strip(s);
    const double* corner = strip + k_strip * k_strip * s;
    StripRows rows = load_strip(own_rows + s * k_strip * k_bundle);
    for (std::size_t r = k_strip; r-- > 0;) {
      for (Pair& value : rows[r]) value *= corner[r * k_strip + r];
      for (std::size_t k = 0; k < r; ++k) subtract(rows[k], corner[k * k_strip + r], rows[r]);
    }
    store_strip(own_rows + s * k_strip * k_bundle, rows);
    multiply_transposed(strip, own_rows, k_strip * s, rows);
  }
}

void SparseCholesky::solve(std::span<double> bundle) const {
  std::vector<double> x(rows_ * k_bundle), below(most_below_ * k_bundle);
  for (std::size_t i = 0; i < place_.size(); ++i)
    std::copy_n(bundle.data() + i * 3 * k_bundle, 3 * k_bundle, x.data() + row_[place_[i]] * k_bundle);
  for (const Piece& piece : pieces_) {
    throw_if_cancelled();
    solve_forward(piece, x.data(), below.data());
  }
  for (std::size_t p = pieces_.size(); p-- > 0;) {
    throw_if_cancelled();
    solve_backward(pieces_[p], x.data(), below.data());
  }
  for (std::size_t i = 0; i < place_.size(); ++i)
    std::copy_n(x.data() + row_[place_[i]] * k_bundle, 3 * k_bundle, bundle.data() + i * 3 * k_bundle);
}

}  // namespace cotouch
