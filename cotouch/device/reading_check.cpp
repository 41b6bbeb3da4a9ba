#include <cotouch/device/reading_check.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_step = 1e-3, k_turn_step = 1e-2;  // metres and radians that are never a jump

}  // namespace

bool ReadingCheck::agrees(const DeviceReading& reading, const DeviceLimits& limits, double passed) noexcept {
  const bool goes_on = !reading.clock || reading.clock != clock_;
  clock_ = reading.clock;
  standing_ = goes_on ? 0 : standing_ + passed;
  if (!is_finite(reading.pose) || !is_rotation(reading.pose.rotation)) return false;
  const bool is_first = !has_last_;
  const Vec3d way = reading.pose.position - last_.position;
  const Vec3d turn = rotation_vector(reading.pose.rotation * last_.rotation.conjugate());
  has_last_ = true;
  last_ = reading.pose;
  const bool in_reach =
      norm(way) <= limits.speed * passed + k_step && norm(turn) <= limits.turn_speed * passed + k_turn_step;
  return (is_first || in_reach) && standing_ < k_standing_seconds;
}

bool ReadingCheck::take(DeviceReading& reading, const DeviceLimits& limits, double passed) noexcept {
  suspect_ = agrees(reading, limits, passed) ? std::max(0.0, suspect_ - passed) : k_settling_seconds;
  if (suspect_ > 0) {
    reading.pose = good_;
    if (reading.action == HandInput::Action::grasp) reading.action = HandInput::Action::none;
    return false;
  }
  has_good_ = true;
  good_ = reading.pose;
  return true;
}

}  // namespace cotouch
