#include <cotouch/elastic/krylov.h>

#include <cotouch/base/cancel.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

// C = A B
BundleMatrix multiply(const BundleMatrix& a, const BundleMatrix& b) {
  BundleMatrix c{};
  for (std::size_t i = 0; i < k_bundle; ++i)
    for (std::size_t k = 0; k < k_bundle; ++k)
      for (std::size_t j = 0; j < k_bundle; ++j) c[k_bundle * i + j] += a[k_bundle * i + k] * b[k_bundle * k + j];
  return c;
}

BundleMatrix transposed(const BundleMatrix& a) {
  BundleMatrix t;
  for (std::size_t i = 0; i < k_bundle; ++i)
    for (std::size_t j = 0; j < k_bundle; ++j) t[k_bundle * i + j] = a[k_bundle * j + i];
  return t;
}

}  // namespace

KrylovSpace::KrylovSpace(const FemSolver& solver, std::span<const Bundle> kept_out, std::uint64_t seed)
    : solver_(solver), kept_out_(kept_out), random_(seed) {
  Bundle start(solver.system().unknowns() * k_bundle);
  for (double& value : start) value = random_.uniform(-1, 1);
  solver_.remove_rigid(start);
  remove_basis(start, [] {});
  make_next(start, [] {});
  basis_.push_back(std::move(start));
}

KrylovSpace::Bundle KrylovSpace::times_mass(const Bundle& x) const {
  Bundle y(x.size());
  multiply_mass_bundle(solver_.system(), x, y);
  return y;
}

void KrylovSpace::remove_basis(Bundle& w, const std::function<void()>& report) const {
  const Bundle mass = times_mass(w);
  for (const Bundle& v : kept_out_) subtract_combinations(w, v, products(v, mass));
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    throw_if_cancelled();
    if (i % 16 == 0) report();
    subtract_combinations(w, basis_[i], products(basis_[i], mass));
  }
}

bool KrylovSpace::orthonormalise(Bundle& w, BundleMatrix& r) const {
  // Cholesky's factor of W' M W is R'.
  const BundleMatrix gram = products(w, times_mass(w));
  BundleMatrix inverse{};
  r = {};
  for (std::size_t j = 0; j < k_bundle; ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      double sum = gram[k_bundle * i + j];
      for (std::size_t k = 0; k < i; ++k) sum -= r[k_bundle * k + i] * r[k_bundle * k + j];
      // Beyond this the second round, which repairs what rounding did in the first, would not have enough digits.
      if (i == j && !(sum > 1e-10 * gram[k_bundle * j + j])) return false;
      r[k_bundle * i + j] = i == j ? std::sqrt(sum) : sum / r[k_bundle * i + i];
    }
  }
  // The negative inverse of R, column by column.
  for (std::size_t j = 0; j < k_bundle; ++j) {
    inverse[k_bundle * j + j] = -1 / r[k_bundle * j + j];
    for (std::size_t i = j; i-- > 0;) {
      double sum = 0;
      for (std::size_t k = i + 1; k <= j; ++k) sum += r[k_bundle * i + k] * inverse[k_bundle * k + j];
      inverse[k_bundle * i + j] = -sum / r[k_bundle * i + i];
    }
  }
  Bundle q(w.size(), 0.0);
  subtract_combinations(q, w, inverse);
  w = std::move(q);
  return true;
}

