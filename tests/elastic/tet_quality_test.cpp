#include <cotouch/elastic/tet_quality.h>

#include <gtest/gtest.h>

#include <cmath>

namespace cotouch::this_file {
namespace {

TEST(TetQuality, OfARegularTetrahedronIsOne) {
  const TetMesh mesh{{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}, {{1, 0, 2, 3}}};
  const TetQuality quality = tet_quality(mesh);
  EXPECT_EQ(quality.count, 1U);
  EXPECT_NEAR(quality.smallest_angle, std::acos(1.0 / 3) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(quality.largest_angle, std::acos(1.0 / 3) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(quality.worst_radius_ratio, 1, 1e-14);
  EXPECT_NEAR(quality.volume, 8.0 / 3, 1e-14);  // a cube of edge 2 has three times that
  EXPECT_EQ(quality.smallest_volume, quality.volume);
}

TEST(TetQuality, OfACubesCorner) {
  // Right angles at the corner, atan sqrt(2) at the slanted face.
  const TetMesh mesh{{{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, {{0, 1, 2, 3}}};
  const TetQuality quality = tet_quality(mesh);
  EXPECT_NEAR(quality.smallest_angle, std::atan(std::sqrt(2.0)) * 180 / M_PI, 1e-12);
  EXPECT_NEAR(quality.largest_angle, 90, 1e-12);
  // Inscribed 2 / (3 + sqrt 3), around sqrt 3.
  EXPECT_NEAR(quality.worst_radius_ratio, 3 * 2 / (3 + std::sqrt(3.0)) / std::sqrt(3.0), 1e-14);
}

TEST(TetQuality, OfAFlatTetrahedronComesNearZeroAndAHalfTurn) {
  const TetMesh mesh{{{-1, 0, 0}, {1, 0, 0}, {0, 1, 1e-4}, {0, -1, 1e-4}}, {{0, 1, 2, 3}}};
  const TetQuality quality = tet_quality(mesh);
  ASSERT_GT(quality.volume, 0);
  // Both roofs rise by 1e-4 over 1.
  EXPECT_NEAR(quality.largest_angle, 180 - 2 * std::atan(1e-4) * 180 / M_PI, 1e-9);
  EXPECT_LT(quality.smallest_angle, 0.02);
  EXPECT_GT(quality.smallest_angle, 0);
  EXPECT_LT(quality.worst_radius_ratio, 1e-3);
}

TEST(TetQuality, LooksAtTheWorstAndSumsTheVolumes) {
  TetMesh mesh = tet_box({1, 2, 3}, {4, 4, 4});
  mesh.nodes.insert(mesh.nodes.end(), {{0, 0, 5}, {0.01, 0, 5}, {0, 0.01, 5}, {0, 0, 5.01}});
  const auto n = static_cast<std::uint32_t>(mesh.nodes.size());
  mesh.tets.push_back({n - 4, n - 3, n - 2, n - 1});
  const TetQuality quality = tet_quality(mesh);
  EXPECT_EQ(quality.count, 6 * 64 + 1U);
  EXPECT_NEAR(quality.volume, 6 + 1e-6 / 6, 1e-12);
  EXPECT_NEAR(quality.smallest_volume, 1e-6 / 6, 1e-18);
}

TEST(TetQuality, OfNothingIsZero) {
  EXPECT_EQ(tet_quality({}).smallest_angle, 0);
}

}  // namespace
}  // namespace cotouch::this_file
