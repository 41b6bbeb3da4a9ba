// The devices that `play`, `host` and `join` take part with.
#pragma once

#include <cotouch/device/hand_device.h>
#include <cotouch/session/session_devices.h>

#include <memory>
#include <string>
#include <vector>

namespace cotouch {

struct OpenedDevices {
  std::vector<std::unique_ptr<HandDevice>> devices;
  MissingDevices missing;     // what else is known, and why it does not take part
  std::string no_spacemouse;  // why there is none, for the terminal; empty if there is one
};

// Those of --device, and a SpaceMouse if there is one. Throws Error if one that was asked for is missing or refused. If
// none of them is a plug-in's, plug-ins are looked for in the background.
OpenedDevices open_devices(const std::vector<std::string>& names);

// Throws Error if settings are given to one that is built in.
void refuse_settings_of_own(const std::string& wanted);

}  // namespace cotouch