void KrylovSpace::orthonormalise_one_by_one(Bundle& w, BundleMatrix& r, const std::function<void()>& report) {
  const std::size_t rows = w.size() / k_bundle;
  r = {};
  Bundle q(w.size(), 0.0);
  for (std::size_t j = 0; j < k_bundle; ++j) {
    Bundle one(w.size(), 0.0);
    for (std::size_t k = 0; k < rows; ++k) one[k * k_bundle + j] = w[k * k_bundle + j];
    const auto square = [&] { return products(one, times_mass(one))[k_bundle * j + j]; };
    const auto remove_others = [&](bool record) {
      for (int round = 0; round < 2; ++round) {
        remove_basis(one, report);
        const BundleMatrix h = products(q, times_mass(one));
        subtract_combinations(one, q, h);
        for (std::size_t i = 0; i < j && record; ++i) r[k_bundle * i + j] += h[k_bundle * i + j];
      }
    };
    const double before = square();
    remove_others(true);
    double after = square();
    if (after > 1e-24 * before) {
      r[k_bundle * j + j] = std::sqrt(after);
    } else {
      // Nothing new. A random field takes its place, to which the operator's result has no part; none if the basis
      // spans all motions of the body already.
      for (std::size_t k = 0; k < rows; ++k) one[k * k_bundle + j] = random_.uniform(-1, 1);
      solver_.remove_rigid(one);
      const double random_square = square();
      remove_others(false);
      after = square();
      if (!(after > 1e-20 * random_square)) continue;
    }
    const double scale = 1 / std::sqrt(after);
    for (std::size_t k = 0; k < rows; ++k) q[k * k_bundle + j] = one[k * k_bundle + j] * scale;
  }
  w = std::move(q);
}

void KrylovSpace::extend(const std::function<void()>& report) {
  const Bundle& last = basis_.back();
  Bundle w = times_mass(last);
  const Bundle last_mass = w;
  solver_.solve(w);
  report();
  if (basis_.size() > 1) subtract_combinations(w, basis_[basis_.size() - 2], transposed(beside_.back()));
  BundleMatrix a = products(last_mass, w);
  subtract_combinations(w, last, a);
  // Symmetric up to rounding.
  for (std::size_t i = 0; i < k_bundle; ++i)
    for (std::size_t j = 0; j < i; ++j)
      a[k_bundle * i + j] = a[k_bundle * j + i] = (a[k_bundle * i + j] + a[k_bundle * j + i]) / 2;
  diagonal_.push_back(a);

  // By theory W is orthogonal to the whole basis and to what is kept out now; rounding is seen to there.
  beside_.push_back(make_next(w, report));
  basis_.push_back(std::move(w));
}

BundleMatrix KrylovSpace::make_next(Bundle& w, const std::function<void()>& report) {
  BundleMatrix r;
  if (!orthonormalise(w, r)) {
    orthonormalise_one_by_one(w, r, report);
    return r;
  }
  remove_basis(w, report);
  BundleMatrix second;
  if (!orthonormalise(w, second)) orthonormalise_one_by_one(w, second, report);
  return multiply(second, r);
}

SymmetricEigen KrylovSpace::eigen() const {
  const std::size_t n = size();
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t block = 0; block < diagonal_.size(); ++block)
    for (std::size_t i = 0; i < k_bundle; ++i)
      for (std::size_t j = 0; j < k_bundle; ++j) {
        const std::size_t column = block * k_bundle + j, row = block * k_bundle + i;
        matrix[row + column * n] = diagonal_[block][k_bundle * i + j];
        if (block + 1 == diagonal_.size()) continue;
        matrix[row + k_bundle + column * n] = matrix[column + (row + k_bundle) * n] = beside_[block][k_bundle * i + j];
      }
  return eigen_symmetric(std::move(matrix), n);
}

double KrylovSpace::residual(std::span<const double> coordinates) const {
  const std::span<const double> last = coordinates.last(k_bundle);
  double square = 0;
  for (std::size_t i = 0; i < k_bundle; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < k_bundle; ++j) sum += beside_.back()[k_bundle * i + j] * last[j];
    square += sum * sum;
  }
  return std::sqrt(square);
}

void KrylovSpace::combine(std::span<const std::span<const double>> coordinates, std::span<double> bundle) const {
  std::fill(bundle.begin(), bundle.end(), 0.0);
  for (std::size_t block = 0; block < diagonal_.size(); ++block) {
    BundleMatrix h{};
    for (std::size_t j = 0; j < coordinates.size(); ++j)
      for (std::size_t i = 0; i < k_bundle; ++i) h[k_bundle * i + j] = -coordinates[j][block * k_bundle + i];
    subtract_combinations(bundle, basis_[block], h);
  }
}

}  // namespace cotouch
