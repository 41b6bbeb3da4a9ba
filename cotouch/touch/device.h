// A haptic device as the loop sees it.
#pragma once

#include <cotouch/world/input.h>

#include <cstdint>
#include <string>

namespace cotouch {

// Whether a device can push: its own switches, its driver and the loop's watchdog can all take its force away.
enum class Motors : std::uint8_t {
  on,
  restarted,  // on, but off for a time since the cycle before: the force fades in anew
  off,
};

struct DeviceReading {
  Pose pose;  // of the handle, metres
  std::uint32_t buttons = 0;
  Motors motors = Motors::on;
  HandInput::Action action = HandInput::Action::none;  // what the hand does in this cycle
  std::uint32_t body = 0;                              // id of the body it grasps
};

class ForceLimiter;

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  // Called from the touch thread at 1 kHz: no allocation, no lock, no exception.
  // Returns false when the device is lost or its script has ended.
  virtual bool read(DeviceReading& reading) noexcept = 0;

 protected:
  // Wrench on the hand, torque about the handle's position. Out of reach for everyone but the limiter, so nothing
  // bypasses the limits. Calls come one at a time, as a rule from the touch thread; while that thread is stalled, even
  // inside read(), the zero of the watchdog comes from another.
  friend class ForceLimiter;
  virtual void write(const Wrench& wrench) noexcept = 0;
};

}  // namespace cotouch
