// Cuts the inside of a distance field into tetrahedra: isosurface stuffing with a uniform lattice (Labelle & Shewchuk,
// "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", SIGGRAPH 2007).
//
// A body-centred cubic lattice covers the field. Its points that are close to the surface along an edge are moved onto
// the surface, and its tetrahedra are cut where their edges cross the surface (see stencil.h). Every dihedral angle is
// between 10.7 and 164.8 degrees, whatever the field. Features thinner than an edge may be lost, and sharp edges of the
// part are cut off by a part of a lattice edge.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/tet_mesh.h>
#include <cotouch/field/field.h>

#include <cstddef>
#include <cstdint>

namespace cotouch {

constexpr std::size_t k_most_tets = 2'000'000;

struct TetSettings {
  double edge = 0;                   // of the lattice's cubes, metres; 0: as long as `target_tets` asks for
  std::uint32_t target_tets = 3000;  // within some 15 %; parts that are thin everywhere may need more

  friend bool operator==(const TetSettings&, const TetSettings&) = default;
};

// The same field and settings give the same mesh to the last bit. Faces fit together, volumes are positive, every node
// is used; parts that are thinner than an edge somewhere may fall into pieces (see tet_faces.h). Throws Error, saying
// what would do, if the edge is so long that no tetrahedron of the lattice is kept whole, or so short that there would
// be more than k_most_tets.
TetMesh tetrahedralise(const Field& field, const TetSettings& settings, Progress& progress);

}  // namespace cotouch
