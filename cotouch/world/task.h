// Something to achieve in a world: bring a body to a place (paper 004: docking a fuel-control box into its bracket).
#pragma once

#include <cotouch/base/pose.h>

#include <cstdint>
#include <string>

namespace cotouch {

// The body snaps into its place once it is near enough; from then on it is fixed and nobody holds it. Paper 004 takes 4
// cm and 9.5 degrees.
struct Task {
  std::uint32_t body = 0;  // id
  Pose target;
  double position_tolerance = 0.04;                             // metres
  double angle_tolerance = 9.5 * 3.14159265358979323846 / 180;  // radians
  std::string summary;                                          // a sentence for the user
};

struct TaskError {
  double position = 0;  // metres from the target
  double angle = 0;     // radians from it
};

TaskError task_error(const Task& task, const Pose& body) noexcept;
bool within_tolerance(const Task& task, const TaskError& error) noexcept;

}  // namespace cotouch
