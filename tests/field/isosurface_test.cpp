#include <cotouch/base/error.h>
#include <cotouch/field/build.h>
#include <cotouch/field/isosurface.h>

#include <gtest/gtest.h>

#include <map>

namespace cotouch::this_file {
namespace {

double torus_distance(const Vec3d& p) {
  const double ring = std::sqrt(p.x * p.x + p.y * p.y) - 1;
  return std::sqrt(ring * ring + p.z * p.z) - 0.3;
}

Field torus_field() {
  Box3d box;
  box.add({-1.3, -1.3, -0.3});
  box.add({1.3, 1.3, 0.3});
  FieldSettings settings;
  settings.resolution = 60;
  return build_field(torus_distance, box, settings);
}

TEST(Isosurface, IsClosedAndOriented) {
  const TriangleMesh mesh = extract_isosurface(torus_field(), 0);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      ++edges[{t[i], t[(i + 1) % 3]}];
      --edges[{t[(i + 1) % 3], t[i]}];
    }
  for (const auto& [edge, balance] : edges) ASSERT_EQ(balance, 0);
  // A torus: vertices - edges + faces = 0.
  EXPECT_EQ(mesh.vertices.size() - edges.size() / 2 + mesh.triangles.size(), 0U);
}

TEST(Isosurface, LiesOnTheLevelAndFacesOutward) {
  const Field field = torus_field();
  for (const float cells : {-1.5F, 0.0F, 0.5F, 2.9F}) {
    const float level = cells * field.spacing();
    const TriangleMesh mesh = extract_isosurface(field, level);
    // The mean of points on a smooth surface in one cell is off by its sagitta: (sqrt(3)/2 h)^2 / 2 / radius < 0.05 h
    // here, plus as much again for interpolation along edges.
    for (const Vec3d& v : mesh.vertices)
      EXPECT_NEAR(torus_distance(v), static_cast<double>(level), 0.1 * static_cast<double>(field.spacing()));
    double volume = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto [a, b, c] = mesh.corners(t);
      volume += dot(a, cross(b, c)) / 6;
    }
    const double tube = 0.3 + static_cast<double>(level);
    EXPECT_NEAR(volume, 2 * 9.8696044 * tube * tube, 0.03 * volume);
  }
}

TEST(Isosurface, RefusesLevelsBeyondTheBand) {
  const Field field = torus_field();
  EXPECT_THROW(extract_isosurface(field, field.band()), Error);
  EXPECT_THROW(extract_isosurface(field, -field.band()), Error);
  EXPECT_THROW(extract_isosurface(field, std::nanf("")), Error);
}

}  // namespace
}  // namespace cotouch::this_file
