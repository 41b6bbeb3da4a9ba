// Modal warping (Choi & Ko 2005, as paper 000, 4.2, uses it): what makes linear modes bend instead of grow.
//
// At a material point the modes give a linear displacement y and a rotation vector w, half the curl of that
// displacement. If the point's surroundings turn evenly from nothing to w while it moves along y as they see it, it
// ends at
//   u = R~ y,   R~(w) = integral of exp(t [w]x) for t from 0 to 1 = 1 + A [w]x + B [w]x^2,
//   A = (1 - cos t) / t^2,   B = (1 - sin t / t) / t^2,   t = |w|,
// and what was there has turned by exp([w]x). |u| <= |y|, and R~ changes by at most half of what w changes by: bounds
// of linear displacements bound warped ones.
#pragma once

#include <cotouch/base/pose.h>

namespace cotouch {

// R~(w) y.
Vec3d warped(const Vec3d& y, const Vec3d& w) noexcept;

// How R~(w) y changes with y and with w.
struct WarpGradient {
  Mat3 by_displacement;  // R~
  Mat3 by_rotation;      // d(R~ y)/dw
};
WarpGradient warp_gradient(const Vec3d& y, const Vec3d& w) noexcept;

// The turn of exp([w + dw]x) against exp([w]x) is turn_gradient(w) dw, for a small dw. (The left Jacobian of the
// rotation group, which is R~ itself.)
Mat3 turn_gradient(const Vec3d& w) noexcept;

}  // namespace cotouch
