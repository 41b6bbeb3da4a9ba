// Moves a reduced St. Venant-Kirchhoff body by one time step h:  q'' + C q' + f(q) = load,  where the mass is one
// (shapes are mass-orthonormal) and C = a 1 + b K(q) is Rayleigh's damping. The load and C are held over the step.
//
// A Rosenbrock method: the equation is made linear about the step's beginning, where f and K are computed, once. Its
// exact solution would be multiplied by exp(z) along a motion that grows like exp(t z / h); the method multiplies by
//   R(z) = (1 + (1 - 2 g) z) / (1 - g z)^2,   g = 1 - sqrt(1/2),
// which is Alexander's (1977): accurate to the second order, with half the error in frequency of the trapezoidal rule
// (Newmark's with beta = 1/4, gamma = 1/2), and |R| < 1 for everything that exp(z) does not let grow, going to zero for
// what is much too fast for the step. The trapezoidal rule lets that ring from step to step, for ever without damping;
// a steel bar that is plucked by a few centimetres then gains energy until it is lost at h = 1 ms. Slow vibrations
// lose little: those of the angular frequency o 0.0037 (o h)^4 of their amplitude in a step.
//
// Energy. The linear equation has the energy of W's expansion to the second order, which a step without damping never
// raises (K being positive definite). So the true one grows at most by what the expansion leaves out,
//   W'''(q) : dq^3 / 6 + W4(dq),   dq = the step's change of q.
// With W''' at the middle of the step that is W''' : dq^3 / 6 - W4(dq). The second term is never positive. The first
// terms of many steps add up to the change of h^2/6 (v'Kv + f'f), because that is what W''' : v^3 is the slope of along
// a motion v' = -f: the energy may go up and down a little, never away.
#pragma once

#include <cotouch/elastic/packed_ldl.h>
#include <cotouch/elastic/stvk_polynomials.h>

#include <array>
#include <span>

namespace cotouch {

struct StvkStep {
  double time_step = 1e-3;       // h, s
  double mass_damping = 0;       // a, 1/s
  double stiffness_damping = 0;  // b, s
};

// Working memory; what is in it between steps does not matter.
struct StvkScratch {
  using Vector = std::array<double, StvkPolynomials::k_most>;
  using Matrix = std::array<double, packed_size(StvkPolynomials::k_most)>;
  Vector force, velocity, acceleration;
  Matrix tangent, system;
};

// Changes q (sqrt(kg) m) and v (sqrt(kg) m/s) of the body, `load` being the force on each coordinate (N / sqrt(kg));
// each has body.size() numbers. A body that gives way so fast that the step cannot follow is slowed down. Returns
// false, and changes nothing, if the motion is too violent to be computed.
bool step_stvk(const StvkPolynomials& body, const StvkStep& settings, std::span<const double> load, std::span<double> q,
               std::span<double> v, StvkScratch& scratch) noexcept;

}  // namespace cotouch
