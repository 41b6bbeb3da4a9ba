#include <cotouch/session/hand_device.h>

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

void HandDevice::hold(std::uint32_t body, const Vec3d& point) noexcept {
  const std::uint32_t grip = wish_.grip + 1;
  wish_ = {};
  wish_.held = true;
  wish_.grip = grip;
  wish_.body = body;
  wish_.point = point;
  wishes_.write(wish_);
}

void HandDevice::release() noexcept {
  wish_.held = false;
  wish_.has_pose = false;
  wish_.buttons = 0;
  wishes_.write(wish_);
}

void HandDevice::move(const Pose& wanted, std::uint32_t buttons, std::uint32_t sequence) noexcept {
  if (!wish_.held) return;
  wish_.has_pose = true;
  wish_.pose = wanted;
  wish_.buttons = buttons;
  wish_.sequence = sequence;
  wishes_.write(wish_);
}

Pose HandDevice::start_of(const Wish& wish) const noexcept {
  const TouchWorld* world = world_.load(std::memory_order_acquire);
  const auto body = world != nullptr ? world->model().index_of(wish.body) : std::nullopt;
  if (!body) return pose_;
  const Pose& pose = world->state().bodies()[*body].pose;
  return {transform(pose, wish.point), pose.rotation};
}

bool HandDevice::read(DeviceReading& reading) noexcept {
  const Wish& wish = wishes_.read();
  applied_.store(wish.sequence, std::memory_order_relaxed);
  if (!wish.held) return false;
  reading = {};
  if (wish.grip != grip_) {
    pose_ = start_of(wish);
    reading.action = HandInput::Action::grasp;
    reading.body = wish.body;
  }
  grip_ = wish.grip;
  taken_.store(grip_, std::memory_order_release);
  if (wish.has_pose) {
    const double share = std::min(1.0, settings_.period / settings_.smoothing);
    pose_ =
        glide(pose_, wish.pose, share, settings_.max_speed * settings_.period, settings_.max_turn * settings_.period);
  }
  reading.pose = pose_;
  reading.buttons = wish.buttons;
  return true;
}

}  // namespace cotouch
