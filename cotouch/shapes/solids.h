// The solids that the shapes are made of, and the few ways to make one: turning a profile about an axis, sweeping a
// cross-section along a path. Every result is closed and outward-oriented.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstdint>
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

// A tube along a path, `radii` thick at each of its points and closed by flat ends. The cross-section follows the path
// without twisting.
TriangleMesh sweep_tube(const std::vector<Vec3d>& path, const std::vector<double>& radii, int steps);

// The same, hollow: a wall between `inner` and `outer` radius, open through its ends.
TriangleMesh sweep_hollow_tube(const std::vector<Vec3d>& path, double inner, double outer, int steps);

// A prism over a polygon given counter-clockwise in the xy plane, from z = 0 to `height`.
TriangleMesh extrude(const std::vector<Vec3d>& outline, double height);

// A box whose faces are cut into n by n squares.
TriangleMesh make_grid_box(const Vec3d& size, int n);

// Closes the gap between two rings of equally many vertices with two triangles a step. Seen from the outside, with the
// ring `lower` running to the right, `upper` is above it.
void join_rings(TriangleMesh& mesh, std::uint32_t lower, std::uint32_t upper, std::uint32_t count);

void translate(TriangleMesh& mesh, const Vec3d& by);
// Throws Error with `message`, a sentence, unless `holds`.
void require(bool holds, const char* message);

}  // namespace cotouch
