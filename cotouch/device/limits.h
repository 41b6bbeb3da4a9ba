// The only way to a device's motors: magnitude, heat, rate and fault limits on every wrench. A device has one limiter.
//
// A wrench asked for becomes a wrench written by, in this order: zero if it is not finite; force and torque cut to
// their largest magnitude, direction kept; times a ramp that runs from 0 to 1 after engaging, so that a hand already
// pressed into something is not kicked; then moved from the last output by at most rate * t, where t is the time since
// the write before. All three steps keep the output within the magnitudes: it lies between two outputs that do.
//
// The largest magnitude is the least of what is asked for and what the device can bear (MotorLimits). That is the peak
// P while the motors are cool and the continuous force C once they are warm. Their heat is the average of the squared
// force over the last `heating_seconds` tau, in units of C^2, first order:
//   heat' = (F^2 / C^2 - heat) / tau,
// and the ceiling goes from P at heat 3/4 evenly down to C at heat 1. With the force at the ceiling heat can come to 1,
// where F = C holds it, and not beyond. Torque likewise, with a heat of its own. Nothing counts as cooling while no
// cycle writes.
//
// A force counts for as long as it was really held, which is known when the next one is written (let_pass). Over a step
// of t seconds the heat goes t / tau of the way to F^2 / C^2, which is never less than the exact 1 - exp(-t / tau)
// of it. That is the safe side while motors warm up; while they cool, a step counts for a hundredth of tau at most, so
// that heat is underestimated by no more than half a percent. A write that comes later than any before it may warm them
// beyond 1, by P^2 / C^2 t / tau: how long a force will be held cannot be known beforehand.
//
// Release writes zero at once, without the rate limit: letting go is always safe, and it is what losing power does.
#pragma once

#include <cotouch/device/device.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace cotouch {

inline constexpr double k_fade_out_seconds = 0.01;
// How the report begins if a wrench beyond the limits ever came so far (base/invariant.h). It is not written.
inline constexpr const char* k_force_invariant = "A force beyond the limits was about to reach a device";

// What a program asks for, within what the device can bear.
struct LimitSettings {
  double max_force = 8.5;     // N; what a Phantom Premium 1.5 gives at its peak
  double max_torque = 0.35;   // N m
  double force_rate = 5000;   // N/s
  double torque_rate = 200;   // N m/s
  double ramp_seconds = 0.1;  // from engaging to full force
  double period = 1e-3;       // seconds between writes, unless let_pass says otherwise
};

// All a limiter remembers from one write to the next.
struct LimiterState {
  Wrench last;                             // as written
  double ramp = 0;                         // 0 released, 1 faded in
  double force_heat = 0, torque_heat = 0;  // 0 cool, 1 as warm as they may become, more if a write came late

  friend bool operator==(const LimiterState&, const LimiterState&) = default;
};

class ForceLimiter final {
 public:
  // The device must outlive the limiter, which leaves it at zero force. Throws Error if the device has a limiter.
  ForceLimiter(Device& device, const LimitSettings& settings);
  // If another thread is inside write() and does not come back for half a second, the device is disabled instead.
  ~ForceLimiter();
  ForceLimiter(const ForceLimiter&) = delete;
  ForceLimiter& operator=(const ForceLimiter&) = delete;

  // For the writing thread: seconds since its write before, for which what was written then was held. They count for
  // the next write, too: rate and ramp. Without it a period has passed. The first write after a release gets a period
  // of the ramp at most: before it there was no force to go on from. Said more than once, the first counts as heat, the
  // last as time for the next write.
  void let_pass(double seconds) noexcept;

  struct Written {
    Wrench wrench;
    Motors motors = Motors::on;
  };
  // Writes what the limits leave of `wanted` and returns it. If the limiter was released it engages with a new ramp,
  // and the motors are `restarted`. While another thread is inside release(), or the device is disabled, it writes
  // nothing; they are `off`.
  Written write(const Wrench& wanted) noexcept;
  // The same while the force has to go: the ramp runs to 0 within k_fade_out_seconds. Motors are `fading`, and `off`
  // once nothing is left.
  Written fade_out(const Wrench& wanted) noexcept;

  // Writes zero and stays there until the next write. May be called from any thread. Returns false, having written
  // nothing, when another thread is inside write(): then the device is being served, or its driver hangs.
  bool release() noexcept;

  // Cuts the device's power, from any thread and whatever its driver does meanwhile. No force until enable().
  void disable() noexcept;
  // False if the device stays disabled: its driver is still inside write(), or refuses.
  bool enable() noexcept;
  bool is_disabled() const noexcept { return device_.disabled_.load(std::memory_order_acquire); }

  // The driver hangs and may never come back: this limiter does not touch the device any more, not even when it is
  // destroyed, and the device gets no other.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_release); }

  // For the writing thread, between two writes. New limits hold at once: what was written last counts as if it had been
  // cut to them, and the ramp goes on where it is.
  void change(const LimitSettings& settings) noexcept;
  // For the writing thread. No force, as after a release, while another thread is inside release().
  LimiterState state() noexcept;
  // Goes on from a recorded state instead of fading in, for repeating a recording. One that is not finite is as after a
  // release.
  void resume(const LimiterState& state) noexcept;

  // What a device says it can bear. Numbers that are none, or below zero, allow nothing.
  static DeviceLimits limits_of(const Device& device) noexcept;
  // The same as it was when the limiter was made.
  const DeviceLimits& device_limits() const noexcept { return limits_; }
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

 private:
  friend struct LimiterFault;  // tests damage its state on purpose
  // Owned for the length of one write. Nobody waits for it, so it is not a lock: who fails to get it goes on.
  bool try_enter() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() noexcept { busy_.store(false, std::memory_order_release); }
  Written write(const Wrench& wanted, bool fades_out) noexcept;
  void rest() noexcept;
  void let_go() noexcept;
  void warm_up(double seconds) noexcept;

  Device& device_;
  const DeviceLimits limits_;
  LimitSettings settings_;
  std::atomic<bool> busy_{false}, abandoned_{false};
  std::atomic<std::uint64_t> refused_{0};  // wrenches that were not finite
  // The writing thread's, and so are the heats of the state.
  double passed_;
  std::optional<Wrench> held_;  // written last, and not counted as heat yet
  // Touched only between try_enter and leave.
  LimiterState state_;
  bool silent_ = false;  // zero was the last word
};

}  // namespace cotouch
