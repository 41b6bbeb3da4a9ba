// Static virtual coupling between the hand and the held object (paper 001, V; Wan & McNeely 2003).
//
// A spring pulls the simulated object towards the hand's pose: linear up to `max_force / linear_stiffness` minus a
// smooth knee, then saturated; likewise for torque, with the rotation vector of (hand * object^-1) as the displacement,
// so that large rotations are exact.
#pragma once

#include <cotouch/base/pose.h>

namespace cotouch {

struct CouplingSettings {
  double linear_stiffness = 1000;  // N/m
  double angular_stiffness = 1;    // N m/rad
  double max_force = 8;            // N
  double max_torque = 0.3;         // N m
};

struct CouplingResult {
  Wrench wrench;        // on the object, torque about the object's position; the hand feels its negative
  Mat6 gradient;        // d(wrench)/d(small motion of the object), exact
  Mat6 solve_gradient;  // the same with secant instead of tangent slope where saturated: never singular
};

CouplingResult couple(const CouplingSettings& settings, const Pose& hand, const Pose& object) noexcept;

}  // namespace cotouch
