// The few dense kernels that finite elements need.
//
// Their bits enter files that peers compare, so nothing is fused and every element of a result is summed in one order
// that depends on the sizes alone: not on the machine, the width of its vectors or the number of its cores. Libraries
// for linear algebra promise no such thing.
#pragma once

#include <cstddef>

namespace cotouch {

// A matrix to read: element (i, j) is at data[i * row_step + j * column_step].
struct ConstDense {
  const double* data = nullptr;
  std::size_t rows = 0, columns = 0, row_step = 1, column_step = 0;

  ConstDense transposed() const { return {data, columns, rows, column_step, row_step}; }
  ConstDense block(std::size_t i, std::size_t j, std::size_t block_rows, std::size_t block_columns) const {
    return {data + i * row_step + j * column_step, block_rows, block_columns, row_step, column_step};
  }
};

// A matrix to write, column after column: element (i, j) is at data[i + j * column_step].
struct Dense {
  double* data = nullptr;
  std::size_t rows = 0, columns = 0, column_step = 0;

  Dense(double* values, std::size_t row_count, std::size_t column_count)
      : Dense(values, row_count, column_count, row_count) {}
  Dense(double* values, std::size_t row_count, std::size_t column_count, std::size_t step)
      : data(values), rows(row_count), columns(column_count), column_step(step) {}

  double& operator()(std::size_t i, std::size_t j) const { return data[i + j * column_step]; }
  Dense block(std::size_t i, std::size_t j, std::size_t block_rows, std::size_t block_columns) const {
    return {data + i + j * column_step, block_rows, block_columns, column_step};
  }
  operator ConstDense() const { return {data, rows, columns, 1, column_step}; }
  ConstDense transposed() const { return ConstDense(*this).transposed(); }
};

enum class Half { both, lower };  // lower: only elements (i, j) with i >= j are read and written

// C += factor A B; with `factor` 1 or -1 the product is not rounded once more. The sum over k goes upwards, in runs of
// 256 that are each summed from zero and then added to C. C must not overlap A or B.
// C += A' A is add_product(c, 1, a.transposed(), a, Half::lower).
void add_product(const Dense& c, double factor, const ConstDense& a, const ConstDense& b, Half half = Half::both);

// Cholesky's factor of the first columns of a symmetric matrix of which the lower triangle is given: on return the
// columns hold L with L L' = A there. `columns` may have more rows than columns. Returns false if the matrix is not
// positive definite (or not finite); the columns are then spoilt.
[[nodiscard]] bool cholesky_columns(const Dense& columns);

}  // namespace cotouch
