// With y = (q, v), the linear equation y' = J y + ..., its value F at the beginning and s = g h, the method is
//   (1 - s J) k1 = F,   (1 - s J) k2 = k1,   y+ = y + s k1 + (h - s) k2.
// Eliminating the positions leaves two systems with the matrix A = (1 + s a) 1 + s (b + s) K:
//   A V = v + s (load - f)                      V = v + s (acceleration of k1), which is the velocity of k1 too
//   A (B + V / (b + s)) = (V - v) / s + (1 + s a) V / (b + s)         B = the acceleration of k2
//   v+ = V + (h - s) B,   q+ = q + h V + s (h - s) B.
// The products with K that the elimination brings are written as products with A. So a multiple of 1 that is added to A
// acts as a stiffness that is added to the body and pulls it to where it is: it slows the body down and cannot drive
// it.
#include <cotouch/elastic/stvk_step.h>

#include <cmath>
#include <cstdint>

namespace cotouch {
namespace {

double square(std::span<const double> x) noexcept {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

// Solves in place. Returns false if the answer is more than twice as long as it would be without stiffness: the matrix
// is almost singular.
bool solve_bounded(std::span<const double> factors, double mass, std::span<double> x) noexcept {
  const double before = square(x);
  solve_packed(factors, x.size(), x);
  return square(x) * mass * mass <= 4 * before;
}

}  // namespace

bool step_stvk(const StvkPolynomials& body, const StvkStep& settings, std::span<const double> load, std::span<double> q,
               std::span<double> v, StvkScratch& scratch) noexcept {
  const std::size_t n = body.size();
  const double h = settings.time_step, a = settings.mass_damping, b = settings.stiffness_damping;
  const double s = (1 - std::sqrt(0.5)) * h, mass = 1 + s * a;
  const auto numbers = [n](StvkScratch::Vector& array) { return std::span<double>(array).first(n); };
  const auto matrix = [n](StvkScratch::Matrix& array) { return std::span<double>(array).first(packed_size(n)); };
  const auto force = numbers(scratch.force), velocity = numbers(scratch.velocity),
             acceleration = numbers(scratch.acceleration);
  const auto tangent = matrix(scratch.tangent), system = matrix(scratch.system);
  body.evaluate(q, force, tangent);

  const auto solve = [&](double added) {
    for (std::size_t i = 0; i < system.size(); ++i) system[i] = s * (b + s) * tangent[i];
    for (std::size_t i = 0, diagonal = 0; i < n; diagonal += n - i, ++i) system[diagonal] += mass + added;
    if (!factor_packed(system, n, mass / 2)) return false;
    for (std::size_t i = 0; i < n; ++i) velocity[i] = v[i] + s * (load[i] - force[i]);
    if (!solve_bounded(system, mass, velocity)) return false;
    for (std::size_t i = 0; i < n; ++i) acceleration[i] = (velocity[i] - v[i]) / s + mass * velocity[i] / (b + s);
    if (!solve_bounded(system, mass, acceleration)) return false;
    for (std::size_t i = 0; i < n; ++i) acceleration[i] -= velocity[i] / (b + s);
    return true;
  };
  constexpr double k_most_added = 1e12;  // times the mass
  double added = 0;
  while (!solve(added)) {
    added = added > 0 ? 8 * added : mass;
    if (!(added < k_most_added * mass)) return false;
  }

  for (std::size_t i = 0; i < n; ++i) {
    v[i] = velocity[i] + (h - s) * acceleration[i];
    q[i] += h * velocity[i] + s * (h - s) * acceleration[i];
  }
  return true;
}

}  // namespace cotouch
