// Displacement fields of a mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cotouch {

// `count` of them one after another, x, y and z of every node in turn.
struct Shapes {
  std::uint32_t nodes = 0, count = 0;
  std::vector<double> values;

  double* operator[](std::size_t i) { return values.data() + i * 3 * nodes; }
  const double* operator[](std::size_t i) const { return values.data() + i * 3 * nodes; }
};

}  // namespace cotouch
