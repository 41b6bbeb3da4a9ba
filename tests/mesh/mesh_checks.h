// What the mesh tests ask of a closed, outward-oriented mesh.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <map>
#include <utility>

namespace cotouch {

// Every directed edge occurs once, and so does its opposite: closed, manifold along edges, consistently oriented.
inline bool is_closed_and_consistent(const TriangleMesh& mesh) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      if (t[i] >= mesh.vertices.size() || t[i] == t[(i + 1) % 3]) return false;
      ++edges[{t[i], t[(i + 1) % 3]}];
    }
  for (const auto& [edge, count] : edges) {
    const auto opposite = edges.find({edge.second, edge.first});
    if (count != 1 || opposite == edges.end()) return false;
  }
  return !mesh.triangles.empty();
}

}  // namespace cotouch
