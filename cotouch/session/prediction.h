// Where a remote hand will be, while its inputs are on their way.
//
// A peer's world runs ahead of what it knows of the others. Until an input arrives a predicted one stands in for it,
// and if the two differ in any bit the world goes back and takes the steps again.
//
// With x the newest known pose and h how many ticks lie ahead of it:
//   hold                 x
//   linear               x + h (x - the pose before it)
//
// Rotations are predicted by their rotation vector relative to the newest known rotation, world axes.
#pragma once

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
  double jitter_ = 0;
  Tick newest_tick_ = -1;
  HandInput newest_;
  Vec6 step_;  // motion during the newest tick
};

}  // namespace cotouch
