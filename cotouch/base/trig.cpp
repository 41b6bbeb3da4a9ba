#include <cotouch/base/trig.h>

#include <cmath>

namespace cotouch {
namespace {

// Taylor series on [-pi/4, pi/4]; the first dropped term is below 5e-17.
double small_sin(double x) {
  const double y = x * x;
  double sum = 0;
  for (int n = 17; n >= 3; n -= 2) sum = -(1.0 + sum) * y / (n * (n - 1));
  return x + x * sum;
}

double small_cos(double x) {
  const double y = x * x;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = -(1.0 + sum) * y / (n * (n - 1));
  return 1.0 + sum;
}

}  // namespace

SinCos sin_cos(double angle) noexcept {
  // pi/2 in two parts, the first exact in 33 bits, so that subtracting a whole number of quarters loses nothing.
  constexpr double k_quarter_high = 1.57079632673412561417;
  constexpr double k_quarter_low = 6.07710050650619224932e-11;
  if (!(std::fabs(angle) < 1e9)) return {0, 1};  // not an angle; a defined answer instead of an undefined conversion
  const double quarters = std::floor(angle * (2.0 / k_pi) + 0.5);
  const double rest = (angle - quarters * k_quarter_high) - quarters * k_quarter_low;
  const double s = small_sin(rest);
  const double c = small_cos(rest);
  switch (static_cast<long long>(quarters) & 3) {
    case 0: return {s, c};
    case 1: return {c, -s};
    case 2: return {-s, -c};
    default: return {-c, s};
  }
}

double angle_of(double s, double c) noexcept {
  const double length = std::sqrt(s * s + c * c);
  if (!(length > 0)) return 0;
  s /= length;
  c /= length;
  // A guess within 0.01 rad (a rational fit of the arctangent on [0, 1]), then one step that solves for the
  // remaining sine and is exact to its fifth power.
  const double big = std::fmax(std::fabs(s), std::fabs(c));
  const double t = std::fmin(std::fabs(s), std::fabs(c)) / big;
  double guess = t / (1.0 + 0.28 * t * t);
  if (std::fabs(s) > std::fabs(c)) guess = k_pi / 2 - guess;
  if (c < 0) guess = k_pi - guess;
  if (s < 0) guess = -guess;
  for (int step = 0; step < 2; ++step) {
    const SinCos at = sin_cos(guess);
    const double rest = s * at.cos - c * at.sin;
    guess += rest * (1.0 + rest * rest / 6.0);
  }
  return guess;
}

}  // namespace cotouch
