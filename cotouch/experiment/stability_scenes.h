// Where the experiment `stability` presses and slides: every built-in scene, and the wall of the theory.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/touch/stability.h>
#include <cotouch/world/scene.h>

#include <memory>
#include <string>
#include <vector>

namespace cotouch {

// A world and what a hand does in it.
struct TouchedScene {
  std::string name;
  std::shared_ptr<const WorldModel> model;
  HandScript script;
  bool theory_holds = true;
};

// The body in the hand is the only one that moves, has no inertia, and nothing bends: what the theory speaks about.
bool theory_holds(const Scene& scene, std::uint32_t held);

// The first of its pushing hands (world/pushing_hands.h).
HandScript script_of(const Scene& scene);

// A prepared scene without its task: a body that snaps into its place gains or loses energy as it must.
TouchedScene touched(Scene scene);

// The one environment the theory speaks about: a rigid wall, its face at z = 0, that a body of a single point touches
// in its position. It shows that the judgement is neither blind nor too strict; no scene is as stiff.
TouchedScene rigid_wall(Progress& progress);

// The work a cycle may take, in nodes; a count, so that it is reproducible.
constexpr std::uint32_t k_stability_nodes = 4000;

// How deep anything gets when a hand pushes as hard as it may.
struct Pressed {
  double force = 0;    // N, the largest felt
  double deepest = 0;  // metres, of all contacts
  double cells = 0;    // the deepest in cells of the field that was entered
};
// The hand is led along the script with no arm that gives way. Near every key it pushes against what it feels, and
// along all axes, until the coupling gives no more; `quick` leaves the axes out.
Pressed press_hard(const TouchedScene& scene, bool quick);

// What a hand feels, N/m: coupling and contact in series, with a coupling of this stiffness. The hand is led along the
// script with no arm that gives way, drawn back at every key until it feels at most 3 N (where the coupling is linear),
// and moved a little to and fro along the force. The stiffest key counts; 0 if none is touched.
double felt_stiffness(const TouchedScene& scene, double coupling);

}  // namespace cotouch
