#include <cotouch/serve/viewer_device.h>

#include <algorithm>

namespace cotouch {

Pose glide(const Pose& from, const Pose& to, double share, double max_step, double max_turn) noexcept {
  Vec3d step = (to.position - from.position) * share;
  Vec3d turn = rotation_vector(to.rotation * from.rotation.conjugate()) * share;
  const double length = norm(step), angle = norm(turn);
  if (length > max_step) step = step * (max_step / length);
  if (angle > max_turn) turn = turn * (max_turn / angle);
  const Pose next = moved(from, {step, turn});
  return is_finite(next) ? next : from;
}

void ViewerDevice::attach(const HeldObject& object, const ViewerDeviceSettings& settings) noexcept {
  object_ = &object;
  settings_ = settings;
  pose_ = object.pose();
}

void ViewerDevice::hold() noexcept {
  const std::uint32_t grip = wish_.grip + 1;
  wish_ = {};
  wish_.held = true;
  wish_.grip = grip;
  wishes_.write(wish_);
}

void ViewerDevice::release() noexcept {
  wish_.held = false;
  wish_.has_pose = false;
  wish_.buttons = 0;
  wishes_.write(wish_);
}

void ViewerDevice::move(const Pose& wanted, std::uint32_t buttons, std::uint32_t sequence) noexcept {
  if (!wish_.held) return;
  wish_.has_pose = true;
  wish_.pose = wanted;
  wish_.buttons = buttons;
  wish_.sequence = sequence;
  wishes_.write(wish_);
}

bool ViewerDevice::read(DeviceReading& reading) noexcept {
  const Wish& wish = wishes_.read();
  if (!wish.held || wish.grip != grip_) pose_ = object_->pose();
  grip_ = wish.grip;
  if (wish.held && wish.has_pose) {
    const double share = std::min(1.0, settings_.period / settings_.smoothing);
    pose_ =
        glide(pose_, wish.pose, share, settings_.max_speed * settings_.period, settings_.max_turn * settings_.period);
  }
  applied_.store(wish.sequence, std::memory_order_relaxed);
  reading.pose = pose_;
  reading.buttons = wish.buttons;
  return true;
}

}  // namespace cotouch
