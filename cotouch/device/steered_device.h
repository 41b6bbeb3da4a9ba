// A hand that is steered by speed: how far a cap or stick is pushed and turned says how fast the hand goes.
//
// Pushed to the stop, it crosses the scene in two seconds and turns by 1.5 rad/s. A hand that holds something can lead
// it by a quarter of the scene's size and 1 rad at most, as if on a leash: pushed against a wall, it would otherwise
// have to come all the way back. It asks to take hold when the cap is first moved and to let go once the cap has been
// at rest for half a second.
//
// What the cap says comes from a source, which is asked from the session's thread, because that may take a moment. If
// nothing is heard from there for a quarter of a second, the hand stands still.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/device/hand_device.h>

#include <chrono>
#include <memory>
#include <string>

namespace cotouch {

// How far the cap is pushed and turned, each from about -1 to 1, in world axes (x right, y away, z up).
struct Deflection {
  Vec3d push, turn;
  std::uint32_t buttons = 0;
};

class SteeringSource {
 public:
  virtual ~SteeringSource() = default;
  virtual std::string name() const = 0;
  // Takes in what has happened since the last call and never waits. False if the device is gone.
  virtual bool poll(Deflection& now) noexcept = 0;
};

class SteeredDevice final : public HandDevice {
 public:
  using Clock = std::chrono::steady_clock;

  explicit SteeredDevice(std::unique_ptr<SteeringSource> source);

  std::string name() const override { return name_; }
  void fit(const SceneExtent& scene) noexcept override { size_ = scene.size; }

  void hold(std::uint32_t body, const Vec3d& point) noexcept override;
  void release() noexcept override;
  bool is_there() const noexcept override { return !steering_.gone; }
  bool has_taken_hold() const noexcept override { return taken_.load(std::memory_order_acquire) == steering_.grip; }
  HandRequest request() noexcept override { return request_at(Clock::now()); }
  HandRequest request_at(Clock::time_point now) noexcept;  // for tests

  bool read(DeviceReading& reading) noexcept override;
  DeviceLimits limits() const noexcept override { return k_without_motors; }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

 private:
  struct Steering {
    bool held = false;
    bool gone = false;
    std::uint32_t grip = 0;  // counts hold()
    std::uint32_t news = 0;  // counts what was heard of the source
    std::uint32_t body = 0;
    Vec3d point;
    Deflection cap;
  };
  void lead(const Steering& steering) noexcept;

  std::unique_ptr<SteeringSource> source_;
  std::string name_;
  // The session's thread's.
  Steering steering_;
  Clock::time_point used_{};
  // Between the two.
  LatestValue<Steering> newest_;
  std::atomic<std::uint32_t> taken_{0};
  // The touch thread's.
  double size_ = 0.2;
  Pose pose_, grip_in_body_;
  Vec6 speed_;
  std::uint32_t grip_ = 0, heard_ = 0, unheard_ = 0;
};

}  // namespace cotouch
