// How stiff a hand may be held at the rate at which it is really served.
//
// A spring K that is sampled every T seconds and acts with a delay t gives K (T/2 + t) v^2 more than it takes; a device
// with damping b absorbs b v^2 (Colgate & Schenkel 1997). A device says how stiff it may be at 1 kHz, which is to say
// its b, and so at any other rate
//   K(T) = K(1 ms) (0.5 ms + t) / (T/2 + t),
// of which nine tenths are used: at the limit itself a hand without damping would swing for ever.
// A force that is held for longer than a period, because the loop came late, is such a T. The coupling then softens at
// once to what its device bears at that T, and stiffens again by its whole stiffness within k_stiffening_seconds, so
// that a loop that goes on being late does not shake the hand between two stiffnesses: the energy that a stiffening
// spring brings in is spread over seconds.
//
// The share is an input of the world's step and is recorded, so a replay needs no clock.
#pragma once

#include <cotouch/device/device.h>
#include <cotouch/world/coupling.h>

namespace cotouch {

inline constexpr double k_stiffening_seconds = 4;

// The share of the coupling's stiffness that the device bears if the forces are held for `held` seconds; 0 to 1.
double bearable_share(const DeviceLimits& device, const CouplingSettings& coupling, double held) noexcept;

class Softening {
 public:
  // The share for the next cycle, if its force is held for `held` seconds, and `passed` have passed since the last one.
  // Starts at what the device bears.
  double next(const DeviceLimits& device, const CouplingSettings& coupling, double held, double passed) noexcept;

 private:
  double share_ = 1;
};

}  // namespace cotouch
