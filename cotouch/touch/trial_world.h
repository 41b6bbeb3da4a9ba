// A world to try a device in: a floor, a ball and a place that slows the hand down, each in closed form.
//
// Nothing is prepared, so that it begins at once, and what should be felt is known: on the floor (z < 0) and in the
// ball K times the depth, in the damper -B times the velocity. K is half of what the device renders passively, so that
// it does not shake in anybody's hand, and softens as every world does when cycles come late. All of it lies within 5
// cm of the middle, which the smallest of common devices reach.
#pragma once

#include <cotouch/device/device.h>
#include <cotouch/touch/touch_world.h>

#include <atomic>

namespace cotouch {

class TrialWorld final : public TouchWorld {
 public:
  static constexpr Vec3d k_ball_center{0.03, 0, 0.03}, k_damper_center{-0.03, 0, 0.03};
  static constexpr double k_ball_radius = 0.015, k_damper_half = 0.015;  // m; the damper is a cube
  static constexpr double k_damping = 2;                                 // N s/m
  static constexpr double k_most_stiffness = 1000;                       // N/m

  explicit TrialWorld(const DeviceLimits& device, double period = 1e-3);

  void cycle(std::span<const HandInput> devices) noexcept override;

  double stiffness() const noexcept { return model().settings().coupling.linear_stiffness; }
  // For any thread: the largest force so far of each, N.
  double most_from_floor() const noexcept { return floor_.load(std::memory_order_relaxed); }
  double most_from_ball() const noexcept { return ball_.load(std::memory_order_relaxed); }
  double most_from_damper() const noexcept { return damper_.load(std::memory_order_relaxed); }

 private:
  bool was_there_ = false;
  Vec3d last_, velocity_;
  std::atomic<double> floor_{0}, ball_{0}, damper_{0};
};

}  // namespace cotouch
