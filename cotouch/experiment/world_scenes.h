// The worlds of the experiment `world`, and what is measured in them.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/world/input.h>
#include <cotouch/world/scene.h>

#include <vector>

namespace cotouch {

// The built-in scene of blocks, a little above where they come to rest.
Scene stack_world(Progress& progress);
// A ball that runs into a triangle of others, far from everything else: momentum is conserved.
Scene billiard_world(Progress& progress);
// One body, begun so that it tumbles.
Scene tumbling_world(Progress& progress);
// Blocks that fall onto a plate, in layers, each turned a little differently.
Scene many_blocks_world(int blocks, Progress& progress);

// A bar that a hand at the origin holds by its upper end, turned by `amplitude` (radians) from where it hangs.
struct Pendulum {
  Scene scene;
  double inertia = 0;    // about the hand, kg m^2
  double stiffness = 0;  // against small turns: gravity's and the grasp's own, N m/rad
};
Pendulum pendulum_world(double amplitude, Progress& progress);

// The built-in scene without its task, the fuel-control box between its rails in two hands.
struct Docking {
  Scene scene;
  std::vector<HandInput> hands;  // as they take hold
  double speed = 0;              // along -x, m/s
  int steps = 0;                 // at 10 ms, until the box touches the stop
  std::uint32_t nodes = 0;       // a pair's budget
};
Docking docking_world(Progress& progress);

// Everything the experiment reports but the thin walls, which take the longest.
void measure_bodies(const ExperimentOptions& options, ExperimentReport& report);
// A flat face on a plate: stiffness against the promise.
void measure_flat(const ExperimentOptions& options, ExperimentReport& report);
// Twelve discretisations of the thinnest scene: depth and energy.
void measure_thin(const ExperimentOptions& options, ExperimentReport& report);

}  // namespace cotouch
