// Procedural shapes: exact, reproducible test objects and the parts of the built-in scenes.
// All are closed and outward-oriented unless their comment says otherwise; lengths in metres. The same arguments give
// the same bits on every machine.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstdint>

namespace cotouch {

TriangleMesh make_box(const Vec3d& size);                                                         // centred
TriangleMesh make_sphere(double radius, int subdivisions);                                        // icosphere, centred
TriangleMesh make_torus(double ring_radius, double tube_radius, int ring_steps, int tube_steps);  // axis z
TriangleMesh make_cylinder(double radius, double height, int steps);                              // axis z, centred

}  // namespace cotouch
