// Triangle meshes as they come: a list of vertices and a list of triangles, nothing assumed about either.
#pragma once

#include <cotouch/base/vec.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cotouch {

using Triangle = std::array<std::uint32_t, 3>;

struct TriangleMesh {
  std::string name;
  std::vector<Vec3d> vertices;  // metres
  std::vector<Triangle> triangles;

  Box3d bounds() const;
  std::array<Vec3d, 3> corners(std::size_t triangle) const {
    const Triangle& t = triangles[triangle];
    return {vertices[t[0]], vertices[t[1]], vertices[t[2]]};
  }
};

// Both meshes in one, with no attempt to join them.
void append(TriangleMesh& mesh, const TriangleMesh& other);

// Six times the volume enclosed by a closed mesh is the sum of its corners' triple products; positive when the
// triangles face outward. Cubic metres.
double signed_volume(const TriangleMesh& mesh);

}  // namespace cotouch
