#include <cotouch/touch/trial_world.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_smoothing = 5e-3;  // s, of the velocity: a step of the encoder in a millisecond is 3 cm/s

// No bodies: what is felt is computed here. The coupling says how stiff it is, by which the loop softens.
std::shared_ptr<const WorldModel> trial_model(const DeviceLimits& device, double period) {
  WorldSettings settings;
  settings.tick = period;
  settings.hands = 1;
  settings.coupling.linear_stiffness = std::min(TrialWorld::k_most_stiffness, device.stiffness / 2);
  settings.coupling.angular_stiffness = 0;
  return std::make_shared<const WorldModel>(std::vector<BodyModel>{}, settings);
}

void keep_largest(std::atomic<double>& largest, const Vec3d& force) noexcept {
  largest.store(std::max(largest.load(std::memory_order_relaxed), norm(force)), std::memory_order_relaxed);
}

Vec3d from_ball(const Vec3d& hand, double stiffness) noexcept {
  const Vec3d out = hand - TrialWorld::k_ball_center;
  const double distance = norm(out);
  if (distance >= TrialWorld::k_ball_radius) return {};
  const Vec3d direction = distance > 0 ? out / distance : Vec3d{0, 0, 1};
  return direction * (stiffness * (TrialWorld::k_ball_radius - distance));
}

bool in_damper(const Vec3d& hand) noexcept {
  const Vec3d from = hand - TrialWorld::k_damper_center;
  return std::max({std::fabs(from.x), std::fabs(from.y), std::fabs(from.z)}) < TrialWorld::k_damper_half;
}

}  // namespace

TrialWorld::TrialWorld(const DeviceLimits& device, double period)
    : TouchWorld(trial_model(device, period), StepDetail{}) {
}

void TrialWorld::cycle(std::span<const HandInput> devices) noexcept {
  HandRecord& hand = state().hands()[0];
  hand.felt = {};
  hand.present = !devices.empty() && devices[0].present ? 1 : 0;
  if (hand.present == 0) {
    was_there_ = false;
    return;
  }
  hand.pose = devices[0].pose;
  const Vec3d& position = hand.pose.position;
  const double period = model().settings().tick, share = detail().stiffness[0];
  if (!was_there_) last_ = position, velocity_ = {};
  was_there_ = true;
  velocity_ += ((position - last_) / period - velocity_) * (period / (period + k_smoothing));
  last_ = position;

  const double stiffness = this->stiffness() * share;
  const Vec3d floor{0, 0, stiffness * std::max(0.0, -position.z)};
  const Vec3d ball = from_ball(position, stiffness);
  const Vec3d damper = in_damper(position) ? velocity_ * (-k_damping * share) : Vec3d{};
  keep_largest(floor_, floor);
  keep_largest(ball_, ball);
  keep_largest(damper_, damper);
  hand.felt.force = floor + ball + damper;
}

}  // namespace cotouch
