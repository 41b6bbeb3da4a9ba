// The space in which modes are looked for: spanned by forces that were applied to a body over and over, each time
// replacing displacements by those that their inertia would cause.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/elastic/bundle.h>
#include <cotouch/elastic/eigen_symmetric.h>
#include <cotouch/elastic/fem_solver.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cotouch {

// A mass-orthonormal basis V of bundles V_0, V_1, ... and what the operator A = inverse(K) M does to it:
//   A V_j = V_j-1 B_j' + V_j A_j + V_j+1 B_j+1
class KrylovSpace {
 public:
  // A space without the fields of `kept_out`, mass-orthonormal bundles of eigenvectors that are known already. They
  // must live as long as this. `seed` says where the search starts.
  KrylovSpace(const FemSolver& solver, std::span<const std::vector<double>> kept_out, std::uint64_t seed);

  // Adds the next bundle. Calls `report` now and then, which may throw.
  void extend(const std::function<void()>& report);
  // Fields so far; some of the last bundle may be zero once the body's motions are exhausted.
  std::size_t size() const { return k_bundle * diagonal_.size(); }
  // Eigenvalues and vectors of A within the space: of the matrix of the A_j and B_j.
  SymmetricEigen eigen() const;
  // How far a field with these coordinates is from being an eigenvector: the length of A u - theta u.
  double residual(std::span<const double> coordinates) const;
  // The fields that have these coordinates, eight at a time.
  void combine(std::span<const std::span<const double>> coordinates, std::span<double> bundle) const;

 private:
  using Bundle = std::vector<double>;

  // W = Q R with Q orthonormal and orthogonal to the basis, to which W is nearly. Returns R.
  BundleMatrix make_next(Bundle& w, const std::function<void()>& report);
  // W = Q R with Q' M Q = I in place of W. Returns false, W untouched, if the fields are nearly dependent.
  bool orthonormalise(Bundle& w, BundleMatrix& r) const;
  // The same field by field, also against the basis and what is kept out. Fields that depend on others are replaced by
  // random ones.
  void orthonormalise_one_by_one(Bundle& w, BundleMatrix& r, const std::function<void()>& report);
  void remove_basis(Bundle& w, const std::function<void()>& report) const;
  Bundle times_mass(const Bundle& x) const;

  const FemSolver& solver_;
  std::span<const Bundle> kept_out_;
  Random random_;
  std::vector<Bundle> basis_;  // one more than diagonal_ has
  std::vector<BundleMatrix> diagonal_, beside_;
};

}  // namespace cotouch
