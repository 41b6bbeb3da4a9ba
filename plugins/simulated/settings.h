// What the simulated device is told when it is opened: "key=value key=value".
#pragma once

#include <cotouch/device/simulated_device.h>

#include <string>
#include <string_view>

namespace cotouch::simulated_plugin {

struct Settings {
  DeviceDynamics device;
  ArmImpedance arm;
  // Around the middle of a scene, where it rests until it has taken hold. In `cotouch devices --try` the same goes to
  // the floor, past the ball and through the damper. For more than an hour.
  std::vector<Vec3d> path{{},
                          {0, 0, -0.015},
                          {},
                          {},
                          {},
                          {},
                          {},
                          {},
                          {},
                          {},
                          {},
                          {0.06, 0, 0.045},
                          {},
                          {-0.06, 0, 0.06},
                          {},
                          {0, 0.06, 0},
                          {},
                          {0, 0, 0.05},
                          {0, 0, -0.015},
                          {0, 0, -0.015},
                          {0, 0, -0.015}};
  double speed = 0.1;          // m/s
  std::uint32_t repeat = 500;  // times that the path is gone through
  double press = 1;            // s in each round until the first button goes down, until the round ends; 0: never
};

// Throws Error with a sentence for the user.
Settings parse_settings(std::string_view text);
HandPath path_of(const Settings& settings);

// When its button is down, in cycles.
struct Pressing {
  std::uint64_t round = 0, after = 0;  // round 0: never

  bool is_down(std::uint64_t cycle) const noexcept { return round > 0 && cycle % round >= after; }
};
Pressing pressing_of(const Settings& settings, const HandPath& path);

}  // namespace cotouch::simulated_plugin
