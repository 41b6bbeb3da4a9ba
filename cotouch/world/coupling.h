// Static virtual coupling between the hand and the held object (paper 001, V; Wan & McNeely 2003).
//
// A spring pulls the simulated object towards the hand's pose. Its displacement is
//   x     = hand.position - object.position           (metres, world axes)
//   theta = log(R_hand R_object^T), |theta| <= pi     (rotation vector, world axes)
// and its pull is m(|x|) along x and, with constants of its own, m(|theta|) along theta:
//   m(r) = k r                          up to three quarters of the maximum M,
//   then a parabola that meets the line with slope k and M with slope 0 at r = 5/4 M/k,
//   then M.
// Both pulls are gradients of a potential of |x| and |theta|, so the coupling itself stores energy and makes none.
// The force lies along the line between the two positions, so its torque about either is the same: the wrench on the
// hand, about the hand's position, is exactly the negative of the wrench on the object, about the object's position.
//
// Turning the object by a small dw changes theta by -J dw with the inverse right Jacobian of the rotation group
//   J(theta) = 1 + [theta]x / 2 + (1 / t^2 - cot(t / 2) / (2 t)) [theta]x^2,   t = |theta|,
// exact for every rotation below half a turn. At half a turn the shorter way round changes sides and the torque with
// it; nothing but a blocked object gets there.
#pragma once

#include <cotouch/base/pose.h>

namespace cotouch {

struct CouplingSettings {
  double linear_stiffness = 1000;  // N/m
  double angular_stiffness = 1;    // N m/rad
  double max_force = 8;            // N
  double max_torque = 0.3;         // N m
  double damping = 1;              // of a body that is held with its mass, over the critical one; not felt, only brakes
};

struct CouplingResult {
  Wrench wrench;        // on the object, torque about the object's position; the hand feels its negative
  Mat6 gradient;        // d(wrench)/d(small motion of the object), exact
  Mat6 solve_gradient;  // the same with secant instead of tangent slope where saturated: never singular
};

CouplingResult couple(const CouplingSettings& settings, const Pose& hand, const Pose& object) noexcept;

// The energy stored in the coupling, joules.
double coupling_energy(const CouplingSettings& settings, const Pose& hand, const Pose& object) noexcept;

}  // namespace cotouch
