#include <cotouch/touch/scripted_device.h>

#include <cotouch/base/error.h>

#include <utility>

namespace cotouch {

ScriptedDevice::ScriptedDevice(HandPath path, double period) : path_(std::move(path)), period_(period) {
  if (!(period > 0)) throw Error("A scripted hand needs a period above zero.");
}

bool ScriptedDevice::read(DeviceReading& reading) noexcept {
  const double time = static_cast<double>(cycle_) * period_;
  if (time > path_.duration()) return false;
  ++cycle_;
  reading = {path_.at(time), 0};
  return true;
}

}  // namespace cotouch
