#include <cotouch/base/random.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace cotouch::this_file {
namespace {

// Triangles of every kind: small, large, needles, points, and copies of each other.
TriangleMesh random_soup(std::uint64_t seed, int count) {
  Random random(seed);
  TriangleMesh mesh;
  for (int i = 0; i < count; ++i) {
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    const Vec3d at = random.vector(0, 0.1);
    const double size = random.uniform() < 0.1 ? 0.1 : 0.01;
    const int kind = static_cast<int>(random.below(10));
    const Vec3d u = random.direction() * size, v = random.direction() * size;
    mesh.vertices.push_back(at);
    mesh.vertices.push_back(kind == 0 ? at : at + u);
    mesh.vertices.push_back(kind <= 1 ? at + u * (kind * random.uniform(0, 2)) : at + v);
    mesh.triangles.push_back({first, first + 1, first + 2});
    if (kind == 9) mesh.triangles.push_back({first, first + 1, first + 2});
  }
  return mesh;
}

ClosestHit search_all(const TriangleMesh& mesh, const Vec3d& p) {
  ClosestHit best;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    const ClosestOnTriangle on = closest_on_triangle(p, a, b, c);
    if (on.distance_squared < best.distance_squared) best = {on.distance_squared, on.point, on.weights, t};
  }
  return best;
}

TEST(ClosestOnTriangle, BeatsEveryPointOfTheTriangleAndLiesOnIt) {
  Random random(3);
  const TriangleMesh soup = random_soup(4, 300);
  for (std::size_t t = 0; t < soup.triangles.size(); ++t) {
    const auto [a, b, c] = soup.corners(t);
    const Vec3d p = a + random.vector(0, 0.05);
    const ClosestOnTriangle on = closest_on_triangle(p, a, b, c);
    EXPECT_NEAR(norm(on.point - p), std::sqrt(on.distance_squared), 1e-15);
    EXPECT_LT(norm(a * on.weights.x + b * on.weights.y + c * on.weights.z - on.point), 1e-15);
    EXPECT_NEAR(on.weights.x + on.weights.y + on.weights.z, 1, 1e-15);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_GE(on.weights[i], -1e-12);
    constexpr int k_steps = 40;
    for (int i = 0; i <= k_steps; ++i)
      for (int j = 0; i + j <= k_steps; ++j) {
        const double u = double(i) / k_steps, v = double(j) / k_steps;
        const Vec3d q = a * (1 - u - v) + b * u + c * v;
        // Squared distances of 1e-3 carry rounding of 1e-19; needles are solved to about 1e-10 of their length.
        EXPECT_LE(on.distance_squared, norm_squared(q - p) + 1e-15);
      }
  }
}

TEST(ClosestOnTriangle, SaysWhetherItFoundACornerAnEdgeOrTheFace) {
  const Vec3d a{0, 0, 0}, b{1, 0, 0}, c{0, 1, 0};
  EXPECT_EQ(closest_on_triangle({-1, -1, 1}, a, b, c).weights, Vec3d(1, 0, 0));
  EXPECT_EQ(closest_on_triangle({3, -1, 0}, a, b, c).weights, Vec3d(0, 1, 0));
  EXPECT_EQ(closest_on_triangle({0.25, -1, 0}, a, b, c).weights, Vec3d(0.75, 0.25, 0));
  EXPECT_EQ(closest_on_triangle({1, 1, 2}, a, b, c).weights, Vec3d(0, 0.5, 0.5));
  const ClosestOnTriangle face = closest_on_triangle({0.25, 0.25, 2}, a, b, c);
  EXPECT_EQ(face.weights, Vec3d(0.5, 0.25, 0.25));
  EXPECT_EQ(face.distance_squared, 4);
}

TEST(ClosestTriangle, EqualsASearchThroughAllTrianglesBitForBit) {
  for (const TriangleMesh& mesh : {random_soup(1, 500), make_sphere(0.05, 2), make_box({0.1, 0.1, 0.1})}) {
    const ClosestTriangle tree(mesh);
    Random random(2);
    for (int i = 0; i < 1000; ++i) {
      // Corners and middles of edges too, where several triangles tie.
      const auto [a, b, c] = mesh.corners(random.below(mesh.triangles.size()));
      const Vec3d p = i % 4 == 0 ? a : i % 4 == 1 ? (b + c) * 0.5 : random.vector(0, 0.3);
      const ClosestHit expected = search_all(mesh, p);
      const ClosestHit hit = tree.closest(p);
      ASSERT_EQ(hit.triangle, expected.triangle);
      ASSERT_EQ(hit.distance_squared, expected.distance_squared);
      ASSERT_EQ(hit.point, expected.point);
      // A bound just beyond the answer changes nothing.
      const double d = std::sqrt(expected.distance_squared);
      ASSERT_EQ(tree.closest(p, d * 1.0001 + 1e-12).triangle, expected.triangle);
    }
  }
}

