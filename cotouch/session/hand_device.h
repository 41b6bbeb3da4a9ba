// The device behind a hand that has no motors: its poses come from a page, a program or over a network, unevenly.
//
// Between inputs the hand glides towards the newest pose: a first-order low pass (time constant `smoothing`), then
// never faster than `max_speed` and `max_turn`. So it cannot jump, whatever a page sends, and it stands still when
// nothing more comes. While nobody holds it, it is not there.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/touch/device.h>
#include <cotouch/touch/touch_world.h>

#include <atomic>

namespace cotouch {

struct HandDeviceSettings {
  double max_speed = 0.5;   // m/s
  double max_turn = 8;      // rad/s
  double smoothing = 0.02;  // seconds
  double period = 1e-3;     // seconds between reads
};

class HandDevice final : public Device {
 public:
  std::string name() const override { return "hand"; }

  // Where the bodies are that the hand takes hold of. The world must outlive the loop that reads the device, or another
  // one must have been attached before.
  void attach(const TouchWorld& world) noexcept { world_.store(&world, std::memory_order_release); }
  // While no loop runs.
  void set_pace(const HandDeviceSettings& settings) noexcept { settings_ = settings; }

  // From one thread at a time, the loop running or not.
  void hold(std::uint32_t body, const Vec3d& point) noexcept;  // the hand starts at that point of the body
  void release() noexcept;                                     // nobody holds it
  void move(const Pose& wanted, std::uint32_t buttons, std::uint32_t sequence) noexcept;

  // The newest input that the loop has seen, and the newest hold.
  std::uint32_t applied_sequence() const noexcept { return applied_.load(std::memory_order_relaxed); }
  bool has_taken_hold() const noexcept { return taken_.load(std::memory_order_acquire) == wish_.grip; }

  bool read(DeviceReading& reading) noexcept override;

  static constexpr DeviceLimits k_limits = k_without_motors;
  DeviceLimits limits() const noexcept override { return k_limits; }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

 private:
  struct Wish {
    bool held = false;
    bool has_pose = false;   // false: stay where the body was when the hand was taken
    std::uint32_t grip = 0;  // counts hold(), so that each starts at the body anew
    std::uint32_t body = 0;
    Vec3d point;
    Pose pose;
    std::uint32_t buttons = 0, sequence = 0;
  };
  Pose start_of(const Wish& wish) const noexcept;

  Wish wish_;  // the writer's
  LatestValue<Wish> wishes_;
  std::atomic<std::uint32_t> applied_{0}, taken_{0};
  std::atomic<const TouchWorld*> world_{nullptr};
  // The touch thread's.
  HandDeviceSettings settings_;
  Pose pose_;
  std::uint32_t grip_ = 0;
};

// One step of the glide described above, `share` of the way and within the largest step; exposed for tests.
Pose glide(const Pose& from, const Pose& to, double share, double max_step, double max_turn) noexcept;

}  // namespace cotouch
