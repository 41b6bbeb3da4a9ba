// A hand that moves along a path whatever it feels.
#pragma once

#include <cotouch/device/device.h>
#include <cotouch/world/hand_path.h>

namespace cotouch {

class ScriptedDevice final : public Device {
 public:
  // Takes hold of the body with this id in its first cycle (0: of none), then follows the path in steps of `period`
  // seconds; its script ends with the path.
  explicit ScriptedDevice(HandPath path, std::uint32_t body, double period = 1e-3);

  std::string name() const override { return "scripted path"; }
  bool read(DeviceReading& reading) noexcept override;

  DeviceLimits limits() const noexcept override { return k_without_motors; }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

 private:
  HandPath path_;
  std::uint32_t body_;
  double period_;
  std::uint64_t cycle_ = 0;
};

}  // namespace cotouch
