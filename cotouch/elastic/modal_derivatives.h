// The shapes in which a reduced St. Venant-Kirchhoff body bends: its lowest modes and how they change as it bends
// (modal derivatives, Barbic & James 2005, section 4).
//
// Bending a bar sideways by a mode p_i alone would stretch it; the second derivative of the static shape along the
// modes i and j tells how it would rather go,
//   K D_ij = -H : p_i p_j,   H = the second derivative of the full body's force at rest.
// Modes and derivatives are more shapes than needed. Those that matter most are found as principal components, weighted
// by how far the body usually goes along each: modes by l_1 / l_i, derivatives, made of mass one before, by
// l_1^2 / (l_i l_j), where l_i is the square of the frequency of mode i.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/fem_solver.h>
#include <cotouch/elastic/material.h>
#include <cotouch/elastic/modes.h>

#include <cstdint>

namespace cotouch {

// All D_ij with i <= j: (0,0) (0,1) ... (0,m-1) (1,1) ..., of all nodes of the mesh, zero at anchored ones. Those of a
// free body contain no rigid motion. `solver` was made from the mesh, and the modes with it.
Shapes modal_derivatives(const TetMesh& mesh, const Material& material, const FemSolver& solver, const Modes& modes,
                         Progress& progress);

// `count` mass-orthonormal shapes, the most important first. The component of each that moves most is positive (the
// first of them, if several move as much). Throws Error if there are not that many modes and derivatives.
Shapes stvk_basis(const TetMesh& mesh, const Material& material, const FemSolver& solver, const Modes& modes,
                  std::uint32_t count, Progress& progress);

}  // namespace cotouch
