// The hand of a page or a program: it has no motors, and its poses come from there unevenly.
//
// Between inputs the hand glides towards the newest pose: a first-order low pass (20 ms), then never faster than
// crosses the scene in half a second or turns by 8 rad/s. So it cannot jump, whatever a page sends, and it stands still
// when nothing more comes. While nobody holds it, it is not there.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/device/hand_device.h>

namespace cotouch {

class PageDevice final : public HandDevice {
 public:
  std::string name() const override { return "hand"; }

  void fit(const SceneExtent& scene) noexcept override { max_speed_ = 2 * scene.size; }

  void hold(std::uint32_t body, const Vec3d& point) noexcept override;
  void release() noexcept override;
  bool has_taken_hold() const noexcept override { return taken_.load(std::memory_order_acquire) == order_.grip; }
  // From the thread that holds and releases.
  void move(const Pose& wanted, std::uint32_t buttons, std::uint32_t sequence) noexcept;

  // The newest input that the loop has seen.
  std::uint32_t applied_sequence() const noexcept { return applied_.load(std::memory_order_relaxed); }

  bool read(DeviceReading& reading) noexcept override;

  static constexpr DeviceLimits k_limits = k_without_motors;
  DeviceLimits limits() const noexcept override { return k_limits; }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

 private:
  struct Order {
    bool held = false;
    bool has_pose = false;   // false: stay where the body was when the hand was taken
    std::uint32_t grip = 0;  // counts hold(), so that each starts at the body anew
    std::uint32_t body = 0;
    Vec3d point;
    Pose pose;
    std::uint32_t buttons = 0, sequence = 0;
  };

  Order order_;  // the writer's
  LatestValue<Order> orders_;
  std::atomic<std::uint32_t> applied_{0}, taken_{0};
  // The touch thread's.
  double max_speed_ = 0.5;  // m/s
  Pose pose_;
  std::uint32_t grip_ = 0;
};

// One step of the glide described above, `share` of the way and within the largest step.
Pose glide(const Pose& from, const Pose& to, double share, double max_step, double max_turn) noexcept;

}  // namespace cotouch
