// A device as the hand of a session: it takes hold of bodies, and asks for that by itself if the person at it can.
//
// There are three kinds. A page's hand is led by poses that come from elsewhere (page_device.h). A device that steers
// by speed, like a SpaceMouse, has a place only while it holds something (steered_device.h). A device with a workspace
// of its own, as all with motors have, is somewhere in the scene at any time (workspace_hand.h).
//
// None of them decides what it holds: a device asks (request), the session's arbitration answers (hold, release).
#pragma once

#include <cotouch/device/body_places.h>
#include <cotouch/device/device.h>

#include <atomic>

namespace cotouch {

// The scene that hands move in.
struct SceneExtent {
  Vec3d center;       // metres
  double size = 0.2;  // metres, its diagonal
};

// What the person at a device asks for.
struct HandRequest {
  enum class Kind : std::uint8_t { none, take, let_go };
  Kind kind = Kind::none;
  std::optional<Vec3d> at = {};  // of the scene, where to take hold; none: the device is nowhere yet
};

class HandDevice : public Device {
 public:
  // Where the bodies are that it takes hold of. They must outlive the loop that reads the device, or others must have
  // been attached before.
  void attach(const BodyPlaces& bodies) noexcept { bodies_.store(&bodies, std::memory_order_release); }
  // While no loop runs.
  virtual void fit(const SceneExtent& scene) noexcept = 0;

  // From one thread at a time, the loop running or not. A hand without a place of its own begins at that point of the
  // body (in the body's frame), turned like it; others take hold from where they are.
  virtual void hold(std::uint32_t body, const Vec3d& point) noexcept = 0;
  virtual void release() noexcept = 0;
  // Has the loop seen the newest hold?
  virtual bool has_taken_hold() const noexcept = 0;
  // From the thread that holds and releases, tens of times a second: what was asked for since the last call. A device
  // may do here what is too slow for the touch thread.
  virtual HandRequest request() noexcept { return {}; }

  // From the same thread: whether the device answers. One that is nowhere while it holds nothing may be there all the
  // same.
  virtual bool is_there() const noexcept { return true; }

  // Whether it pushes. One that does and whose power was cut stays without it until somebody gives it back on purpose.
  virtual bool has_motors() const noexcept { return false; }

  // Somebody switched it off: it stays off even if it has no motors.
  bool is_switched_off() const noexcept { return switched_off_.load(std::memory_order_relaxed); }
  void set_switched_off(bool off) noexcept { switched_off_.store(off, std::memory_order_relaxed); }

 protected:
  // The point of a body, turned like the body: where a hand without a place begins.
  Pose start_at(std::uint32_t body, const Vec3d& point, const Pose& otherwise) const noexcept {
    const std::optional<Pose> pose = pose_of(body);
    return pose ? Pose{transform(*pose, point), pose->rotation} : otherwise;
  }
  std::optional<Pose> pose_of(std::uint32_t body) const noexcept {
    const BodyPlaces* bodies = bodies_.load(std::memory_order_acquire);
    return bodies != nullptr ? bodies->pose_of(body) : std::nullopt;
  }

 private:
  std::atomic<const BodyPlaces*> bodies_{nullptr};
  std::atomic<bool> switched_off_{false};
};

}  // namespace cotouch
