// One trial of paper 004's study (section 4): two people on two machines, joined by a network, dock the box together.
// The experiments `docking` and `prediction` run many of them.
//
// The world is the built-in scene without gravity and friction, as in the study (section 4.2). Each trial is simulated
// in one process (session/simulated_session.h); a trial's seed gives the same two people, whatever the condition.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/net/network_profile.h>
#include <cotouch/session/prediction.h>
#include <cotouch/world/model.h>

#include <memory>
#include <vector>

namespace cotouch {

std::shared_ptr<const WorldModel> docking_study_world(Progress& progress);

struct TrialCondition {
  NetworkProfile network;
  bool synchronised = true;
  Prediction prediction = Prediction::hold;
};

struct DockingTrial {
  // Between the two subjective views of the box, at each clock tick that both machines reached, from when both take
  // part until the box has snapped in for both, or the trial is given up.
  std::vector<double> seconds;
  std::vector<double> distance;   // metres
  std::vector<Vec3d> turn;        // radians: rotation vector from one view to the other
  int completed = 0;              // people who saw it snap in
  double completion = 0;          // seconds until the first did; the whole trial if nobody did
  std::uint64_t mismatches = 0;   // of agreed states; never
  std::uint64_t late_inputs = 0;  // own inputs that were not in the own view at the next tick
  std::vector<double> rollbacks;  // ticks simulated again, each time

  double mean_distance() const;  // metres
  double largest_distance() const;
  // Of one axis (0 to 2), radians, as the study's X, Y and Z orientation.
  double mean_turn(std::size_t axis) const;
  double largest_turn(std::size_t axis) const;
};

// `limit` seconds after both take part the trial is given up.
DockingTrial run_docking_trial(const std::shared_ptr<const WorldModel>& model, const TrialCondition& condition,
                               std::uint64_t seed, double limit);

}  // namespace cotouch
