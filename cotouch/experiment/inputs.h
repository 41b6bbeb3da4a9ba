// What the contact experiments run on: the rigid scenes of the paper's Table I, as near as open data comes to them.
#pragma once

#include <cotouch/contact/nested.h>
#include <cotouch/contact/part.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/touch/held_object.h>
#include <cotouch/world/hand_path.h>

#include <string>
#include <vector>

namespace cotouch {

struct ContactCase {
  std::string name;
  std::string note;  // what stands in for what
  Shell shell;
  Field field;
  TriangleMesh shell_mesh, field_mesh;
  Moving moving = Moving::field;
  Pose other;               // of the body that is not in the hand
  HandPath hand{{Pose{}}};  // of the one that is
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
  Pose object;  // where contact was evaluated
  Wrench felt;
  ContactStats stats;
  double contact_us = 0;  // the engine alone
  double cycle_us = 0;    // the whole cycle: contact, coupling, equilibrium
};

// Moves the hand along its path at 1 kHz and records every cycle.
std::vector<FeltCycle> feel(const ContactCase& scene, NestedContact& engine, const HeldObjectSettings& settings);

double median(std::vector<double> values);
double percentile(std::vector<double> values, double share);

}  // namespace cotouch
