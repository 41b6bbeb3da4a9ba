// A haptic device as the loop sees it.
#pragma once

#include <cotouch/base/pose.h>

#include <cstdint>
#include <string>

namespace cotouch {

struct DeviceReading {
  Pose pose;  // of the handle, metres
  std::uint32_t buttons = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  // Both are called from the touch thread at 1 kHz: no allocation, no lock, no exception.
  // read returns false when the device is lost or its script has ended.
  virtual bool read(DeviceReading& reading) noexcept = 0;
  // Wrench on the hand. Only a ForceLimiter calls this, so that nothing bypasses the limits.
  virtual void write(const Wrench& wrench) noexcept = 0;
};

}  // namespace cotouch
