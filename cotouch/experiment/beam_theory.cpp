#include <cotouch/experiment/beam_theory.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace cotouch {
namespace {

constexpr int k_steps = 2000;  // along the beam

using State = std::array<double, 4>;

// Runge and Kutta's rule of the fourth order from 0 to 1.
template <class Slope>
State integrate(State y, const Slope& slope) {
  constexpr double h = 1.0 / k_steps;
  const auto moved = [](const State& a, const State& by, double times) {
    State out = a;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += times * by[i];
    return out;
  };
  for (int i = 0; i < k_steps; ++i) {
    const State a = slope(y), b = slope(moved(y, a, h / 2)), c = slope(moved(y, b, h / 2)), d = slope(moved(y, c, h));
    for (std::size_t k = 0; k < y.size(); ++k) y[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
  }
  return y;
}

// Where a function changes its sign between two places at which it differs.
template <class Function>
double bisect(double low, double high, const Function& f) {
  const bool below = f(low) < 0;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    ((f(middle) < 0) == below ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double timoshenko_omega(const SquareBeam& beam, int n) {
  const double bending = beam.young * beam.inertia(), mass = beam.density * beam.area();
  const double shear_modulus = beam.young / (2 * (1 + beam.poisson));
  const double shear = shear_modulus * beam.area() * 10 * (1 + beam.poisson) / (12 + 11 * beam.poisson);
  const double l = beam.length;
  // Deflection w, turn t, moment M = E I t', force V = shear (w' - t); at the clamp w = t = 0.
  const auto end_of = [&](double omega, double moment, double force) {
    const double square = omega * omega;
    return integrate({0, 0, moment, force}, [&](const State& y) -> State {
      return {l * (y[1] + y[3] / shear), l * y[2] / bending,
              l * (-y[3] - beam.density * beam.inertia() * square * y[1]), -l * mass * square * y[0]};
    });
  };
  const auto left_over = [&](double omega) {
    const State by_moment = end_of(omega, 1, 0), by_force = end_of(omega, 0, 1);
    return by_moment[2] * by_force[3] - by_moment[3] * by_force[2];
  };
  // Frequencies are nowhere closer to each other than the first is to zero.
  const double step = 0.4 * 3.516 / (l * l) * std::sqrt(bending / mass);
  double low = 0.1 * step, at_low = left_over(low);
  for (int found = 0;;) {
    const double high = low + step, at_high = left_over(high);
    if ((at_low < 0) != (at_high < 0) && ++found == n) return bisect(low, high, left_over);
    low = high;
    at_low = at_high;
  }
}

}  // namespace cotouch