// Large triangles through many places, needles along and across the axes, and many far smaller than the places.
std::vector<TriangleMesh> soups_for_places() {
  TriangleMesh needles;
  Random random(9);
  for (int i = 0; i < 400; ++i) {
    const auto first = static_cast<std::uint32_t>(needles.vertices.size());
    const Vec3d at = random.vector(0, 0.1), along = i % 2 == 0 ? Vec3d{0.05, 0, 0} : random.direction() * 0.05;
    const double width = std::pow(10.0, -3 - i % 12);
    needles.vertices.push_back(at);
    needles.vertices.push_back(at + along);
    needles.vertices.push_back(at + along * random.uniform() + random.direction() * width);
    needles.triangles.push_back({first, first + 1, first + 2});
  }
  return {random_soup(5, 600), needles, make_sphere(0.05, 5), make_box({0.1, 0.1, 0.1}), TriangleMesh{}};
}

TEST(ClosestTriangle, EqualsASearchThroughAllForAWholePlaceAtOnce) {
  std::size_t collected = 0, crowded = 0;
  for (const TriangleMesh& mesh : soups_for_places()) {
    const ClosestTriangle tree(mesh);
    Random random(6);
    for (int i = 0; i < 60; ++i) {
      const Vec3d center = random.vector(0, 0.2);
      const double radius = std::pow(10.0, -2 - 2 * random.uniform());
      ClosestHit known = search_all(mesh, center);
      ClosestTriangle::Nearby nearby;
      if (!tree.collect(center, radius, std::sqrt(known.distance_squared), nearby)) {
        ++crowded;
        continue;
      }
      ++collected;
      for (int j = 0; j < 20; ++j) {
        const Vec3d p = center + random.direction() * (radius * (j % 2 == 0 ? 0.9999 : random.uniform()));
        if (known) {
          const auto [a, b, c] = mesh.corners(known.triangle);
          const ClosestOnTriangle on = closest_on_triangle(p, a, b, c);
          known = {on.distance_squared, on.point, on.weights, known.triangle};
        }
        const ClosestHit expected = search_all(mesh, p), hit = tree.closest(p, known, nearby);
        ASSERT_EQ(hit.triangle, expected.triangle);
        ASSERT_EQ(hit.distance_squared, expected.distance_squared);
        ASSERT_EQ(hit.point, expected.point);
        ASSERT_EQ(tree.closest(p, known).triangle, expected.triangle);
        known = hit;
      }
    }
  }
  EXPECT_GT(collected, 150U);
  EXPECT_GT(crowded, 3U);
}

TEST(ClosestTriangle, FindsNothingBeyondTheBound) {
  const ClosestTriangle tree(make_sphere(1, 3));
  EXPECT_FALSE(tree.closest({3, 0, 0}, 1.9));
  EXPECT_TRUE(tree.closest({3, 0, 0}, 2.1));
  EXPECT_EQ(tree.closest({3, 0, 0}, 1.9).distance_squared, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(tree.closest({3, 0, 0}, -1));
  EXPECT_FALSE(tree.closest({std::nan(""), 0, 0}));
}

TEST(ClosestTriangle, OfNothingIsNothingAndOfOneIsThatOne) {
  TriangleMesh mesh;
  EXPECT_FALSE(ClosestTriangle(mesh).closest({0, 0, 0}));
  EXPECT_TRUE(ClosestTriangle(mesh).empty());
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh.triangles = {{0, 1, 2}};
  EXPECT_EQ(ClosestTriangle(mesh).closest({0.2, 0.2, -5}).distance_squared, 25);
}

TEST(ClosestTriangle, SurvivesThousandsOfTrianglesInOnePlace) {
  TriangleMesh mesh = make_box({1, 1, 1});
  for (int i = 0; i < 5000; ++i) mesh.triangles.push_back(mesh.triangles[0]);
  const ClosestHit hit = ClosestTriangle(mesh).closest({-1, -0.1, 0.1});
  EXPECT_EQ(hit.triangle, 0u);
  EXPECT_EQ(hit.distance_squared, 0.25);
}

}  // namespace
}  // namespace cotouch::this_file
