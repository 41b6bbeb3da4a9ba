// How far anything on a shell has moved relative to a field, at most, since the start: the clock of temporal coherence.
//
// The paper (001, III) predicts the earliest cycle of contact from a largest velocity that the scene is assumed never
// to exceed. Measuring the motion instead needs no such assumption: a ball that was free by a slack g when the clock
// stood at M stays free while the clock is below M + g, whatever the hand does.
#pragma once

#include <cotouch/base/pose.h>

namespace cotouch {

class MotionBound {
 public:
  MotionBound() = default;
  // Every point that matters lies within `radius` of `center`, in the frame whose poses are given to `advance`.
  MotionBound(const Vec3d& center, double radius) : center_(center), radius_(radius) {}

  // The next pose of the shell in the field's frame. Returns the clock, in metres. Two poses are compared by the motion
  // of the centre plus the chord 2 sin(angle / 2) times the radius.
  double advance(const Pose& relative) noexcept;
  // As if everything had moved by `distance` to a pose that is not known.
  void restart(double distance) noexcept;
  // Back to zero, as newly made.
  void reset() noexcept {
    clock_ = 0;
    started_ = false;
  }
  double clock() const noexcept { return clock_; }

 private:
  void add(double distance) noexcept;

  Vec3d center_;
  double radius_ = 0;
  double clock_ = 0;
  bool started_ = false;
  Vec3d last_center_;
  Quat last_rotation_;
};

}  // namespace cotouch
