// What a hand does in one step: all that peers exchange.
#pragma once

#include <cotouch/base/pose.h>

#include <cstdint>

namespace cotouch {

struct HandInput {
  enum class Action : std::uint8_t { none, grasp, release };

  bool present = false;  // an absent hand lets go
  Action action = Action::none;
  std::uint32_t body = 0;  // id of the body to grasp
  Pose pose;               // of the hand, metres
  std::uint32_t buttons = 0;

  friend bool operator==(const HandInput&, const HandInput&) = default;
};

// Rounded to what is sent: positions to 2^-20 m (a micrometre), rotations to 2^-20 of a unit quaternion's parts.
// Whoever feeds a shared world does this first, so that what one simulates is what the others receive. Twice is the
// same as once.
HandInput quantised(const HandInput& input) noexcept;

}  // namespace cotouch
