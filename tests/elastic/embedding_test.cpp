#include <cotouch/elastic/embedding.h>
#include <cotouch/elastic/stuffing.h>
#include <cotouch/elastic/tet_faces.h>

#include "support/error_code.h"

#include <cotouch/base/random.h>
#include <cotouch/field/build.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cotouch::this_file {
namespace {

// Of a torus with the radii 5 and 2 cm.
const TetMesh& torus() {
  static const TetMesh mesh = [] {
    NoProgress quiet;
    FieldSettings settings;
    settings.resolution = 48;
    return tetrahedralise(build_field(make_torus(0.05, 0.02, 64, 32), settings, quiet), {}, quiet);
  }();
  return mesh;
}

// In a box some `margin` larger than the torus.
std::vector<Vec3f> points_around(std::size_t count, double margin) {
  Random random(5);
  std::vector<Vec3f> points;
  const double side = 0.07 + margin, height = 0.02 + margin;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back(
        Vec3f(Vec3d{random.uniform(-side, side), random.uniform(-side, side), random.uniform(-height, height)}));
  return points;
}

// Barycentric coordinates as shares of the volume.
std::array<double, 4> weights_in(const TetMesh& mesh, std::size_t tet, const Vec3d& p) {
  std::array<double, 4> weights;
  for (std::size_t i = 0; i < 4; ++i) {
    TetMesh one{{}, {{0, 1, 2, 3}}};
    for (const std::uint32_t node : mesh.tets[tet]) one.nodes.push_back(mesh.nodes[node]);
    one.nodes[i] = p;
    weights[i] = tet_volume(one, 0) / tet_volume(mesh, tet);
  }
  return weights;
}

bool contains(const TetMesh& mesh, std::size_t tet, const Vec3d& p) {
  for (const double w : weights_in(mesh, tet, p))
    if (w < -1e-12) return false;
  return true;
}

double distance_to(const TetMesh& mesh, std::size_t tet, const Vec3d& p) {
  if (contains(mesh, tet, p)) return 0;
  double least = std::numeric_limits<double>::infinity();
  const Tet& t = mesh.tets[tet];
  for (std::size_t i = 0; i < 4; ++i)
    least =
        std::min(least, closest_on_triangle(p, mesh.nodes[t[i]], mesh.nodes[t[(i + 1) % 4]], mesh.nodes[t[(i + 2) % 4]])
                            .distance_squared);
  return std::sqrt(least);
}

Vec3d interpolated(const Embedding& embedding, std::size_t i, const TetMesh& mesh, const auto& displacement) {
  Vec3d sum;
  for (std::size_t k = 0; k < 4; ++k)
    sum += displacement(mesh.nodes[mesh.tets[embedding.tet[i]][k]]) * static_cast<double>(embedding.weight[i][k]);
  return sum;
}

Vec3d linear_field(const Vec3d& p) {
  return Vec3d{0.1, -0.2, 0.3} + Vec3d{2 * p.x - p.y + 3 * p.z, p.x + p.y - p.z, 4 * p.y + 0.5 * p.z};
}

TEST(Embedding, LinearDisplacementsAreReproducedInsideAndSlightlyOutside) {
  const std::vector<Vec3f> points = points_around(4000, 0.003);
  const Embedding embedding = embed(torus(), points);
  std::size_t compared = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d p(points[i]);
    const double ring = std::hypot(p.x, p.y) - 0.05;
    if (std::hypot(ring, p.z) > 0.025) continue;  // at most 5 mm outside
    ++compared;
    EXPECT_LT(norm(interpolated(embedding, i, torus(), linear_field) - linear_field(p)), 2e-6);
  }
  EXPECT_GT(compared, 1500U);
}

TEST(Embedding, WeightsAddUpToOneAndAreTheSharesOfTheVolume) {
  const std::vector<Vec3f> points = points_around(2000, 0);
  const Embedding embedding = embed(torus(), points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    double sum = 0;
    for (const float w : embedding.weight[i]) sum += static_cast<double>(w);
    EXPECT_NEAR(sum, 1, 5e-7);
    const auto weights = weights_in(torus(), embedding.tet[i], Vec3d(points[i]));
    if (!contains(torus(), embedding.tet[i], Vec3d(points[i]))) continue;
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(static_cast<double>(embedding.weight[i][k]), weights[k], 1e-6);
  }
}

