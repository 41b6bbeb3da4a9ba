// Meshes as people have them, that a field has to thicken, cap and close: open sheets, wide holes, walls thinner than a
// cell, and all of it in one.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/field/build.h>
#include <cotouch/shapes/shapes.h>

#include <vector>

namespace cotouch::soup_test {

struct Soup {
  const char* name;
  TriangleMesh mesh;
  Field field;
  FieldReport report;
};

constexpr double k_size = 0.1;  // metres, about

// A square that is bent along its middle.
inline TriangleMesh open_sheet() {
  constexpr double k_half = k_size / 2;
  TriangleMesh mesh;
  mesh.vertices = {{-k_half, -k_half, 0}, {0, -k_half, 0.02}, {k_half, -k_half, 0},
                   {-k_half, k_half, 0},  {0, k_half, 0.02},  {k_half, k_half, 0}};
  mesh.triangles = {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}};
  return mesh;
}

// A ball without the third of it that is above `top`.
inline TriangleMesh open_ball(double top = 0.015) {
  TriangleMesh mesh = make_sphere(k_size / 2, 3);
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    return (mesh.vertices[t[0]] + mesh.vertices[t[1]] + mesh.vertices[t[2]]).z / 3 > top;
  });
  return mesh;
}

// A closed box with a wall of a tenth of a cell at a resolution of 64, along no axis of the lattice.
inline TriangleMesh thin_plate() {
  TriangleMesh mesh = make_box({k_size, 0.8 * k_size, 0.1 * k_size / 64});
  const Quat tilt = quat_from_rotation_vector({0.3, 0.2, 0.1});
  for (Vec3d& v : mesh.vertices) v = rotate(tilt, v);
  return mesh;
}

// Three in ten triangles missing.
inline TriangleMesh torn_ring() {
  TriangleMesh mesh = make_torus(0.035, 0.013, 80, 40);
  std::size_t i = 0;
  std::erase_if(mesh.triangles, [&](const Triangle&) { return i++ * 7 % 10 < 3; });
  return mesh;
}

inline const std::vector<Soup>& soups() {
  static const std::vector<Soup> all = [] {
    std::vector<Soup> made;
    TriangleMesh mixed = open_ball();
    for (const TriangleMesh& other : {open_sheet(), thin_plate(), torn_ring()}) append(mixed, other);
    made.push_back({"open sheet", open_sheet(), {}, {}});
    made.push_back({"wide hole", open_ball(), {}, {}});
    made.push_back({"thin plate", thin_plate(), {}, {}});
    made.push_back({"torn ring", torn_ring(), {}, {}});
    made.push_back({"all in one", mixed, {}, {}});
    NoProgress quiet;
    for (Soup& soup : made) soup.field = build_field(soup.mesh, {.resolution = 64}, quiet, &soup.report);
    return made;
  }();
  return all;
}

}  // namespace cotouch::soup_test
