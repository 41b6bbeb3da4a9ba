#include <cotouch/device/scripted_device.h>

#include <cotouch/base/error.h>

#include <utility>

namespace cotouch {

ScriptedDevice::ScriptedDevice(HandPath path, std::uint32_t body, double period)
    : path_(std::move(path)), body_(body), period_(period) {
  if (!(period > 0)) throw Error("A scripted hand needs a period above zero.");
}

bool ScriptedDevice::read(DeviceReading& reading) noexcept {
  const double time = static_cast<double>(cycle_) * period_;
  if (time > path_.duration()) return false;
  reading = {path_.at(time)};
  reading.clock = cycle_;
  if (cycle_ == 0 && body_ != 0) {
    reading.action = HandInput::Action::grasp;
    reading.body = body_;
  }
  ++cycle_;
  return true;
}

}  // namespace cotouch
