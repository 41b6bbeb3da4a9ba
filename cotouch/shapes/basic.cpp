#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <algorithm>
#include <map>
#include <utility>

namespace cotouch {

TriangleMesh make_box(const Vec3d& size) {
  TriangleMesh mesh;
  mesh.name = "box";
  // Corner i has bit 0, 1, 2 set where x, y, z is high.
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back(
        {(i & 1 ? 0.5 : -0.5) * size.x, (i & 2 ? 0.5 : -0.5) * size.y, (i & 4 ? 0.5 : -0.5) * size.z});
  mesh.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5},   // -x, +x
                    {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},   // -y, +y
                    {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};  // -z, +z
  return mesh;
}

TriangleMesh make_sphere(double radius, int subdivisions) {
  if (subdivisions < 0 || subdivisions > 10)
    throw Error("A sphere can be subdivided 0 to 10 times, not " + std::to_string(subdivisions) + ".",
                ErrorCode::invalid_argument);
  // The icosahedron: cyclic permutations of (0, +-1, +-golden ratio).
  const double g = 0.5 * (1 + std::sqrt(5.0));
  TriangleMesh mesh;
  mesh.name = "sphere";
  mesh.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                   {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  mesh.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  for (int level = 0; level < subdivisions; ++level) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middles;
    const auto middle = [&](std::uint32_t a, std::uint32_t b) {
      const auto [at, added] = middles.try_emplace(std::minmax(a, b), static_cast<std::uint32_t>(mesh.vertices.size()));
      if (added) {
        // On the sphere at every level, or the next level's triangles come out uneven.
        const Vec3d sum = normalized(mesh.vertices[a]) + normalized(mesh.vertices[b]);
        mesh.vertices.push_back(sum);
      }
      return at->second;
    };
    std::vector<Triangle> finer;
    finer.reserve(4 * mesh.triangles.size());
    for (const auto& [a, b, c] : mesh.triangles) {
      const std::uint32_t ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
  }
  for (Vec3d& v : mesh.vertices) v = normalized(v) * radius;
  return mesh;
}

TriangleMesh make_torus(double ring_radius, double tube_radius, int ring_steps, int tube_steps) {
  if (!(tube_radius > 0 && tube_radius < ring_radius))
    throw Error("A torus needs a tube thinner than its ring.", ErrorCode::invalid_argument);
  std::vector<ProfilePoint> profile;
  for (int i = 0; i < tube_steps; ++i) {
    const SinCos t = sin_cos(2 * k_pi * i / tube_steps);
    profile.push_back({ring_radius + tube_radius * t.cos, tube_radius * t.sin});
  }
  TriangleMesh mesh = turn_profile(profile, true, ring_steps);
  mesh.name = "torus";
  return mesh;
}

TriangleMesh make_cylinder(double radius, double height, int steps) {
  const double h = 0.5 * height;
  TriangleMesh mesh = turn_profile({{0, -h}, {radius, -h}, {radius, h}, {0, h}}, false, steps);
  mesh.name = "cylinder";
  return mesh;
}

}  // namespace cotouch
