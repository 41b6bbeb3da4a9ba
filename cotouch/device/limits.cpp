#include <cotouch/device/limits.h>

#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

constexpr auto k_patience = std::chrono::milliseconds(500);  // with a driver that does not come back
constexpr double k_warm = 0.75;                              // the heat from which on the ceiling sinks

// The largest magnitude first: squaring 1e200 overflows, and a wrench may be anything.
Vec3d cut(const Vec3d& v, double limit) {
  const double largest = std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)});
  if (!(largest > 0) || !(limit > 0)) return {};
  const Vec3d direction = v / largest;
  const double length = norm(direction);  // in [1, sqrt(3)]
  return largest * length > limit ? direction * (limit / length) : v;
}

// Without a rate there is no way to follow, and what is on must not stay on: zero.
Vec3d approach(const Vec3d& from, const Vec3d& to, double rate, double seconds) {
  if (!(rate > 0)) return {};
  return from + cut(to - from, rate * seconds);
}

// A driver's numbers: one that is none, or below zero, allows nothing.
DeviceLimits sound(DeviceLimits limits) {
  MotorLimits& m = limits.motors;
  for (double* value : {&m.peak_force, &m.continuous_force, &m.peak_torque, &m.continuous_torque, &m.heating_seconds})
    if (!(std::isfinite(*value) && *value >= 0)) *value = 0;
  m.continuous_force = std::min(m.continuous_force, m.peak_force);
  m.continuous_torque = std::min(m.continuous_torque, m.peak_torque);
  for (double* value : {&limits.stiffness, &limits.angular_stiffness, &limits.speed, &limits.turn_speed})
    if (!(*value >= 0)) *value = 0;
  // Without one the coupling softens most when cycles come late.
  if (!(std::isfinite(limits.delay) && limits.delay >= 0)) limits.delay = 0;
  return limits;
}

// Rounding may add a little at each step. What is no number is not within anything. As in cut(), nothing overflows.
bool is_within(const Vec3d& v, double limit) {
  const double largest = std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)});
  const double most = std::max(0.0, limit) * (1 + 1e-9) + 1e-12;
  return largest <= most && (largest == 0 || norm(v / largest) <= most / largest);
}

// Motors that would be warm after a few periods have no peak.
bool has_peak(double heating_seconds, double period) {
  return heating_seconds / period > 100;
}

double ceiling(double peak, double continuous, double heat, bool peaks) {
  if (!peaks) return continuous;
  return peak + (continuous - peak) * std::clamp((heat - k_warm) / (1 - k_warm), 0.0, 1.0);
}

// After `given` was on for `seconds`; see the header for why cooling takes at least a hundred steps.
double warmed(double heat, const Vec3d& given, double continuous, double heating_seconds, double seconds) {
  if (!(continuous > 0)) return 1;
  const double towards = norm_squared(given) / (continuous * continuous);
  const double steps = std::max(towards > heat ? 1.0 : 100.0, heating_seconds / seconds);
  return std::max(0.0, heat + (towards - heat) / steps);
}

}  // namespace

DeviceLimits ForceLimiter::limits_of(const Device& device) noexcept {
  return sound(device.limits());
}

ForceLimiter::ForceLimiter(Device& device, const LimitSettings& settings)
    : device_(device), limits_(limits_of(device)), settings_(settings), passed_(settings.period) {
  if (device.has_limiter_.exchange(true, std::memory_order_acq_rel))
    throw Error(
        "The device '" + device.name() + "' is in use already, or its driver hangs. Only one loop can serve it.",
        ErrorCode::busy);
  state_.force_heat = device.force_heat_;
  state_.torque_heat = device.torque_heat_;
  release();
}

