#include <cotouch/base/trig.h>
#include <cotouch/mesh/triangulate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cotouch::this_file {
namespace {

// Triangles that all face like the polygon and have its area together cover it and nothing else.
void expect_covered(const std::vector<Vec3d>& outline) {
  TriangleMesh mesh;
  mesh.vertices = outline;
  std::vector<std::uint32_t> corners(outline.size());
  std::iota(corners.begin(), corners.end(), 0U);
  add_polygon(mesh, corners);
  ASSERT_EQ(mesh.triangles.size(), outline.size() - 2);
  double area = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) area += cross(outline[i], outline[(i + 1) % outline.size()]).z;
  double covered = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    const double twice = cross(b - a, c - a).z;
    ASSERT_GE(twice, 0);
    covered += twice;
  }
  EXPECT_NEAR(covered, area, 1e-9 * area);
}

// Only the two ends of a spiral can be cut, each time after the last cut.
TEST(AddPolygon, CoversASpiralOfAThousandCorners) {
  std::vector<Vec3d> outline;
  const auto at = [](int i, double radius) {
    const SinCos turn = sin_cos(0.1 * i);
    return Vec3d{turn.cos, turn.sin, 0} * (radius * (1 + 0.02 * i));
  };
  for (int i = 0; i < 500; ++i) outline.push_back(at(i, 1.05));
  for (int i = 500; i-- > 0;) outline.push_back(at(i, 1));
  expect_covered(outline);
}

TEST(AddPolygon, CoversACombOfAThousandCorners) {
  std::vector<Vec3d> outline{{250, -1, 0}};
  for (int i = 250; i-- > 0;) {
    outline.push_back({i + 0.9, 10, 0});
    outline.push_back({i + 0.6, 10, 0});
    outline.push_back({i + 0.5, 0.1, 0});
    outline.push_back({i + 0.1, 0, 0});
  }
  outline.push_back({0, -1, 0});
  expect_covered(outline);
}

// Far more corners than are cut one by one.
TEST(AddPolygon, OfARoundPolygonFewTrianglesMeetInEachCorner) {
  constexpr std::uint32_t k_corners = 100'000;
  std::vector<Vec3d> outline;
  for (std::uint32_t i = 0; i < k_corners; ++i) {
    const SinCos turn = sin_cos(2 * k_pi * i / k_corners);
    outline.push_back({turn.cos, turn.sin, 0});
  }
  expect_covered(outline);
  TriangleMesh mesh;
  mesh.vertices = outline;
  std::vector<std::uint32_t> corners(k_corners), triangles(k_corners);
  std::iota(corners.begin(), corners.end(), 0U);
  add_polygon(mesh, corners);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t corner : t) ++triangles[corner];
  // A corner is an end of two chains, each of which is halved once a time: log2 of the corners at most, twice.
  EXPECT_LE(*std::max_element(triangles.begin(), triangles.end()), 2u * 17);
}

}  // namespace
}  // namespace cotouch::this_file
