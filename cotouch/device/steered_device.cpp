#include <cotouch/device/steered_device.h>

#include <cotouch/device/page_device.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_period = 1e-3;     // seconds between reads
constexpr double k_crossings = 0.5;   // of the scene's size a second, at the stop
constexpr double k_turn = 1.5;        // rad/s, at the stop
constexpr double k_smoothing = 0.02;  // seconds
constexpr double k_leash = 0.25;      // of the scene's size
constexpr double k_leash_turn = 1.0;  // rad
constexpr double k_at_rest = 0.02;    // below this share of the stop
constexpr auto k_rest = std::chrono::milliseconds(500);
constexpr std::uint32_t k_patience = 250;  // cycles without news

bool is_moved(const Deflection& cap) {
  return norm(cap.push) > k_at_rest || norm(cap.turn) > k_at_rest;
}

}  // namespace

SteeredDevice::SteeredDevice(std::unique_ptr<SteeringSource> source)
    : source_(std::move(source)), name_(source_->name()) {
}

void SteeredDevice::hold(std::uint32_t body, const Vec3d& point) noexcept {
  steering_.held = true;
  steering_.grip += 1;
  steering_.body = body;
  steering_.point = point;
  newest_.write(steering_);
}

void SteeredDevice::release() noexcept {
  steering_.held = false;
  newest_.write(steering_);
}

HandRequest SteeredDevice::request_at(Clock::time_point now) noexcept {
  if (!steering_.gone) steering_.gone = !source_->poll(steering_.cap);
  if (steering_.gone) steering_.cap = {};
  steering_.news += 1;
  newest_.write(steering_);
  const bool moved = is_moved(steering_.cap);
  if (moved) used_ = now;
  if (moved && !steering_.held) return {HandRequest::Kind::take};
  if (!moved && steering_.held && now - used_ > k_rest) return {HandRequest::Kind::let_go};
  return {};
}

void SteeredDevice::lead(const Steering& steering) noexcept {
  unheard_ = steering.news == heard_ ? std::min(unheard_ + 1, k_patience) : 0;
  heard_ = steering.news;
  const Deflection still;
  const Deflection& cap = unheard_ < k_patience ? steering.cap : still;
  constexpr double k_share = k_period / k_smoothing;
  speed_.linear = speed_.linear + (cap.push * (k_crossings * size_) - speed_.linear) * k_share;
  speed_.angular = speed_.angular + (cap.turn * k_turn - speed_.angular) * k_share;
  const Pose wanted = moved(pose_, {speed_.linear * k_period, speed_.angular * k_period});
  const std::optional<Pose> body = pose_of(steering.body);
  pose_ = body ? glide(*body * grip_in_body_, wanted, 1, k_leash * size_, k_leash_turn) : wanted;
}

bool SteeredDevice::read(DeviceReading& reading) noexcept {
  const Steering& steering = newest_.read();
  if (!steering.held || steering.gone) return false;
  reading = {};
  if (steering.grip != grip_) {
    pose_ = start_at(steering.body, steering.point, pose_);
    grip_in_body_ = {steering.point, {}};
    speed_ = {};
    reading.action = HandInput::Action::grasp;
    reading.body = steering.body;
  }
  grip_ = steering.grip;
  taken_.store(grip_, std::memory_order_release);
  lead(steering);
  reading.pose = pose_;
  reading.buttons = steering.cap.buttons;
  return true;
}

}  // namespace cotouch
