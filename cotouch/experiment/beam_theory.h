// What theory says about the vibrations of a cantilever. How far one bends is in elastica.h.
#pragma once

namespace cotouch {

// A bar of square cross-section, clamped at one end.
struct SquareBeam {
  double length = 0.4, side = 0.02;                        // metres
  double young = 1e6, poisson = 0.3, density = 1000;       // Pa, -, kg/m^3
  double area() const { return side * side; }              // m^2
  double inertia() const { return area() * area() / 12; }  // of the cross-section, m^4
  double mass() const { return area() * length * density; }
};

// The n-th bending vibration, n from 1, rad/s, after Timoshenko: cross-sections turn and shear as well. Shear counts
// with Cowper's factor for rectangles, 10 (1 + nu) / (12 + 11 nu). Thinner beams vibrate as Euler and Bernoulli say, (b
// / L)^2 sqrt(E I / (rho A)) with b = 1.875, 4.694, ... Found by integrating the four equations of first order along
// the beam, from the clamp on, and searching for the frequencies at which neither moment nor force is left at the end.
double timoshenko_omega(const SquareBeam& beam, int n);

}  // namespace cotouch
