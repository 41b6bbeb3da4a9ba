// Meshes for the eye: small ones exact, large ones within their error and below their cap.
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/session/display_mesh.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace cotouch::this_file {
namespace {

double diagonal(const TriangleMesh& mesh) {
  return norm(mesh.bounds().size());
}

// How far vertices of the one are from the surface of the other, at most, metres.
double farthest(const TriangleMesh& from, const TriangleMesh& to) {
  const ClosestTriangle closest(to);
  double most = 0;
  for (const Vec3d& vertex : from.vertices) most = std::max(most, closest.closest(vertex).distance_squared);
  return std::sqrt(most);
}

// A sphere with waves on it, which no few triangles can follow.
TriangleMesh bumpy_sphere(int subdivisions, double height) {
  TriangleMesh mesh = make_sphere(1, subdivisions);
  for (Vec3d& v : mesh.vertices) v = v * (1 + height * std::sin(40 * v.x) * std::sin(40 * v.y) * std::sin(40 * v.z));
  return mesh;
}

// Each triangle with corners of its own.
TriangleMesh soup_of(const TriangleMesh& mesh) {
  TriangleMesh soup;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto first = static_cast<std::uint32_t>(soup.vertices.size());
    for (const Vec3d& corner : mesh.corners(t)) soup.vertices.push_back(corner);
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  return soup;
}

TEST(DisplayMesh, OfASmallMeshIsTheMesh) {
  const TriangleMesh sphere = make_sphere(1, 6);  // 81 920 triangles
  const TriangleMesh shown = display_mesh(sphere);
  EXPECT_EQ(shown.vertices, sphere.vertices);
  EXPECT_EQ(shown.triangles, sphere.triangles);
}

TEST(DisplayMesh, OfALargeMeshStaysWithinAThousandthOfItsSize) {
  for (const TriangleMesh& mesh : {make_sphere(1, 7), bumpy_sphere(7, 0.05)}) {  // 327 680 triangles
    const TriangleMesh shown = display_mesh(mesh);
    EXPECT_LE(shown.triangles.size(), 200'000U);
    EXPECT_GT(shown.triangles.size(), 50'000U);
    EXPECT_LT(farthest(mesh, shown), 1e-3 * diagonal(mesh));
  }
}

TEST(DisplayMesh, KeepsItsVerticesWhereTheyWere) {
  const TriangleMesh mesh = bumpy_sphere(5, 0.05);
  const TriangleMesh shown = display_mesh(mesh, {.exact = 2000, .error = 1, .most = 2000});
  EXPECT_LE(shown.triangles.size(), 2000U);
  const auto key = [](const Vec3d& v) { return std::tuple(v.x, v.y, v.z); };
  std::set<std::tuple<double, double, double>> there;
  for (const Vec3d& v : mesh.vertices) there.insert(key(v));
  std::set<std::uint32_t> used;
  for (const Triangle& t : shown.triangles) used.insert(t.begin(), t.end());
  EXPECT_EQ(used.size(), shown.vertices.size());
  for (const Vec3d& v : shown.vertices) EXPECT_TRUE(there.contains(key(v)));
}

// To a quarter of the edges' density a sphere loses what a chord of twice the length misses: no more than a few
// hundredths.
TEST(DisplayMesh, GoesBelowItsCapWhateverTheErrorIs) {
  const TriangleMesh sphere = make_sphere(1, 5);  // 20 480 triangles
  const TriangleMesh shown = display_mesh(sphere, {.exact = 1000, .error = 1e-9, .most = 2000});
  EXPECT_LE(shown.triangles.size(), 2000U);
  EXPECT_GT(shown.triangles.size(), 300U);
  EXPECT_LT(farthest(sphere, shown), 0.03);
}

TEST(DisplayMesh, SimplifiesSoupLikeTheSurfaceThatItIs) {
  const TriangleMesh sphere = make_sphere(1, 5);
  const TriangleMesh soup = soup_of(sphere);
  const TriangleMesh shown = display_mesh(soup, {.exact = 2000, .error = 1e-2, .most = 2000});
  EXPECT_LE(shown.triangles.size(), 2000U);
  EXPECT_LT(farthest(sphere, shown), 1e-2 * diagonal(sphere));
}

// Thousands of splinters that touch nowhere have no edge to spare; the cap holds all the same.
TEST(DisplayMesh, OfSplintersThatTouchNowhereIsBelowItsCapToo) {
  TriangleMesh soup = soup_of(make_sphere(1, 5));
  for (std::size_t t = 0; t < soup.triangles.size(); ++t) {
    const Vec3d middle = (soup.vertices[3 * t] + soup.vertices[3 * t + 1] + soup.vertices[3 * t + 2]) / 3.0;
    for (std::size_t k = 0; k < 3; ++k) soup.vertices[3 * t + k] = middle + (soup.vertices[3 * t + k] - middle) * 0.5;
  }
  const TriangleMesh shown = display_mesh(soup, {.exact = 2000, .most = 2000});
  EXPECT_LE(shown.triangles.size(), 2000U);
  EXPECT_GT(shown.triangles.size(), 0U);
}

TEST(DisplayMesh, OfABoxFarFromTheOriginKeepsItsCorners) {
  TriangleMesh box = with_short_edges(make_box({0.1, 0.1, 0.1}), 0.002, 100'000);
  for (Vec3d& v : box.vertices) v += Vec3d{1000, 2000, -3000};
  const TriangleMesh shown = display_mesh(box, {.exact = 1000, .most = 2000});
  EXPECT_LE(shown.triangles.size(), 2000U);
  EXPECT_LT(farthest(box, shown), 1e-3 * diagonal(box));
}

}  // namespace
}  // namespace cotouch::this_file
