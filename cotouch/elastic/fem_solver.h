// Displacements of an elastic body under given forces: K u = f, solved with one factorisation for many forces.
//
// A free body answers only to forces that are in balance. Whatever else acts on it, its acceleration as a rigid body
// takes off: with R the rigid motions, R' M R = I, and P = I - R R' M, what is solved is K u = P' f, and of all u that
// differ by a rigid motion the one with R' M u = 0 is returned. For that the body is held at three nodes by six
// springs, no more than needed: under forces in balance they stay without load, so they change nothing but the rigid
// motion.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/cholesky.h>
#include <cotouch/elastic/fem.h>
#include <cotouch/elastic/shapes.h>
#include <cotouch/elastic/tet_mesh.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

class FemSolver {
 public:
  // `system` was assembled from `mesh`, and must live as long as this.
  FemSolver(const TetMesh& mesh, const FemSystem& system, Progress& progress);

  // Forces (N) on all nodes of the mesh in, displacements (m) out. Anchored nodes do not move, whatever acts on them.
  void solve(Shapes& fields) const;
  // The same for a bundle over the system's unknowns.
  void solve(std::span<double> bundle) const;

  const FemSystem& system() const { return system_; }
  std::uint32_t mesh_nodes() const { return mesh_nodes_; }
  // How many rigid motions there are: 6 of a free body, 0 of an anchored one.
  std::uint32_t rigid() const { return rigid_.empty() ? 0 : 6; }
  // x := P x for a bundle over the system's unknowns: takes the rigid motions off displacements.
  void remove_rigid(std::span<double> bundle) const;

 private:
  const FemSystem& system_;
  std::uint32_t mesh_nodes_;
  std::vector<double> rigid_, rigid_mass_;  // bundles of R, with two fields of zeros, and of M R; empty if anchored
  SparseCholesky factor_;
};

}  // namespace cotouch
