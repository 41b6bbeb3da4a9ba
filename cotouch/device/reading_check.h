// Whether what a device reads can be true. A driver that crashed, a loose cable or a wrong encoder go on giving poses,
// and a spring to a wrong pose pulls with all its force.
//
// Wrong are: numbers that are not finite, rotations that are none, a way since the last good reading that no hand goes
// in that time (DeviceLimits::speed, plus 1 mm and 0.01 rad for the encoders' steps), and a driver's clock that stands
// still for k_standing_seconds. A hand that rests is none of these: its pose stays and the clock goes on.
//
// After a wrong reading a device counts as faulty until its readings have agreed with each other for
// k_settling_seconds; meanwhile the world keeps the last good pose and the force fades to zero. Time is what the loop
// says has passed, so a loop without a clock and a replay judge alike.
#pragma once

#include <cotouch/device/device.h>

namespace cotouch {

inline constexpr double k_standing_seconds = 0.015;  // noticed within 20 ms, also by a loop that misses a few periods
inline constexpr double k_settling_seconds = 0.1;

class ReadingCheck {
 public:
  // Judges a reading that came `passed` seconds after the last one. While the device is not sound the pose becomes the
  // last good one, and it takes hold of nothing. Returns whether the device is sound.
  bool take(DeviceReading& reading, const DeviceLimits& limits, double passed) noexcept;
  // The device was away: what comes next is compared with nothing.
  void forget() noexcept { *this = {}; }
  // False until there was a good pose: then there is nothing to give to the world.
  bool has_pose() const noexcept { return has_good_; }

 private:
  bool agrees(const DeviceReading& reading, const DeviceLimits& limits, double passed) noexcept;

  bool has_last_ = false, has_good_ = false;
  Pose last_;  // read, finite
  Pose good_;  // given to the world
  std::optional<std::uint64_t> clock_;
  double standing_ = 0;  // s since the clock last went on
  double suspect_ = 0;   // s until the device is trusted again
};

}  // namespace cotouch
