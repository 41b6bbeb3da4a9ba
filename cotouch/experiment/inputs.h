// What the contact experiments run on: the rigid scenes of the paper's Table I, as near as open data comes to them.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/step.h>

#include <string>
#include <vector>

namespace cotouch {

// A scene of two bodies, one at rest and one in the hand. Of the two the one with more points brings its shell.
struct ContactCase {
  static constexpr std::uint32_t k_resting = 1, k_held = 2;  // ids

  std::string name;
  std::string note;  // what stands in for what
  Scene scene;
  std::shared_ptr<const WorldModel> model;  // of the scene, with steps of a millisecond
  HandPath hand{{Pose{}}};                  // poses of the body that it holds

  const ContactEngine& engine() const { return model->engine(model->pairs().front()); }
  bool holds_shell() const;
  // Contact with the held body at `held`, the other in its place.
  PairContact contact_at(const Pose& held, const Detail& detail, ContactWorkspace& workspace,
                         ContactCache* cache) const;
  PairState state_at(const Pose& held) const;
  const Part& shell_part() const;
  const Part& field_part() const;
};

// Paper: knight + axe. Here a creature of a million points, struck by a toothed wheel.
ContactCase million_points_case(const ExperimentOptions& options);
// Paper: dragon + dragon hole. Here the scanned dragon where it can be had, else the creature, in a block from which
// its own offset field was cut.
ContactCase dragon_hole_case(const ExperimentOptions& options);
// Paper: bridge + dinosaur. Here a procedural bridge and creature, both rigid.
ContactCase bridge_creature_case(const ExperimentOptions& options);

// Paper: the dinosaur's back along the bridge's upper shelf. Here the creature's back under the bridge's beam.
ContactCase bump_slide_case(const ExperimentOptions& options);

// A scanned model fetched by `./dev models` (folder in COTOUCH_MODELS), with an empty mesh where there is none.
TriangleMesh scanned_model(const std::string& file_name);

// One cycle of a hand motion as it was felt.
struct FeltCycle {
  Pose object;  // where contact was evaluated first
  Wrench felt;
  ContactStats stats;
  double contact_us = 0;  // processor time of one evaluation of contact there, in a run of its own
  double cycle_us = 0;    // processor time of the whole cycle: contact, coupling, equilibrium
};

// Moves the hand along its path at 1 kHz and records every cycle, with contacts as deep as `detail` says.
std::vector<FeltCycle> feel(const ContactCase& scene, const StepDetail& detail = {Detail::Rule::by_work, {}, {}});
// The same within a budget of nodes.
std::vector<FeltCycle> feel(const ContactCase& scene, const WorkBudget& budget);

double median(std::vector<double> values);
double percentile(std::vector<double> values, double share);

}  // namespace cotouch
