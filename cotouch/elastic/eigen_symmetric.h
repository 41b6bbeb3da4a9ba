// All eigenvalues and eigenvectors of a small dense symmetric matrix, the same bits on every machine: Householder's
// reduction to tridiagonal form, then QL steps with implicit shifts (Wilkinson & Reinsch 1971).
#pragma once

#include <cstddef>
#include <vector>

namespace cotouch {

struct SymmetricEigen {
  std::vector<double> values;   // ascending
  std::vector<double> vectors;  // orthonormal, one after another in the order of the values
};

// `matrix`: n x n, column after column, both triangles. Throws Error if its numbers are not finite.
SymmetricEigen eigen_symmetric(std::vector<double> matrix, std::size_t n);

}  // namespace cotouch
