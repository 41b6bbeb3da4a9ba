// Meshes for the eye: small ones exact, large ones within their error and below their cap.
#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/session/display_mesh.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <set>
#include <tuple>

#include "support/slivers.h"

namespace cotouch::this_file {
namespace {

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;  // of all threads
}

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

// Collapsing edges takes the square of that many: of 400,000 slivers 40 s of the processor.
TEST(DisplayMesh, OfTrianglesThatAllMeetInOneVertexIsMadeSoon) {
  const TriangleMesh fan = fan_of_slivers(400'000, 0.1);
  const double start = processor_seconds();
  const TriangleMesh shown = display_mesh(fan);
  EXPECT_LT(processor_seconds() - start, 10);  // a hundred times what it takes
  EXPECT_GT(shown.triangles.size(), 100U);
  EXPECT_LE(shown.triangles.size(), 200'000U);
}

// Where meshoptimizer 0.18 looks first for a vertex in its table of places is made of its coordinates' bits alone, and
// can be worked backwards: 100,000 of them that all begin in one place take 40 s of the processor.
TriangleMesh colliding(std::size_t vertices) {
  constexpr std::uint32_t k_x = 73856093, k_y = 19349663, k_z = 83492791;
  std::uint32_t inverse = k_z;
  for (int i = 0; i < 5; ++i) inverse *= 2 - k_z * inverse;
  const auto folded = [](std::uint32_t bits) { return bits ^ (bits >> 17U); };  // twice: as it was
  Random random(1);
  TriangleMesh mesh;
  mesh.vertices = {{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0}};  // the middle of the bounds is zero
  mesh.triangles = {{0, 1, 2}};
  while (mesh.vertices.size() < vertices) {
    const auto x = static_cast<float>(random.uniform(0.25, 0.5)), y = static_cast<float>(random.uniform(0.25, 0.5));
    const std::uint32_t wanted =
        (folded(std::bit_cast<std::uint32_t>(x)) * k_x) ^ (folded(std::bit_cast<std::uint32_t>(y)) * k_y);
    // The lowest bits, which tell the place, must be zero; the others are free until z is a number in the box.
    for (std::uint32_t high = 0; high < 4096; ++high) {
      const auto z = std::bit_cast<float>(folded(((wanted & 0xfffffU) | high << 20U) * inverse));
      if (!(z >= 0.25F && z < 0.5F)) continue;
      mesh.vertices.emplace_back(Vec3f{x, y, z});
      break;
    }
  }
  for (std::uint32_t i = 2; i + 2 < mesh.vertices.size(); i += 2) mesh.triangles.push_back({i, i + 1, i + 2});
  return mesh;
}

TEST(DisplayMesh, OfVerticesThatAllCollideIsMadeSoon) {
  const TriangleMesh mesh = colliding(60'000);
  const double start = processor_seconds();
  const TriangleMesh shown = display_mesh(mesh, {.exact = 1000, .most = 2000});
  EXPECT_LT(processor_seconds() - start, 3);  // it takes a tenth of a second
  EXPECT_GT(shown.triangles.size(), 0U);
}

// meshoptimizer itself cannot be ended, and takes some seconds of the processor for this.
TEST(DisplayMesh, NobodyWaitsForOneThatIsNoLongerWanted) {
  TriangleMesh mesh = fan_of_slivers(40'000, 0.1);
  append(mesh, make_sphere(0.5, 7));
  const double begun = processor_seconds();
  display_mesh(mesh);
  const double start = processor_seconds(), takes = start - begun;
  const CancelScope scope([&] { return processor_seconds() - start > 0.1 * takes; });
  EXPECT_THROW(display_mesh(mesh), Cancelled);
  EXPECT_LT(processor_seconds() - start, takes / 3);
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
