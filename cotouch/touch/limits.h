// The only way to a device's motors: magnitude, rate and fault limits on every wrench.
//
// A wrench asked for becomes a wrench written by, in this order: zero where it is not finite; force and torque cut to
// their largest magnitude, direction kept; times a ramp that runs from 0 to 1 after engaging, so that a hand already
// pressed into something is not kicked; then moved from the last output by at most rate * period. All three steps keep
// the output within the magnitudes: it lies between two outputs that do.
//
// Release writes zero at once, without the rate limit: letting go is always safe, and it is what losing power does.
#pragma once

#include <cotouch/touch/device.h>

#include <atomic>
#include <cstdint>

namespace cotouch {

struct LimitSettings {
  double max_force = 8.5;     // N; what a Phantom Premium 1.5 gives at its peak
  double max_torque = 0.35;   // N m
  double force_rate = 5000;   // N/s
  double torque_rate = 200;   // N m/s
  double ramp_seconds = 0.1;  // from engaging to full force
  double period = 1e-3;       // seconds between writes
};

// All a limiter remembers from one write to the next.
struct LimiterState {
  Wrench last;      // as written
  double ramp = 0;  // 0 released, 1 faded in

  friend bool operator==(const LimiterState&, const LimiterState&) = default;
};

class ForceLimiter {
 public:
  // The device must outlive the limiter, which leaves it at zero force.
  ForceLimiter(Device& device, const LimitSettings& settings) noexcept;
  ~ForceLimiter();
  ForceLimiter(const ForceLimiter&) = delete;
  ForceLimiter& operator=(const ForceLimiter&) = delete;

  struct Written {
    Wrench wrench;
    Motors motors = Motors::on;
  };
  // Writes what the limits leave of `wanted` and returns it. Where the limiter was released it engages with a new ramp,
  // and the motors are `restarted`. While another thread is inside release() it writes nothing; they are `off`.
  Written write(const Wrench& wanted) noexcept;

  // Writes zero and stays there until the next write. May be called from any thread. Returns false, having written
  // nothing, when another thread is inside write(): then the device is being served, or its driver hangs.
  bool release() noexcept;

  // For the writing thread, between two writes. New limits hold at once: what was written last counts as if it had been
  // cut to them, and the ramp goes on where it is.
  void change(const LimitSettings& settings) noexcept;
  // Zero, as after a release, while another thread is inside release().
  LimiterState state() noexcept;
  // Goes on from a recorded state instead of fading in, for repeating a recording. One that is not finite is as after a
  // release.
  void resume(const LimiterState& state) noexcept;

  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

 private:
  // Owned for the length of one write. Nobody waits for it, so it is not a lock: who fails to get it goes on.
  bool try_enter() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() noexcept { busy_.store(false, std::memory_order_release); }

  Device& device_;
  LimitSettings settings_;
  std::atomic<bool> busy_{false};
  std::atomic<std::uint64_t> refused_{0};  // wrenches that were not finite
  // Touched only between try_enter and leave.
  Wrench last_;
  double ramp_ = 0;
};

}  // namespace cotouch