ForceLimiter::~ForceLimiter() {
  if (abandoned_.load(std::memory_order_acquire)) return;
  const auto end = std::chrono::steady_clock::now() + k_patience;
  while (!try_enter()) {
    if (std::chrono::steady_clock::now() > end) {
      disable();  // and the device stays claimed: somebody is still inside
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!silent_) let_go();
  warm_up(settings_.period);
  device_.force_heat_ = state_.force_heat;
  device_.torque_heat_ = state_.torque_heat;
  device_.has_limiter_.store(false, std::memory_order_release);
}

void ForceLimiter::let_pass(double seconds) noexcept {
  passed_ = seconds > 0 ? seconds : 0;
  warm_up(passed_);
}

void ForceLimiter::warm_up(double seconds) noexcept {
  const MotorLimits& m = limits_.motors;
  if (!held_) return;
  const bool peaks = has_peak(m.heating_seconds, settings_.period);
  double &force = state_.force_heat, &torque = state_.torque_heat;
  force = peaks ? warmed(force, held_->force, m.continuous_force, m.heating_seconds, seconds) : 1;
  torque = peaks ? warmed(torque, held_->torque, m.continuous_torque, m.heating_seconds, seconds) : 1;
  held_.reset();
}

ForceLimiter::Written ForceLimiter::write(const Wrench& wanted) noexcept {
  return write(wanted, false);
}

ForceLimiter::Written ForceLimiter::fade_out(const Wrench& wanted) noexcept {
  return write(wanted, true);
}

ForceLimiter::Written ForceLimiter::write(const Wrench& wanted, bool fades_out) noexcept {
  if (abandoned_.load(std::memory_order_acquire) || is_disabled() || !try_enter()) return {{}, Motors::off};
  warm_up(settings_.period);  // unless let_pass has done so
  const double passed = std::exchange(passed_, settings_.period);
  Wrench target = wanted;
  if (!is_finite(target.force) || !is_finite(target.torque)) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    target = {};
  }
  double& ramp = state_.ramp;
  Motors motors = Motors::fading;
  if (fades_out) {
    ramp -= passed / k_fade_out_seconds;
  } else {
    motors = ramp > 0 ? Motors::on : Motors::restarted;
    const double rising = ramp > 0 ? passed : std::min(passed, settings_.period);
    ramp = settings_.ramp_seconds > 0 ? std::min(1.0, ramp + rising / settings_.ramp_seconds) : 1.0;
  }
  if (!(ramp > 1e-9)) {  // what ten steps of a tenth leave is rounding
    let_go();
    leave();
    return {{}, Motors::off};
  }
  const MotorLimits& m = limits_.motors;
  const bool peaks = has_peak(m.heating_seconds, settings_.period);
  const double force =
      std::min(settings_.max_force, ceiling(m.peak_force, m.continuous_force, state_.force_heat, peaks));
  const double torque =
      std::min(settings_.max_torque, ceiling(m.peak_torque, m.continuous_torque, state_.torque_heat, peaks));
  target = {cut(target.force, force) * ramp, cut(target.torque, torque) * ramp};
  Wrench& last = state_.last;
  last = {approach(last.force, target.force, settings_.force_rate, passed),
          approach(last.torque, target.torque, settings_.torque_rate, passed)};
  // Whatever happens above: this is the only way to the motors.
  const bool sound = is_within(last.force, std::min(settings_.max_force, m.peak_force)) &&
                     is_within(last.torque, std::min(settings_.max_torque, m.peak_torque));
  if (!sound) let_go();  // before anything else: where nobody watches, this program ends here
  if (!invariant(sound, k_force_invariant)) {
    let_go();
    leave();
    return {{}, Motors::off};
  }
  held_ = last;
  silent_ = false;
  device_.write(LimitedWrench(last));
  // A driver that hung may come back long after: then nothing here is certain to be alive but this limiter.
  Written written{last, motors};
  if (abandoned_.load(std::memory_order_acquire) || is_disabled()) {
    last = {};
    ramp = 0;
    held_.reset();  // its power was cut while it hung, so it did not hold this for as long as it hung
    written = {{}, Motors::off};
  }
  leave();
  return written;
}

void ForceLimiter::rest() noexcept {
  state_.last = {};
  state_.ramp = 0;
  silent_ = true;
}

void ForceLimiter::let_go() noexcept {
  rest();
  if (!is_disabled()) device_.write(LimitedWrench(state_.last));
}

bool ForceLimiter::release() noexcept {
  if (abandoned_.load(std::memory_order_acquire) || !try_enter()) return false;
  let_go();
  leave();
  return true;
}

void ForceLimiter::disable() noexcept {
  device_.disabled_.store(true, std::memory_order_release);
  device_.disable();
}

bool ForceLimiter::enable() noexcept {
  if (!is_disabled()) return true;
  if (!try_enter()) return false;
  const bool works = device_.enable();
  if (works) {
    rest();
    device_.write(LimitedWrench(state_.last));  // if the driver hangs even now, the device stays disabled
    device_.disabled_.store(false, std::memory_order_release);
  }
  leave();
  return works;
}

void ForceLimiter::change(const LimitSettings& settings) noexcept {
  settings_ = settings;
  if (!try_enter()) return;  // a release is under way: nothing is left to be cut
  state_.last = {cut(state_.last.force, settings_.max_force), cut(state_.last.torque, settings_.max_torque)};
  leave();
}

LimiterState ForceLimiter::state() noexcept {
  // While it is being released nothing of the force is left. Heat is the writing thread's alone.
  if (!try_enter()) return {{}, 0, state_.force_heat, state_.torque_heat};
  const LimiterState state = state_;
  leave();
  return state;
}

void ForceLimiter::resume(const LimiterState& state) noexcept {
  if (!try_enter()) return;
  const bool sound = is_finite(state.last.force) && is_finite(state.last.torque) && std::isfinite(state.ramp) &&
                     std::isfinite(state.force_heat) && std::isfinite(state.torque_heat);
  state_ = {};
  held_.reset();
  if (sound) {
    const MotorLimits& m = limits_.motors;
    state_.last = {cut(state.last.force, std::min(settings_.max_force, m.peak_force)),
                   cut(state.last.torque, std::min(settings_.max_torque, m.peak_torque))};
    state_.ramp = std::clamp(state.ramp, 0.0, 1.0);
    state_.force_heat = std::max(0.0, state.force_heat);
    state_.torque_heat = std::max(0.0, state.torque_heat);
  }
  leave();
}

}  // namespace cotouch
