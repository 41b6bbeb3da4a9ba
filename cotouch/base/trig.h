// Sine, cosine and angle from plain arithmetic, so that results do not depend on the C library.
//
// libm's sin, cos and atan2 round differently between versions and architectures; the world must not.
// Accurate to about 2e-16 for |angle| < 1e5.
#pragma once

namespace cotouch {

struct SinCos {
  double sin, cos;
};

inline constexpr double k_pi = 3.14159265358979323846;

SinCos sin_cos(double angle) noexcept;

// The angle in (-pi, pi] whose sine and cosine are proportional to (s, c); zero where both are zero.
double angle_of(double s, double c) noexcept;

}  // namespace cotouch
