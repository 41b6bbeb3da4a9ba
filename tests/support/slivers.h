// Meshes whose triangles all meet in one corner: each search among them meets all of their boxes.
#pragma once

#include <cotouch/base/trig.h>
#include <cotouch/mesh/mesh.h>

#include <cstdint>

namespace cotouch {

// A cone that is open below, of so many slivers. Its rim goes up and down by `waves` metres, so that no fewer follow
// it.
inline TriangleMesh fan_of_slivers(std::uint32_t slivers, double waves = 0) {
  TriangleMesh mesh;
  mesh.vertices.push_back({0, 0, 1});
  for (std::uint32_t i = 0; i < slivers; ++i) {
    const double angle = 2 * k_pi * i / slivers;
    const SinCos turn = sin_cos(angle);
    mesh.vertices.push_back({turn.cos, turn.sin, waves == 0 ? 0 : waves * sin_cos(40 * angle).cos});
    mesh.triangles.push_back({0, i + 1, (i + 1) % slivers + 1});
  }
  return mesh;
}

}  // namespace cotouch
