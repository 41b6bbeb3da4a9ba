#include <cotouch/device/page_device.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_period = 1e-3;     // seconds between reads
constexpr double k_smoothing = 0.02;  // seconds
constexpr double k_max_turn = 8;      // rad/s

}  // namespace

Pose glide(const Pose& from, const Pose& to, double share, double max_step, double max_turn) noexcept {
  Vec3d step = (to.position - from.position) * share;
  Vec3d turn = rotation_vector(to.rotation * from.rotation.conjugate()) * share;
  const double length = norm(step), angle = norm(turn);
  if (length > max_step) step = step * (max_step / length);
  if (angle > max_turn) turn = turn * (max_turn / angle);
  const Pose next = moved(from, {step, turn});
  return is_finite(next) ? next : from;
}

void PageDevice::hold(std::uint32_t body, const Vec3d& point) noexcept {
  const std::uint32_t grip = order_.grip + 1;
  order_ = {};
  order_.held = true;
  order_.grip = grip;
  order_.body = body;
  order_.point = point;
  orders_.write(order_);
}

void PageDevice::release() noexcept {
  order_.held = false;
  order_.has_pose = false;
  order_.buttons = 0;
  orders_.write(order_);
}

void PageDevice::move(const Pose& wanted, std::uint32_t buttons, std::uint32_t sequence) noexcept {
  if (!order_.held) return;
  order_.has_pose = true;
  order_.pose = wanted;
  order_.buttons = buttons;
  order_.sequence = sequence;
  orders_.write(order_);
}

bool PageDevice::read(DeviceReading& reading) noexcept {
  const Order& order = orders_.read();
  applied_.store(order.sequence, std::memory_order_relaxed);
  if (!order.held) return false;
  reading = {};
  if (order.grip != grip_) {
    pose_ = start_at(order.body, order.point, pose_);
    reading.action = HandInput::Action::grasp;
    reading.body = order.body;
  }
  grip_ = order.grip;
  taken_.store(grip_, std::memory_order_release);
  if (order.has_pose) {
    constexpr double k_share = k_period / k_smoothing;
    pose_ = glide(pose_, order.pose, k_share, max_speed_ * k_period, k_max_turn * k_period);
  }
  reading.pose = pose_;
  reading.buttons = order.buttons;
  return true;
}

}  // namespace cotouch
