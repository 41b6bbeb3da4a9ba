// A device with a clock at its side: how regularly it is served, and how long a force takes after its sample.
#pragma once

#include <cotouch/base/realtime.h>
#include <cotouch/device/device.h>
#include <cotouch/touch/histogram.h>

#include <algorithm>
#include <cmath>

namespace cotouch {

class TimedDevice final : public Device {
 public:
  explicit TimedDevice(Device& device) : device_(device) {}

  std::string name() const override { return device_.name(); }
  DeviceLimits limits() const noexcept override { return device_.limits(); }
  std::optional<SilenceCall> silence_call() const override { return device_.silence_call(); }
  bool read(DeviceReading& reading) noexcept override {
    const std::int64_t now = monotonic_ns();
    if (read_ns_.load() != 0) periods_.add(now - read_ns_.load());
    read_ns_.store(now);
    return device_.read(reading);
  }
  void write(const LimitedWrench& wrench) noexcept override {
    device_.write(wrench);
    if (const std::int64_t read = read_ns_.load(); read != 0) delays_.add(monotonic_ns() - read);
    force_.store(std::max(force_.load(), norm(wrench.get().force)));
    torque_.store(std::max(torque_.load(), norm(wrench.get().torque)));
    last_.store(norm(wrench.get().force));
  }
  void disable() noexcept override { device_.disable(); }
  bool enable() noexcept override { return device_.enable(); }

  const CycleHistogram& periods() const noexcept { return periods_; }  // from one reading to the next
  const CycleHistogram& delays() const noexcept { return delays_; }    // from the begin of a reading to its force
  double most_force() const noexcept { return force_.load(); }
  double most_torque() const noexcept { return torque_.load(); }
  double last_force() const noexcept { return last_.load(); }

 private:
  Device& device_;
  // Written by the touch thread, and by the one that lets go while that stands still.
  std::atomic<std::int64_t> read_ns_{0};
  std::atomic<double> force_{0}, torque_{0}, last_{0};
  CycleHistogram periods_, delays_;
};

}  // namespace cotouch
