// The hand of someone at a screen: it has no motors, and its poses arrive unevenly over a network.
//
// Between inputs the hand glides towards the newest pose: a first-order low pass (time constant `smoothing`), then
// never faster than `max_speed` and `max_turn`. So it cannot jump, whatever a page sends, and it stands still when
// nothing more comes. While nobody holds the hand it rests on the object, which relaxes the spring between them.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/touch/device.h>
#include <cotouch/touch/held_object.h>

#include <atomic>

namespace cotouch {

struct ViewerDeviceSettings {
  double max_speed = 0.5;   // m/s
  double max_turn = 8;      // rad/s
  double smoothing = 0.02;  // seconds
  double period = 1e-3;     // seconds between reads
};

class ViewerDevice final : public Device {
 public:
  std::string name() const override { return "viewer"; }

  // While no loop runs: whose pose the hand takes when nobody holds it, and how fast it may move.
  void attach(const HeldObject& object, const ViewerDeviceSettings& settings) noexcept;

  // From one thread at a time, the loop running or not.
  void hold() noexcept;     // the hand starts where the object is
  void release() noexcept;  // nobody holds it
  void move(const Pose& wanted, std::uint32_t buttons, std::uint32_t sequence) noexcept;

  // The newest input that the loop has seen.
  std::uint32_t applied_sequence() const noexcept { return applied_.load(std::memory_order_relaxed); }

  bool read(DeviceReading& reading) noexcept override;

 protected:
  void write(const Wrench&) noexcept override {}

 private:
  struct Wish {
    bool held = false;
    bool has_pose = false;   // false: stay where the object was when the hand was taken
    std::uint32_t grip = 0;  // counts hold(), so that each starts at the object anew
    Pose pose;
    std::uint32_t buttons = 0, sequence = 0;
  };

  Wish wish_;  // the writer's
  LatestValue<Wish> wishes_;
  std::atomic<std::uint32_t> applied_{0};
  // The touch thread's.
  const HeldObject* object_ = nullptr;
  ViewerDeviceSettings settings_;
  Pose pose_;
  std::uint32_t grip_ = 0;
};

// One step of the glide described above, `share` of the way and within the largest step; exposed for tests.
Pose glide(const Pose& from, const Pose& to, double share, double max_step, double max_turn) noexcept;

}  // namespace cotouch
