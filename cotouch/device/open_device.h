// Devices of this program, for command lines.
//
// Built in is one that needs neither hardware nor a plug-in, to try a session with: `scripted`, without motors. An
// invisible person swings it around the middle of the scene, whatever is in its way, and takes hold of what is near for
// 18 of every 20 seconds.
#pragma once

#include <cotouch/device/hand_device.h>

#include <memory>

namespace cotouch {

inline constexpr const char* k_scripted = "scripted";
std::unique_ptr<Device> open_scripted();

// The device as a hand of a session.
std::unique_ptr<HandDevice> make_hand(std::unique_ptr<Device> device);

}  // namespace cotouch
