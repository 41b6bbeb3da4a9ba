// The few ways in which the procedural shapes are made: turning a profile about an axis, sweeping a cross-section along
// a path. Every result is closed and outward-oriented.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <vector>

namespace cotouch {

// A point of a profile: distance from the z axis, and height.
struct ProfilePoint {
  double radius, z;
};

// Turns a profile about the z axis in `steps` steps. Walk the profile so that the solid is on the left in the (radius,
// z) plane: upwards on the outside. An open profile must begin and end on the axis (radius 0); a closed one, which
// gives a ring, must stay clear of it.
TriangleMesh turn_profile(const std::vector<ProfilePoint>& profile, bool closed, int steps);

// Six times the volume enclosed by a closed mesh is the sum of its corners' triple products; positive when the
// triangles face outward. Cubic metres.
double signed_volume(const TriangleMesh& mesh);

}  // namespace cotouch
