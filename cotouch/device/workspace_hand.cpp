#include <cotouch/device/workspace_hand.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

MotorLimits scaled(const MotorLimits& motors, double force, double torque) noexcept {
  return {motors.peak_force * force, motors.continuous_force * force, motors.peak_torque * torque,
          motors.continuous_torque * torque, motors.heating_seconds};
}

}  // namespace

WorkspaceHand::WorkspaceHand(std::unique_ptr<Device> device) : device_(std::move(device)) {
  fit({});
}

void WorkspaceHand::fit(const SceneExtent& scene) noexcept {
  const double reach = device_->workspace().reach;
  const double wanted = reach > 0 ? scene.size / 2 / reach : 1;
  fit(scene, std::clamp(wanted, 1.0, k_largest_scale));
}

void WorkspaceHand::fit(const SceneExtent& scene, double scale) noexcept {
  scale_.store(scale, std::memory_order_relaxed);
  origin_ = {};
  anchor_ = tip_ = {scene.center, {}};
  clutched_ = false;
}

DeviceLimits WorkspaceHand::limits() const noexcept {
  const DeviceLimits own = device_->limits();
  const double s = scale(), g = force_share(s), l = torque_share(s);
  return {scaled(own.motors, 1 / g, 1 / l),
          own.stiffness / (g * s),
          own.angular_stiffness / l,
          own.delay,
          own.speed * s,
          own.turn_speed};
}

void WorkspaceHand::hold(std::uint32_t body, const Vec3d& /*point*/) noexcept {
  order_ = {true, order_.grip + 1, body};
  orders_.write(order_);
}

void WorkspaceHand::release() noexcept {
  order_.held = false;
  orders_.write(order_);
}

HandRequest WorkspaceHand::request() noexcept {
  const Asked& asked = buttons_.read();
  const bool pressed = std::exchange(answered_, asked.presses) != asked.presses;
  if (pressed && asked.down) return {HandRequest::Kind::take, asked.at};
  if (!asked.down && order_.held) return {HandRequest::Kind::let_go};
  return {};
}

Pose WorkspaceHand::mapped(const Pose& handle) const noexcept {
  return {anchor_.position + (handle.position - origin_.position) * scale(),
          handle.rotation * origin_.rotation.conjugate() * anchor_.rotation};
}

// What cannot be true is passed on as it is, for the loop to judge, and nothing is begun anew from it.
void WorkspaceHand::follow_clutch(const Pose& handle, bool down) noexcept {
  if (!is_finite(handle)) return;
  if (clutched_) {
    origin_ = handle;
    anchor_ = tip_;
  }
  clutched_ = down;
  if (!down) tip_ = mapped(handle);
}

void WorkspaceHand::notice_button(bool down) noexcept {
  if (down == asked_.down) return;
  asked_.down = down;
  asked_.presses += down ? 1 : 0;
  asked_.at = tip_.position;
  buttons_.write(asked_);
}

bool WorkspaceHand::read(DeviceReading& reading) noexcept {
  DeviceReading own;
  const bool there = device_->read(own);
  there_.store(there, std::memory_order_release);
  if (!there) {
    notice_button(false);
    held_ = false;
    return false;
  }
  follow_clutch(own.pose, (own.buttons & k_clutch_button) != 0);
  notice_button((own.buttons & k_grasp_button) != 0);
  const Order& order = orders_.read();
  reading = {};
  reading.pose = is_finite(own.pose) ? (clutched_ ? tip_ : mapped(own.pose)) : own.pose;
  reading.buttons = own.buttons;
  reading.clock = own.clock;
  if (order.held && order.grip != grip_) {
    reading.action = HandInput::Action::grasp;
    reading.body = order.body;
    held_ = true;
  } else if (!order.held && held_) {
    reading.action = HandInput::Action::release;
    held_ = false;
  }
  grip_ = order.grip;
  taken_.store(grip_, std::memory_order_release);
  // The button counts at once: the session may be busy and let go only later.
  reading.motors = held_ && asked_.down && !clutched_ ? own.motors : Motors::off;
  return true;
}

}  // namespace cotouch
