// Bodies that several tests of elastic parts use.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/elastic/material.h>
#include <cotouch/elastic/tet_mesh.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cotouch::test {

// A box whose inner nodes are moved at random, by up to 0.15 of a cell along each axis.
inline TetMesh irregular_box(const Vec3d& size, const std::array<std::uint32_t, 3>& counts) {
  TetMesh mesh = tet_box(size, counts);
  Random random(7);
  const Vec3d cell{size.x / counts[0], size.y / counts[1], size.z / counts[2]};
  for (Vec3d& p : mesh.nodes) {
    bool inner = true;
    for (std::size_t i = 0; i < 3; ++i) inner = inner && p[i] > 0.5 * cell[i] && p[i] < size[i] - 0.5 * cell[i];
    if (!inner) continue;
    for (std::size_t i = 0; i < 3; ++i) p[i] += random.uniform(-0.15, 0.15) * cell[i];
  }
  return mesh;
}

// The nodes of the face x = 0 of a box.
inline std::vector<std::uint32_t> nodes_at_the_low_end(const TetMesh& mesh) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t i = 0; i < mesh.nodes.size(); ++i)
    if (mesh.nodes[i].x < 1e-12) nodes.push_back(i);
  return nodes;
}

}  // namespace cotouch::test
