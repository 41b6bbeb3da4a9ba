// A hand motion through key poses: straight between them, at rest in each (minimum jerk, as people reach).
#pragma once

#include <cotouch/base/pose.h>

#include <vector>

namespace cotouch {

class HandPath {
 public:
  // A segment takes as long as its length needs at `mean_speed` (m/s) or its turn at `mean_turn` (rad/s),
  // whichever is longer; a pause in the motion is a key pose repeated.
  explicit HandPath(std::vector<Pose> keys, double mean_speed = 0.05, double mean_turn = 1.0);

  const std::vector<Pose>& keys() const noexcept { return keys_; }
  const std::vector<double>& ends() const noexcept { return ends_; }  // when each segment ends, seconds
  double duration() const noexcept { return ends_.empty() ? 0 : ends_.back(); }
  // The hand's pose at a time in seconds; held at the first and last key outside [0, duration].
  Pose at(double seconds) const noexcept;

 private:
  std::vector<Pose> keys_;
  std::vector<double> ends_;
};

// Straight in position, constant turn about one axis in rotation.
Pose interpolate(const Pose& a, const Pose& b, double t) noexcept;

}  // namespace cotouch
