// Does touch stay calm? One simulated hand, one scene, one setting: run it and judge it.
//
// The hand follows key poses with the simulated device in the closed loop, through the real held object and the real
// limits, and rests at every key: the stretches slide, the rests press. The judgement looks at the handle's true
// motion:
//
//  - at rest: the handle's root-mean-square speed in the last 0.2 s of every rest is below `calm_speed`,
//    and not growing against the stretch of equal length before it. A hand at rest whose handle moves is moved by us.
//  - sliding: shaking must not last. Everything slower than 10 Hz is taken out (a centred mean over 0.1 s), and the
//    root-mean-square speed of the rest is formed for every 0.1 s; the median over a stretch stays below `calm_speed`
//    plus half of the path's mean speed where contact lasts throughout, or plus the path's peak speed (15/8 of the
//    mean) over the square root of two where contact is made or lost. The median, because a part that snaps past an
//    edge rightly throws the hand, once. Judged for hands with damping only: one without rings by itself after a snap.
//  - energy: the hand never gets back more than it put in. `energy_created` is the largest amount by which it ever did,
//    zero where it never did, and a trial with any is not stable (Colgate: a passive device and environment never give
//    out more than was put in).
//
// A rotation counts with a lever of 3 cm, a fist's radius.
#pragma once

#include <cotouch/touch/loop.h>
#include <cotouch/touch/simulated_device.h>

#include <vector>

namespace cotouch {

struct StabilityTrial {
  std::vector<Pose> keys;  // of the moving body; starts without contact
  double speed = 0.05;     // metres per second
  Pose other;              // of the body that stays
  DeviceDynamics device;
  ArmImpedance arm;
  HeldObjectSettings object;
  LimitSettings limits;
  int rest_pauses = 8;       // of 0.2 s each at every key: what a snap set in motion must have time to die out
  double calm_speed = 2e-3;  // metres per second
};

struct StabilityOutcome {
  bool stable = false;
  double rest_speed = 0;       // worst of all rests, m/s
  double slide_speed = 0;      // worst median of all stretches, m/s, slow motion taken out
  bool growing = false;        // in some rest
  double energy_created = 0;   // J
  double largest_force = 0;    // N, written to the device
  double deepest = 0;          // m
  std::uint64_t touching = 0;  // cycles with contact
};

// Forgets what the engine remembers, then runs the trial. Deterministic. Throws Error on impossible settings.
StabilityOutcome try_stability(ContactEngine& engine, const StabilityTrial& trial);

}  // namespace cotouch
