#include <cotouch/device/simulated_device.h>

#include <cotouch/base/error.h>

#include <cmath>
#include <utility>

namespace cotouch {
namespace {

// One midpoint step of M dv/dt = drive + k (gap - h u / 2) + b_arm v_path - (b_arm + b) u - c u/|u|, solved for the
// middle velocity u. Friction takes up to h c out of the impulse and all of it where that stops the handle.
Vec3d middle_velocity(double mass, const Vec3d& velocity, const Vec3d& force, double stiffness, double damping,
                      double friction, double h) {
  const Vec3d impulse = velocity * (2 * mass) + force * h;
  const double size = norm(impulse);
  if (size <= h * friction) return {};
  return impulse * ((1 - h * friction / size) / (2 * mass + h * h * stiffness / 2 + h * damping));
}

double rounded(double value, double resolution) {
  return resolution > 0 ? std::floor(value / resolution + 0.5) * resolution : value;
}
Vec3d rounded(const Vec3d& v, double resolution) {
  return {rounded(v.x, resolution), rounded(v.y, resolution), rounded(v.z, resolution)};
}

bool is_possible(const DeviceDynamics& device, const ArmImpedance& arm) {
  const bool moves = device.mass + arm.mass > 0 && device.inertia + arm.inertia > 0;
  const bool ticks = device.period > 0 && device.substeps >= 1 && device.substeps <= 100000;
  bool lossy = true;  // nothing in device or arm may push by itself
  for (const double value : {device.mass, device.damping, device.friction, device.inertia, device.angular_damping,
                             device.angular_friction, device.resolution, device.angular_resolution, arm.mass,
                             arm.stiffness, arm.damping, arm.inertia, arm.angular_stiffness, arm.angular_damping})
    lossy = lossy && value >= 0 && std::isfinite(value);
  const bool timely =
      device.delay >= 0 && device.delay <= 8 * device.period && device.jitter >= 0 && device.jitter <= device.period;
  return moves && ticks && lossy && timely;
}

}  // namespace

DeviceLimits DeviceDynamics::limits() const noexcept {
  constexpr double k_half_millisecond = 0.5e-3;  // a ceiling is stated for 1 kHz
  return {motors, damping / (k_half_millisecond + delay), angular_damping / (k_half_millisecond + delay), delay, 5,
          100};
}

SimulatedDevice::SimulatedDevice(const DeviceDynamics& device, const ArmImpedance& arm, HandPath path,
                                 std::uint32_t body, const std::optional<DeviceLimits>& limits)
    : device_(device), arm_(arm), path_(std::move(path)), body_(body), limits_(limits.value_or(device.limits())) {
  if (!is_possible(device, arm))
    throw Error(
        "The simulated device cannot exist: give it some mass and inertia, no negative value, a delay of at most 8 "
        "periods and a jitter of at most one.");
  step_ = device.period / device.substeps;
  delay_steps_ = static_cast<std::uint64_t>(std::llround(device.delay / step_));
  start_ = pose_ = path_.at(0);
}

bool SimulatedDevice::read(DeviceReading& reading) noexcept {
  if (cycle_ > 0) pass_period();
  if (seconds(now_) > path_.duration()) return false;
  reading = {sampled()};
  reading.clock = cycle_;
  if (cycle_ == 0 && body_ != 0) {
    reading.action = HandInput::Action::grasp;
    reading.body = body_;
  }
  ++cycle_;
  return true;
}

double SimulatedDevice::seconds(std::uint64_t steps) const noexcept {
  const auto in_period = static_cast<std::uint64_t>(device_.substeps);
  return static_cast<double>(steps / in_period) * device_.period + static_cast<double>(steps % in_period) * step_;
}

void SimulatedDevice::pass_period() noexcept {
  history_[(cycle_ - 1) % k_history] = disabled_.load(std::memory_order_acquire) ? Wrench{} : commanded_.read();
  sampled_at_[(cycle_ - 1) % k_history] = now_;
  const auto in_period = static_cast<std::uint64_t>(device_.substeps);
  std::uint64_t next = cycle_ * in_period;  // the sample at the end of this period
  if (device_.jitter > 0) next += static_cast<std::uint64_t>(lateness_.uniform(0, device_.jitter) / step_);
  const double begin = seconds(now_);
  const double length = next - now_ == in_period ? device_.period : static_cast<double>(next - now_) * step_;
  const Pose from = path_.at(begin);
  const Pose to = path_.at(begin + length);
  // Within a period the place the hand wants moves evenly.
  const Vec6 drive{(to.position - from.position) / length,
                   rotation_vector(to.rotation * from.rotation.conjugate()) / length};
  for (int i = 0; now_ < next; ++i, ++now_) {
    // A command is in effect from its sample plus the delay on.
    while (in_effect_ < cycle_ && sampled_at_[in_effect_ % k_history] + delay_steps_ <= now_) ++in_effect_;
    Wrench commanded;
    if (in_effect_ > 0) commanded = history_[(in_effect_ - 1) % k_history];
    const Pose target = moved(from, {drive.linear * ((i + 0.5) * step_), drive.angular * ((i + 0.5) * step_)});
    const Vec6 gap{target.position - pose_.position, rotation_vector(target.rotation * pose_.rotation.conjugate())};
    pass_substep(commanded, gap, drive);
  }
}

void SimulatedDevice::pass_substep(const Wrench& commanded, const Vec6& gap, const Vec6& drive) noexcept {
  const double h = step_;
  const double mass = device_.mass + arm_.mass, inertia = device_.inertia + arm_.inertia;
  const Vec3d force = commanded.force + gap.linear * arm_.stiffness + drive.linear * arm_.damping;
  const Vec3d torque = commanded.torque + gap.angular * arm_.angular_stiffness + drive.angular * arm_.angular_damping;
  const Vec6 u{middle_velocity(mass, velocity_.linear, force, arm_.stiffness, arm_.damping + device_.damping,
                               device_.friction, h),
               middle_velocity(inertia, velocity_.angular, torque, arm_.angular_stiffness,
                               arm_.angular_damping + device_.angular_damping, device_.angular_friction, h)};
  // Where friction holds the handle the velocity is zero, not mirrored, and what motion was left is lost to it.
  const bool held = u.linear == Vec3d{}, angular_held = u.angular == Vec3d{};
  if (held) energy_.dissipated += 0.5 * device_.mass * norm_squared(velocity_.linear);
  if (angular_held) energy_.dissipated += 0.5 * device_.inertia * norm_squared(velocity_.angular);
  velocity_ = {held ? Vec3d{} : u.linear * 2.0 - velocity_.linear,
               angular_held ? Vec3d{} : u.angular * 2.0 - velocity_.angular};
  pose_ = moved(pose_, {u.linear * h, u.angular * h});

  energy_.from_environment += h * (dot(commanded.force, u.linear) + dot(commanded.torque, u.angular));
  energy_.dissipated +=
      h * (device_.damping * norm_squared(u.linear) + device_.friction * norm(u.linear) +
           device_.angular_damping * norm_squared(u.angular) + device_.angular_friction * norm(u.angular));
  energy_.kinetic =
      0.5 * (device_.mass * norm_squared(velocity_.linear) + device_.inertia * norm_squared(velocity_.angular));
  energy_.from_hand = energy_.kinetic + energy_.dissipated - energy_.from_environment;
}

Pose SimulatedDevice::sampled() const noexcept {
  const Vec3d turn = rotation_vector(pose_.rotation * start_.rotation.conjugate());
  return {rounded(pose_.position, device_.resolution),
          normalized(quat_from_rotation_vector(rounded(turn, device_.angular_resolution)) * start_.rotation)};
}

}  // namespace cotouch
