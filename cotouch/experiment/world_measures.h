// What the experiment `world` measures, whatever the world: each is a function of a model, so that it can be held
// against worlds whose answer is known.
#pragma once

#include <cotouch/experiment/experiment.h>
#include <cotouch/part/part.h>
#include <cotouch/touch/stability.h>
#include <cotouch/world/step.h>

#include <span>
#include <vector>

namespace cotouch {

// Farthest that any body's position, or a corner a body's reach away from it, got from where it was, metres.
double drift(const WorldModel& model, const WorldState& before, const WorldState& after);

// Left alone for `settle` seconds, then watched for `seconds`.
struct AtRest {
  double drift = 0;    // metres while watched
  double kinetic = 0;  // joules at the end
  double deepest = 0;  // metres, of all contacts at the end
};
AtRest watch_at_rest(const WorldModel& model, double settle, double seconds);

// Of bodies that meet each other and nothing else.
struct Collisions {
  double momentum_error = 0;  // of the whole momentum
  double energy_left = 0;     // share of the kinetic energy
  std::size_t moving = 0;     // bodies faster than 1 cm/s at the end
};
Collisions watch_collisions(const WorldModel& model, double seconds);

// Seconds that the first body's centre of mass takes from one passage of x = 0 towards +x to the next, in a hand that
// holds the body at the origin; the mean of all. 0: it passed fewer than two times.
double swing_period(const WorldModel& model, double seconds);

// Largest change of the kinetic energy at any time, over what it was at the start.
double worst_energy_error(const WorldModel& model, double seconds);

// Of a symmetric matrix, by its characteristic polynomial.
double largest_eigenvalue(const Mat3& m);

// A shell pressed onto a field that stands at the origin.
class PressedShell {
 public:
  PressedShell(const Part& shell, const Part& field);
  const PairContact& at(const Pose& shell);
  const ContactEngine& engine() const { return *engine_; }

  // How high the shell is when its first point touches, turned like this; between `low`, where it touches, and `high`,
  // where it does not.
  double touching_height(const Quat& turn, double low, double high);
  // How fast the force changes with a straight motion, by differences over `step` metres; stiffness is positive.
  Mat3 stiffness(const Pose& pose, double step);

 private:
  std::shared_ptr<const ContactEngine> engine_;
  std::unique_ptr<ContactWorkspace> workspace_;
  PairContact contact_;
};

// The worst of several trials; `cells` are the sizes of the fields' cells, one a trial, metres.
void report_thin(std::span<const StabilityOutcome> outcomes, std::span<const double> cells, ExperimentReport& report);

}  // namespace cotouch
