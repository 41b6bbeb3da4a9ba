// The lowest vibration modes of an elastic body: K u = w^2 M u.
//
// Computed with the same bits on every machine, because peers that prepare the same part must agree about it.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/elastic/fem.h>

#include <cstdint>
#include <vector>

namespace cotouch {

// Displacement fields of a mesh: `count` of them one after another, x, y and z of every node in turn.
struct Shapes {
  std::uint32_t nodes = 0, count = 0;
  std::vector<double> values;

  double* operator[](std::size_t i) { return values.data() + i * 3 * nodes; }
  const double* operator[](std::size_t i) const { return values.data() + i * 3 * nodes; }
};

struct Modes {
  Shapes shapes;                      // of all nodes of the mesh, zero at anchored ones; mass-orthonormal, 1/sqrt(kg)
  std::vector<double> omega_squared;  // (rad/s)^2, ascending
  std::uint32_t rigid = 0;  // rigid motions that were found and left out: 6 of a free body, 0 of an anchored one
};

// Throws Error if the body has not that many modes.
Modes lowest_modes(const TetMesh& mesh, const FemSystem& system, std::uint32_t count, Progress& progress);

}  // namespace cotouch
