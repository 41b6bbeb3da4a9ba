#include <cotouch/touch/limits.h>

#include <algorithm>
#include <thread>

namespace cotouch {
namespace {

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

}  // namespace

ForceLimiter::ForceLimiter(Device& device, const LimitSettings& settings) noexcept
    : device_(device), settings_(settings) {
  release();
}

ForceLimiter::~ForceLimiter() {
  while (!release()) std::this_thread::yield();
}

ForceLimiter::Written ForceLimiter::write(const Wrench& wanted) noexcept {
  if (!try_enter()) return {{}, Motors::off};
  Wrench target = wanted;
  if (!is_finite(target.force) || !is_finite(target.torque)) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    target = {};
  }
  const Motors motors = ramp_ > 0 ? Motors::on : Motors::restarted;
  ramp_ = settings_.ramp_seconds > 0 ? std::min(1.0, ramp_ + settings_.period / settings_.ramp_seconds) : 1.0;
  target = {cut(target.force, settings_.max_force) * ramp_, cut(target.torque, settings_.max_torque) * ramp_};
  last_ = {approach(last_.force, target.force, settings_.force_rate * settings_.period),
           approach(last_.torque, target.torque, settings_.torque_rate * settings_.period)};
  device_.write(last_);
  const Written written{last_, motors};
  leave();
  return written;
}

bool ForceLimiter::release() noexcept {
  if (!try_enter()) return false;
  last_ = {};
  ramp_ = 0;
  device_.write(last_);
  leave();
  return true;
}

void ForceLimiter::change(const LimitSettings& settings) noexcept {
  settings_ = settings;
  if (!try_enter()) return;  // a release is under way: nothing is left to be cut
  last_ = {cut(last_.force, settings_.max_force), cut(last_.torque, settings_.max_torque)};
  leave();
}

LimiterState ForceLimiter::state() noexcept {
  if (!try_enter()) return {};
  const LimiterState state{last_, ramp_};
  leave();
  return state;
}

void ForceLimiter::resume(const LimiterState& state) noexcept {
  if (!try_enter()) return;
  const bool sound = is_finite(state.last.force) && is_finite(state.last.torque) && std::isfinite(state.ramp);
  last_ = {};
  ramp_ = 0;
  if (sound) {
    last_ = {cut(state.last.force, settings_.max_force), cut(state.last.torque, settings_.max_torque)};
    ramp_ = std::clamp(state.ramp, 0.0, 1.0);
  }
  leave();
}

}  // namespace cotouch
