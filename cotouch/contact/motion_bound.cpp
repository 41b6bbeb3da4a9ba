#include <cotouch/contact/motion_bound.h>

#include <limits>

namespace cotouch {

void MotionBound::add(double distance) noexcept {
  // Round up: a clock that loses small steps would stand still once it shows a large number.
  const double next = clock_ + distance;
  clock_ = next - clock_ < distance ? std::nextafter(next, std::numeric_limits<double>::infinity()) : next;
}

void MotionBound::restart(double distance) noexcept {
  add(distance);
  started_ = false;
}

double MotionBound::advance(const Pose& relative) noexcept {
  const Vec3d center = transform(relative, center_);
  if (started_ && !(center == last_center_ && relative.rotation == last_rotation_)) {
    const Quat turn = relative.rotation * last_rotation_.conjugate();
    const double chord = 2 * norm(Vec3d{turn.x, turn.y, turn.z});
    // The last term covers rounding in the products above, which is relative to the numbers' size, not the motion's.
    const double size = std::fabs(center.x) + std::fabs(center.y) + std::fabs(center.z) + radius_;
    add((norm(center - last_center_) + chord * radius_) * (1 + 0x1p-16) + size * 0x1p-46);
  }
  started_ = true;
  last_center_ = center;
  last_rotation_ = relative.rotation;
  return clock_;
}

}  // namespace cotouch
