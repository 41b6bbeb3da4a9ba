// The lowest vibration modes of an elastic body: K u = w^2 M u.
//
// Block Lanczos (Golub & Underwood 1977) with the operator inverse(K) M, whose largest eigenvalues 1 / w^2 stand well
// apart, in the inner product u' M v and with full reorthogonalisation. Blocks of eight find repeated frequencies,
// which symmetric bodies have. The rigid motions of a free body are known beforehand and kept out (fem_solver.h).
//
// Accurate to about ten digits for compact bodies. Rounding of the stiffness itself costs slender ones digits: w^2 is
// off by the share 1e-16 W^2 / w^2, where W is what the smallest tetrahedra alone would vibrate at; with rods two
// hundred times as long as thick, 2e-5 for the lowest mode.
//
// Computed with the same bits on every machine, because peers that prepare the same part must agree about it.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/fem.h>
#include <cotouch/elastic/fem_solver.h>
#include <cotouch/elastic/shapes.h>

#include <cstdint>
#include <vector>

namespace cotouch {

struct Modes {
  Shapes shapes;                      // of all nodes of the mesh, zero at anchored ones; mass-orthonormal, 1/sqrt(kg)
  std::vector<double> omega_squared;  // (rad/s)^2, ascending
  std::uint32_t rigid = 0;  // rigid motions that were found and left out: 6 of a free body, 0 of an anchored one
};

// The component of each mode that moves most is positive (the first of them, if several move as much).
// Throws Error if the body has not that many modes, or if parts of it hang together so loosely that one of them costs
// no force, as at a single node or edge.
Modes lowest_modes(const TetMesh& mesh, const FemSystem& system, std::uint32_t count, Progress& progress);
// The same with a solver that is there already.
Modes lowest_modes(const FemSolver& solver, std::uint32_t count, Progress& progress);

}  // namespace cotouch
