// The simulated device as a plug-in: what docs/devices.md describes, complete.
//
// It is found, loaded, opened and served as any other, so that the whole way is walked in every test run and anybody
// can try cotouch without a device. The device itself is cotouch/device/simulated_device.h.
#include <cotouch/base/error.h>
#include <cotouch/device/plugin_abi.h>

#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace {

using namespace cotouch;

struct OpenDevice {
  SimulatedDevice device;
  simulated_plugin::Pressing pressing;
};

// `array` is all zero before.
template <std::size_t Size>
void put(char (&array)[Size], std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), Size - 1), array);
}

std::int32_t list(std::uint32_t index, CotouchDeviceInfo* info) {
  if (index > 0) return 0;
  info->state = COTOUCH_DEVICE_CONNECTED;
  put(info->name, "simulated");
  put(info->sentence, "A desktop arm with motors, held by a simulated hand.");
  return 1;
}

void* open(const CotouchDeviceOpening* opening, CotouchDeviceAnswer* answer) {
  try {
    const auto settings = simulated_plugin::parse_settings(opening->settings);
    HandPath path = path_of(settings);
    const auto pressing = pressing_of(settings, path);
    return new OpenDevice{{settings.device, settings.arm, std::move(path), 0}, pressing};
  } catch (const std::exception& error) {
    answer->state = COTOUCH_DEVICE_BROKEN;
    put(answer->sentence, error.what());
    return nullptr;
  }
}

SimulatedDevice& of(void* device) {
  return static_cast<OpenDevice*>(device)->device;
}

void close(void* device) {
  delete static_cast<OpenDevice*>(device);
}

std::int32_t describe(void* device, CotouchDeviceDescription* description) {
  const DeviceLimits limits = of(device).limits();
  put(description->name, "simulated device");
  description->peak_force = limits.motors.peak_force;
  description->continuous_force = limits.motors.continuous_force;
  description->peak_torque = limits.motors.peak_torque;
  description->continuous_torque = limits.motors.continuous_torque;
  description->heating_seconds = limits.motors.heating_seconds;
  description->stiffness = limits.stiffness;
  description->angular_stiffness = limits.angular_stiffness;
  description->delay = limits.delay;
  description->speed = limits.speed;
  description->turn_speed = limits.turn_speed;
  return 1;
}

std::int32_t read(void* device, CotouchDeviceReading* reading) {
  DeviceReading sample;
  if (!of(device).read(sample)) return 0;
  const Pose& pose = sample.pose;
  const double position[] = {pose.position.x, pose.position.y, pose.position.z};
  const double rotation[] = {pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
  std::copy_n(position, 3, reading->position);
  std::copy_n(rotation, 4, reading->rotation);
  reading->flags = COTOUCH_READING_HAS_CLOCK;
  reading->clock = sample.clock.value_or(0);
  reading->buttons = static_cast<OpenDevice*>(device)->pressing.is_down(reading->clock) ? 1 : 0;
  reading->motors = COTOUCH_MOTORS_ON;
  return 1;
}

void write(void* device, const CotouchDeviceWrench* wrench) {
  const double* force = wrench->force;
  const double* torque = wrench->torque;
  of(device).command({{force[0], force[1], force[2]}, {torque[0], torque[1], torque[2]}});
}

void disable(void* device) {
  of(device).disable();
}

std::int32_t enable(void* device) {
  return of(device).enable() ? 1 : 0;
}

}  // namespace

extern "C" const CotouchDevicePlugin* cotouch_device_plugin(std::uint32_t abi) {
  // Its motors end with the process, so nobody has to silence them.
  static const CotouchDevicePlugin k_plugin{sizeof(CotouchDevicePlugin),
                                            COTOUCH_DEVICE_ABI,
                                            "simulated",
                                            "1",
                                            list,
                                            open,
                                            close,
                                            describe,
                                            read,
                                            write,
                                            disable,
                                            enable,
                                            nullptr};
  return abi == COTOUCH_DEVICE_ABI ? &k_plugin : nullptr;
}
