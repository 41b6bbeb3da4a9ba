// Does touch stay calm? One simulated hand, one scene, one setting: run it and judge it.
//
// The hand follows key poses with the simulated device in the closed loop, through the real world and the real
// limits, and rests at every key: the stretches slide, the rests press. A trial is stable when all of these hold:
//
//  - at rest: the handle's root-mean-square speed in the last 0.2 s of every rest is below `calm_speed`,
//    and not growing against the stretch of equal length before it. A hand at rest whose handle moves is moved by us.
//    (2 mm/s at the 10 to 20 Hz of an arm on the coupling is a swing of one encoder step.)
//  - sliding: on the way the handle shakes at most twice as much (6 dB) as on the calm twin of the device, plus
//    `calm_speed`. Shaking is the root-mean-square speed once everything slower than 10 Hz is taken out (a centred mean
//    over 0.1 s), for every piece of up to 2 s. Edges and bumps, and a hand that sets out quickly, shake both alike;
//    what only the sampled loop adds is instability.
//  - energy: device, coupling and contact together never give the hand more than it put in, counted from any instant,
//    also while something touches (`energy_created` and `touching_energy`).
//
// The calm twin. Holding a force for a period T and delaying it by t_d takes K (T/2 + t_d) v^2 of damping away from a
// device that renders a stiffness K (Colgate). The twin is the same device with exactly that much damping more: in
// contact it behaves, to first order in the frequency times T, like the device on a spring without sampling, and
// whatever K is, it is passive by the same theory. It runs the same trial. Where a snap hangs by a hair, trial and twin
// may fall to different sides; then twins with a coupling a twentieth softer and stiffer are asked as well, and one
// that explains the whole trial is enough.
//
// Energy. With H the work the hand did on the handle, D what the device's damping and friction took, E the work of the
// commanded wrench on the handle and S what coupling, contact and bodies with mass store (their motion and height), a
// passive world never lets E + S rise, and a passive whole never lets E + S - D = S + the handle's kinetic energy - H
// rise. Of S the part of the contacts is known only where nothing touches: there it is zero, and never below.
// `energy_created` is the largest rise of E + S - D from an instant without contact to any later one, with S counted
// without the contact's part: what was certainly created, at least. Every instant without contact starts the account
// anew, so that what was dissipated before pays for nothing; what is dissipated while contact lasts may hide as much,
// and `energy_unseen` is its largest amount. The body follows the rounded position of the hand, which leaves up to
// `rounding_energy` in the coupling (half an encoder step on every axis) that no motion put there; and the handle has
// moved by up to v (T + jitter + t_d) since the sample whose force is in effect, `sampling_energy` in the coupling at
// the hand's fastest (1.875 times its mean speed on a reach of minimum jerk). Less than both is not counted against a
// trial.
//
// `touching_energy` is sharper: its account may also start in contact, at any instant, where each pair stores what its
// potential says (contact.h; pairs that share one store a little less together). Then both ends of an account are off
// by up to half an encoder step, together a whole one, and less than four times `rounding_energy` (and
// `sampling_energy`) is not counted. `environment_energy` is the rise of E + S, the virtual side alone (the passivity
// observer of Hannaford & Ryu 2002, with the storage that is known). It may be above zero: a sampled spring gives K
// (T/2 + t_d) v^2, and it is for the device's damping to take that.
//
// A rotation counts with a lever of 3 cm, a fist's radius.
#pragma once

#include <cotouch/device/simulated_device.h>
#include <cotouch/touch/loop.h>

#include <vector>

namespace cotouch {

struct StabilityTrial {
  std::shared_ptr<const WorldModel> model;
  std::uint32_t body = 0;  // id of the one in the hand
  WorkBudget budget;       // nodes for each pair
  std::vector<Pose> keys;  // of that body; starts without contact
  double speed = 0.05;     // metres per second, on average from key to key
  int taps = 0;            // times that it leaves each key by 10 mm the way it came and strikes again, before it rests
  DeviceDynamics device;
  ArmImpedance arm;
  LimitSettings limits;
  int rest_pauses = 8;       // of 0.2 s each at every key: what a snap set in motion must have time to die out
  double calm_speed = 2e-3;  // metres per second
};

struct StabilityOutcome {
  bool stable = false;
  double rest_speed = 0;          // worst of all rests, m/s
  bool growing = false;           // in some rest
  double slide_speed = 0;         // shaking on the piece where it exceeds what is allowed most, m/s
  double allowed_speed = 0;       // there
  double energy_created = 0;      // J, by device, coupling and contact together
  double energy_unseen = 0;       // J, the largest creation that could have gone unnoticed
  double rounding_energy = 0;     // J, up to which the encoder's rounding explains energy_created
  double sampling_energy = 0;     // J, up to which the way since the last sample does
  double touching_energy = 0;     // J, the same counted from within contact too
  double environment_energy = 0;  // J, by coupling and contact alone
  double device_absorbed = 0;     // J, by the device's damping and friction over the interval of environment_energy
  double largest_force = 0;       // N, written to the device
  double rms_force = 0;           // N, over all cycles that touch: motors warm up with its square
  double deepest = 0;             // m, of all bodies
  double depth_cells = 0;         // the same in cells of the field that was entered
  std::uint64_t touching = 0;     // cycles with contact

  // More than the encoder's rounding explains, counted from free air or from within contact.
  bool creates_energy() const noexcept {
    return energy_created > rounding_energy + sampling_energy ||
           touching_energy > 4 * rounding_energy + sampling_energy;
  }
};

// The deepest contact of a step, in cells of the field that is entered.
double deepest_in_cells(const WorldModel& model, const StepScratch& scratch);

// Deterministic. Throws Error on impossible settings.
StabilityOutcome try_stability(const StabilityTrial& trial);

}  // namespace cotouch
