// How far up a coupling may go in the experiment `stability`: who holds it, what is tried, and what came of it.
#pragma once

#include <cotouch/experiment/stability_scenes.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cotouch {

// A hand and its manner.
struct TrialHand {
  std::string name;
  ArmImpedance arm;
  double speed = 0;   // m/s from key to key; 0: as the scene's script says
  int taps = 0;       // on every key (StabilityTrial)
  double jitter = 0;  // s, of the loop that it is served by (DeviceDynamics)
};

// Arms with and without damping of their own (without is the worst there is for a passive device: it gives everything
// back), a fingertip that weighs less than the device, and hands that are fast, tap, or are served late.
std::vector<TrialHand> trial_hands(bool quick);

// Over the limit of `passive_stiffness` of the default device, in order; among them the default coupling, whose angular
// stiffness is the same share of its own limit.
std::vector<double> trial_shares(bool quick);
double standard_share();
// Trials of one hand in one scene, at most.
std::size_t most_trials(bool quick);

StabilityTrial trial_of(const TouchedScene& scene, const TrialHand& hand, const DeviceDynamics& device, double share);
// In words. Only of an outcome that is not stable.
std::string why_unstable(const StabilityOutcome& outcome);

// One hand's way up in one scene: in order to the first share that is not stable; what lies between it and the one
// before is then halved a few times. If the theory does not speak about the scene, no farther than the default
// coupling.
struct Climb {
  std::vector<StabilityOutcome> outcomes;  // of trial_shares(), up to and including the first unstable one
  StabilityOutcome standard;               // at the default coupling
  double largest_stable = 0;               // share of the limit
  double first_unstable = 0;               // 0: none up to the end
  std::string why;                         // it was
};
// `done` is told how many trials of most_trials() are over.
Climb climb(const TouchedScene& scene, const TrialHand& hand, const DeviceDynamics& device, bool quick,
            const std::function<void(std::size_t)>& done);

// All hands in one scene.
struct Ascent {
  std::string scene;
  std::vector<double> share, rest_speed, shaking;  // worst over hands, until one of them is unstable
  double largest_stable = 0;
  std::string ended_by;       // empty if nothing shook
  double felt_stiffness = 0;  // N/m, with the largest stable coupling: coupling and contact in series
};
Ascent ascent_of(const std::string& scene, std::span<const Climb> climbs, bool quick);

// Over everything that was climbed, the rigid wall among it.
struct StabilityLimit {
  double share = 0;           // the smallest of the largest stable ones
  double felt_stiffness = 0;  // N/m, the smallest of those above 0: what can be felt wherever a key touches
};
StabilityLimit limit_of(std::span<const Ascent> ascents);

}  // namespace cotouch