TEST(Embedding, TheTetrahedronIsTheContainingOrTheClosestOne) {
  const std::vector<Vec3f> points = points_around(400, 0.02);
  const Embedding embedding = embed(torus(), points);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d p(points[i]);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < torus().tets.size(); ++t) least = std::min(least, distance_to(torus(), t, p));
    inside += least == 0;
    EXPECT_NEAR(distance_to(torus(), embedding.tet[i], p), least, 1e-12);
  }
  EXPECT_GT(inside, 20U);
  EXPECT_LT(inside, 380U);
}

TEST(Embedding, NodesAndPointsOnFacesAreFoundInside) {
  const TetMesh box = tet_box({1, 1, 1}, {4, 4, 4});
  std::vector<Vec3f> points;
  for (const Vec3d& node : box.nodes) points.push_back(Vec3f(node));
  for (const Tet& t : box.tets) points.push_back(Vec3f((box.nodes[t[0]] + box.nodes[t[1]] + box.nodes[t[2]]) / 3));
  const Embedding embedding = embed(box, points);
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const float w : embedding.weight[i]) EXPECT_GE(w, -1e-6F);
}

TEST(Embedding, FarPointsAreExtrapolatedOnlySoFar) {
  const TetMesh box = tet_box({1, 1, 1}, {2, 2, 2});
  const std::vector<Vec3f> points{{0.4F, 0.4F, 1.9F}, {0.4F, 0.4F, 100}, {-1000, 7, 300}};
  const Embedding embedding = embed(box, points);
  const auto place = [](const Vec3d& p) { return p; };
  EXPECT_LT(norm(interpolated(embedding, 0, box, place) - Vec3d(points[0])), 1e-5);
  // Heights are half a metre: four of them above the top.
  EXPECT_LT(norm(interpolated(embedding, 1, box, place) - Vec3d{0.4, 0.4, 3}), 1e-5);
  for (const auto& weights : embedding.weight)
    for (const float w : weights) EXPECT_LE(std::fabs(w), 1 + k_longest_extrapolation);
}

TEST(Embedding, IsTheSameEachTime) {
  const std::vector<Vec3f> points = points_around(5000, 0.01);
  const Embedding first = embed(torus(), points), second = embed(torus(), points);
  EXPECT_EQ(first.tet, second.tet);
  EXPECT_EQ(first.weight, second.weight);
  // Nor does a point's place depend on the points beside it.
  const Embedding alone = embed(torus(), std::span(points).subspan(4321, 1));
  EXPECT_EQ(alone.tet[0], first.tet[4321]);
  EXPECT_EQ(alone.weight[0], first.weight[4321]);
}

TEST(Embedding, TetrahedraWithoutASurfaceAreRefusedAndFlatOnesGiveNumbers) {
  TetMesh mesh = tet_box({1, 1, 1}, {1, 1, 1});
  const Vec3f inside{0.4F, 0.5F, 0.6F}, outside{3, 3, 3};
  TetMesh twice = mesh;
  twice.tets.assign(2, mesh.tets[0]);
  EXPECT_THROW(embed(twice, std::vector<Vec3f>{outside}), Error);
  mesh.nodes.push_back({0.5, 0.5, 0.5});
  mesh.tets.push_back({0, 1, 2, static_cast<std::uint32_t>(mesh.nodes.size() - 1)});
  mesh.nodes.back() = mesh.nodes[0];
  const Embedding embedding = embed(mesh, std::vector<Vec3f>{inside, outside});
  for (const auto& weights : embedding.weight)
    for (const float weight : weights) EXPECT_TRUE(std::isfinite(weight));
}

TEST(Embedding, NothingToEmbedInAndPointsThatAreNoneAreRefused) {
  const std::vector<Vec3f> points{{0, 0, std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_EQ(code_of([&] { embed(torus(), points); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { embed({}, {}); }), ErrorCode::invalid_argument);
  EXPECT_TRUE(embed(torus(), {}).tet.empty());
}

}  // namespace
}  // namespace cotouch::this_file
