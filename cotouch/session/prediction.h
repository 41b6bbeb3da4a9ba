// Where a remote hand will be, while its inputs are on their way.
//
// A peer's world runs ahead of what it knows of the others. Until an input arrives a predicted one stands in for it,
// and if the two differ in any bit the world goes back and takes the steps again.
//
// With x the newest known pose and h how many ticks lie ahead of it:
//   hold                 x
//   linear               x + h (x - the pose before it)
//   kalman_velocity      x + the displacement that a filter of constant velocity expects
//   kalman_acceleration  the same with constant acceleration
// motion_filter.h says how the filters keep from overshooting, which the one of paper 004 did at grasps, releases,
// sudden turns and rapid movements (section 5.2). A hand that takes hold or lets go starts from rest. A hand whose pose
// did not change for four ticks is predicted exactly as it is, whatever the kind, so that resting hands cause no
// rollback.
//
// Rotations are predicted by their rotation vector relative to the newest known rotation, world axes.
#pragma once

#include <cotouch/session/motion_filter.h>
#include <cotouch/session/tick.h>
#include <cotouch/world/input.h>

namespace cotouch {

enum class Prediction : std::uint8_t { hold, linear, kalman_velocity, kalman_acceleration };

class HandPredictor {
 public:
  HandPredictor(Prediction kind, double tick_seconds) noexcept;

  // Inputs as they become known: in the order of their ticks, each once, none left out.
  void observe(Tick tick, const HandInput& input) noexcept;
  // For ticks after the newest known one. Quantised as inputs are, without an action. An absent hand before the first
  // input.
  HandInput predict(Tick tick) const noexcept;
  // How unevenly inputs arrive, seconds (one standard deviation).
  void set_jitter(double seconds) noexcept;

 private:
  Prediction kind_;
  double tick_seconds_;
  Tick newest_tick_ = -1;
  HandInput newest_;
  Vec6 step_;  // motion during the newest tick
  MotionFilter linear_, angular_;
};

}  // namespace cotouch
