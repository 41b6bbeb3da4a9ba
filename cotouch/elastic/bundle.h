// Eight fields at once. They lie side by side, value k of field i at [8 k + i], so that what is read for one of them,
// such as a matrix, serves all.
#pragma once

#include <cotouch/elastic/fem.h>
#include <cotouch/elastic/pair.h>
#include <cotouch/elastic/shapes.h>

#include <array>
#include <cstddef>
#include <span>

namespace cotouch {

constexpr std::size_t k_bundle = 8;

// One value of each field, in registers.
using BundleRow = std::array<Pair, k_bundle / 2>;
// Numbers for each pair of fields of two bundles: (i, j) at [8 i + j].
using BundleMatrix = std::array<double, k_bundle * k_bundle>;

inline BundleRow load_row(const double* from) {
  BundleRow row;
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = load_pair(from + 2 * i);
  return row;
}
inline void store_row(double* to, const BundleRow& row) {
  for (std::size_t i = 0; i < row.size(); ++i) store_pair(to + 2 * i, row[i]);
}
// row -= factor * other
inline void subtract(BundleRow& row, double factor, const BundleRow& other) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] -= other[i] * factor;
}

// A' B: the products of each field of one bundle with each of the other.
BundleMatrix products(std::span<const double> a, std::span<const double> b);
// B -= A H: takes combinations of the fields of A off those of B.
void subtract_combinations(std::span<double> b, std::span<const double> a, const BundleMatrix& h);

// Between fields of all nodes of a mesh, from number `first` on, and a bundle over the system's unknowns. Fields of the
// bundle beyond `count` become zero; nodes that are anchored too.
void gather(const Shapes& from, std::size_t first, std::size_t count, const FemSystem& system, std::span<double> to);
void scatter(std::span<const double> from, const FemSystem& system, Shapes& to, std::size_t first, std::size_t count);

// y = K x and y = M x over the system's unknowns.
void multiply_stiffness_bundle(const FemSystem& system, std::span<const double> x, std::span<double> y);
void multiply_mass_bundle(const FemSystem& system, std::span<const double> x, std::span<double> y);

}  // namespace cotouch
