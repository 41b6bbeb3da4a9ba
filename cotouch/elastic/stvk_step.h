// Moves a reduced St. Venant-Kirchhoff body by one time step:  q'' + C q' + f(q) = load,  where the mass is one (shapes
// are mass-orthonormal) and C = a 1 + b K(q) is Rayleigh's damping.
//
// Newmark's rule with beta = 1/4 and gamma = 1/2, in the mean velocity w of the step h:
//   q+ = q + h w,  v+ = 2 w - v,  2 (w - v) / h = load - C w - (f(q) + f(q+)) / 2,
// with the load and C held over the step. Newton's iteration starts from what is known at q, so nothing but q and v is
// carried from step to step, and with one Newton step W and its derivatives are computed once.
//
// For small vibrations (K constant, the squares of the frequencies o its eigenvalues) the rule is stable for any h, a
// and b; the energy changes by -h w'Cw exactly; a vibration has the frequency 2/h atan(o h / 2). What is too fast for
// the step is not lost: it changes its sign from step to step and hardly moves the body.
// For large ones, a single Newton step without damping changes the energy by what the tangent leaves out of it,
//   W'''(q) : dq^3 / 6 + W4(dq),   dq = q+ - q.
// With W''' at the middle of the step that is W''' : dq^3 / 6 - W4(dq). The second term is never positive. The first
// terms of many steps add up to the change of h^2/6 (v'Kv + f'f), because that is what W''' : v^3 is the slope of along
// a motion v' = -f: the energy goes up and down a little and never away. All this holds as long as strains change
// little within a step; bodies that are flung about at a step of 10 ms need shorter ones.
#pragma once

#include <cotouch/elastic/packed_ldl.h>
#include <cotouch/elastic/stvk_polynomials.h>

#include <array>
#include <cstdint>
#include <span>

namespace cotouch {

struct StvkStep {
  double time_step = 1e-3;       // h, s
  double mass_damping = 0;       // a, 1/s
  double stiffness_damping = 0;  // b, s
  std::uint32_t newton_steps = 1;
};

// Working memory; what is in it between steps does not matter.
struct StvkScratch {
  using Vector = std::array<double, StvkPolynomials::k_most>;
  using Matrix = std::array<double, packed_size(StvkPolynomials::k_most)>;
  Vector force, end_force, mean_velocity, residual, end;
  Matrix tangent, end_tangent, system;
};

// Changes q (sqrt(kg) m) and v (sqrt(kg) m/s) of the body, `load` being the force on each coordinate (N / sqrt(kg));
// each has body.size() numbers. Where the body would yield so fast that the step is not defined, it yields more slowly.
// Returns false, and changes nothing, if the motion is too violent to be computed (not finite).
bool step_stvk(const StvkPolynomials& body, const StvkStep& settings, std::span<const double> load, std::span<double> q,
               std::span<double> v, StvkScratch& scratch) noexcept;

}  // namespace cotouch
