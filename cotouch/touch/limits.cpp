#include <cotouch/touch/limits.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <chrono>
#include <thread>

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
Vec3d approach(const Vec3d& from, const Vec3d& to, double step) {
  if (!(step > 0)) return {};
  return from + cut(to - from, step);
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

// Motors that would be warm after a few cycles have no peak.
double ceiling(double peak, double continuous, double heat, double heating_cycles) {
  if (!(heating_cycles > 100)) return continuous;
  return peak + (continuous - peak) * std::clamp((heat - k_warm) / (1 - k_warm), 0.0, 1.0);
}

double warmed(double heat, const Vec3d& given, double continuous, double heating_cycles) {
  if (!(heating_cycles > 100) || !(continuous > 0)) return 1;
  return std::clamp(heat + (norm_squared(given) / (continuous * continuous) - heat) / heating_cycles, 0.0, 1.0);
}

}  // namespace

DeviceLimits ForceLimiter::limits_of(const Device& device) noexcept {
  return sound(device.limits());
}

ForceLimiter::ForceLimiter(Device& device, const LimitSettings& settings)
    : device_(device), limits_(limits_of(device)), settings_(settings) {
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
  device_.force_heat_ = state_.force_heat;
  device_.torque_heat_ = state_.torque_heat;
  device_.has_limiter_.store(false, std::memory_order_release);
}

ForceLimiter::Written ForceLimiter::write(const Wrench& wanted) noexcept {
  return write(wanted, false);
}

ForceLimiter::Written ForceLimiter::fade_out(const Wrench& wanted) noexcept {
  return write(wanted, true);
}

ForceLimiter::Written ForceLimiter::write(const Wrench& wanted, bool fades_out) noexcept {
  if (abandoned_.load(std::memory_order_acquire) || is_disabled() || !try_enter()) return {{}, Motors::off};
  Wrench target = wanted;
  if (!is_finite(target.force) || !is_finite(target.torque)) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    target = {};
  }
  double& ramp = state_.ramp;
  Motors motors = Motors::fading;
  if (fades_out) {
    ramp -= settings_.period / k_fade_out_seconds;
  } else {
    motors = ramp > 0 ? Motors::on : Motors::restarted;
    ramp = settings_.ramp_seconds > 0 ? std::min(1.0, ramp + settings_.period / settings_.ramp_seconds) : 1.0;
  }
  if (!(ramp > 1e-9)) {  // what ten steps of a tenth leave is rounding
    let_go();
    leave();
    return {{}, Motors::off};
  }
  const MotorLimits& m = limits_.motors;
  const double cycles = m.heating_seconds / settings_.period;
  const double force =
      std::min(settings_.max_force, ceiling(m.peak_force, m.continuous_force, state_.force_heat, cycles));
  const double torque =
      std::min(settings_.max_torque, ceiling(m.peak_torque, m.continuous_torque, state_.torque_heat, cycles));
  target = {cut(target.force, force) * ramp, cut(target.torque, torque) * ramp};
  Wrench& last = state_.last;
  last = {approach(last.force, target.force, settings_.force_rate * settings_.period),
          approach(last.torque, target.torque, settings_.torque_rate * settings_.period)};
  state_.force_heat = warmed(state_.force_heat, last.force, m.continuous_force, cycles);
  state_.torque_heat = warmed(state_.torque_heat, last.torque, m.continuous_torque, cycles);
  silent_ = false;
  device_.write(LimitedWrench(last));
  // A driver that hung may come back long after: then nothing here is certain to be alive but this limiter.
  Written written{last, motors};
  if (abandoned_.load(std::memory_order_acquire) || is_disabled()) {
    last = {};
    ramp = 0;
    written = {{}, Motors::off};
  }
  leave();
  return written;
}

void ForceLimiter::let_go() noexcept {
  state_.last = {};
  state_.ramp = 0;
  silent_ = true;
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
    device_.disabled_.store(false, std::memory_order_release);
    let_go();
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
  if (!try_enter()) return {};
  const LimiterState state = state_;
  leave();
  return state;
}

void ForceLimiter::resume(const LimiterState& state) noexcept {
  if (!try_enter()) return;
  const bool sound = is_finite(state.last.force) && is_finite(state.last.torque) && std::isfinite(state.ramp) &&
                     std::isfinite(state.force_heat) && std::isfinite(state.torque_heat);
  state_ = {};
  if (sound) {
    const MotorLimits& m = limits_.motors;
    state_.last = {cut(state.last.force, std::min(settings_.max_force, m.peak_force)),
                   cut(state.last.torque, std::min(settings_.max_torque, m.peak_torque))};
    state_.ramp = std::clamp(state.ramp, 0.0, 1.0);
    state_.force_heat = std::clamp(state.force_heat, 0.0, 1.0);
    state_.torque_heat = std::clamp(state.torque_heat, 0.0, 1.0);
  }
  leave();
}

}  // namespace cotouch
