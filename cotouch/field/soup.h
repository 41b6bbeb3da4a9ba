// Polygon soup made ready for signing: equal corners welded, triangles without area and repeated ones left out, and the
// rest gathered into patches within which neighbours agree on which side is which.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <vector>

namespace cotouch {

struct Soup {
  TriangleMesh mesh;                     // welded; triangles of one patch consistently oriented where that is possible
  std::vector<std::uint32_t> patch;      // of each triangle
  std::vector<std::uint8_t> turned;      // of each triangle: is its orientation not the one it came with?
  std::vector<std::uint8_t> patch_open;  // of each patch: has it an edge with no neighbour?

  std::size_t patches() const { return patch_open.size(); }
  void turn(std::size_t triangle) {
    std::swap(mesh.triangles[triangle][1], mesh.triangles[triangle][2]);
    turned[triangle] ^= 1;
  }
};

// `mesh` must have finite vertices and valid indices.
Soup clean_soup(const TriangleMesh& mesh);

}  // namespace cotouch
