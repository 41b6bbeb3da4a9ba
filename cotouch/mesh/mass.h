// Mass, centre of mass and inertia of a part made of one material.
//
// With density rho and the solid V:
//   mass = rho V,  center = 1/V * integral of x,  inertia = rho * integral of (|r|^2 E - r r^T), r = x - center.
// Kilograms, metres, kg m^2, kg/m^3. Integrals are sums in a fixed order: the same bits on every machine.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/mesh/mesh.h>

#include <span>

namespace cotouch {

struct MassProperties {
  double mass = 0;
  Vec3d center;  // in the part's frame
  Mat3 inertia;  // about the centre, in the part's axes; symmetric to the last bit

  friend constexpr bool operator==(const MassProperties& a, const MassProperties& b) {
    return a.mass == b.mass && a.center == b.center && a.inertia.m == b.inertia.m;
  }
};

// Integrals over a solid of 1, x and x x^T, where x is measured from a point the caller chose.
struct VolumeMoments {
  double volume = 0;
  Vec3d first;
  Vec3d squares;   // of xx, yy, zz
  Vec3d products;  // of yz, zx, xy
};
// `from` is the point the moments were measured from. Throws Error if the volume or the density is not positive.
MassProperties mass_properties(const VolumeMoments& moments, const Vec3d& from, double density);

// Exact if the mesh is_solid; if it is not, use the integral over its field (field/mass.h). Throws Error if the mesh
// encloses no volume or the density is not positive.
MassProperties mass_properties(const TriangleMesh& mesh, double density);

// Whether the mesh is the boundary of a solid: closed, facing outward (cavities inward), nothing crossing or nested
// twice. Judged at some thousand points spread over the surface.
bool is_solid(const TriangleMesh& mesh);

// The same matter in the frame the pose is given in.
MassProperties transformed(const MassProperties& matter, const Pose& pose);

struct PlacedMass {
  MassProperties matter;
  Pose pose;  // of its frame in the frame of the whole
};
// Several parts as one rigid body, in the frame the poses are given in. Nothing, if there are none.
MassProperties combined(std::span<const PlacedMass> parts);

// Whether matter like this can exist: a positive mass, a symmetric inertia, and no principal moment larger than the sum
// of the other two (a flat sheet has them equal). For values that a file or a user states.
bool is_physical(const MassProperties& matter);

}  // namespace cotouch
