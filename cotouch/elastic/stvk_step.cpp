#include <cotouch/elastic/stvk_step.h>

#include <cmath>

namespace cotouch {
namespace {

// y := y + s A x for a packed matrix.
void add_packed_product(std::span<double> y, double s, const double* a, std::span<const double> x) noexcept {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; a += n - i, ++i) {
    const double x_i = s * x[i];
    double sum = a[0] * x[i];
    for (std::size_t j = i + 1; j < n; ++j) {
      sum += a[j - i] * x[j];
      y[j] += a[j - i] * x_i;
    }
    y[i] += s * sum;
  }
}

}  // namespace

bool step_stvk(const StvkPolynomials& body, const StvkStep& settings, std::span<const double> load, std::span<double> q,
               std::span<double> v, StvkScratch& scratch) noexcept {
  const std::size_t n = body.size(), packed = packed_size(n);
  const double h = settings.time_step, a = settings.mass_damping, b = settings.stiffness_damping;
  const auto numbers = [n](StvkScratch::Vector& array) { return std::span<double>(array).first(n); };
  const auto matrix = [packed](StvkScratch::Matrix& array) { return std::span<double>(array).first(packed); };
  const auto force = numbers(scratch.force), end_force = numbers(scratch.end_force), w = numbers(scratch.mean_velocity),
             residual = numbers(scratch.residual), end = numbers(scratch.end);
  const auto tangent = matrix(scratch.tangent), end_tangent = matrix(scratch.end_tangent),
             system = matrix(scratch.system);
  body.evaluate(q, force, tangent);

  // The residual is w - v + h/2 (C w + (f(q) + f(q+)) / 2 - load) with its sign changed. At w = 0 the step ends where
  // it begins.
  for (std::size_t k = 0; k < n; ++k) {
    w[k] = 0;
    residual[k] = v[k] + h / 2 * (load[k] - force[k]);
  }
  const double mass = 1 + h / 2 * a;
  for (std::uint32_t i = 0;; ++i) {
    const auto stiffness = i == 0 ? tangent : end_tangent;
    for (std::size_t k = 0; k < packed; ++k) system[k] = h / 2 * b * tangent[k] + h * h / 4 * stiffness[k];
    for (std::size_t k = 0, diagonal = 0; k < n; diagonal += n - k, ++k) system[diagonal] += mass;
    factor_packed(system, n, mass / 2);  // however the body yields, half its mass at least resists
    solve_packed(system, n, residual);
    for (std::size_t k = 0; k < n; ++k) w[k] += residual[k];
    if (i + 1 >= settings.newton_steps) break;

    for (std::size_t k = 0; k < n; ++k) end[k] = q[k] + h * w[k];
    body.evaluate(end, end_force, end_tangent);
    for (std::size_t k = 0; k < n; ++k)
      residual[k] = v[k] - mass * w[k] - h / 2 * ((force[k] + end_force[k]) / 2 - load[k]);
    add_packed_product(residual, -h / 2 * b, tangent.data(), w);
  }

  for (std::size_t k = 0; k < n; ++k)
    if (!std::isfinite(q[k] + h * w[k]) || !std::isfinite(2 * w[k] - v[k])) return false;
  for (std::size_t k = 0; k < n; ++k) {
    q[k] += h * w[k];
    v[k] = 2 * w[k] - v[k];
  }
  return true;
}

}  // namespace cotouch
