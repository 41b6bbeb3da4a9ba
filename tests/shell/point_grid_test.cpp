#include <cotouch/base/random.h>
#include <cotouch/shell/point_grid.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cotouch::this_file {
namespace {

std::vector<Vec3f> random_points(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vec3f> points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back(Vec3f(Vec3d{random.uniform(-1, 2), random.uniform(5, 6), random.uniform(-0.1, 0.1)}));
  return points;
}

TEST(PointGrid, FindsTheNearestPointAsBruteForceDoes) {
  const std::vector<Vec3f> points = random_points(500, 1);
  const auto odd = [](std::uint32_t i) { return i % 2 == 1; };
  // Cells from far too small (most searches find nothing near) to one for everything; queries inside and far outside.
  for (const float edge : {0.001F, 0.05F, 0.3F, 10.0F}) {
    const PointGrid grid(points, edge);
    for (Vec3f query : random_points(200, 2)) {
      query = query * 1.5F;
      std::uint32_t expected = PointGrid::k_none;
      double best = 1e30;
      for (std::uint32_t i = 0; i < points.size(); ++i) {
        const double squared = norm_squared(Vec3d(points[i]) - Vec3d(query));
        if (odd(i) && squared < best) {
          best = squared;
          expected = i;
        }
      }
      double squared = 0;
      ASSERT_EQ(grid.nearest(query, odd, squared), expected) << "edge " << edge;
      ASSERT_EQ(squared, best);
    }
  }
}

TEST(PointGrid, PrefersTheLowestIndexAmongEquallyNear) {
  const std::vector<Vec3f> points{{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, 1, 0}};
  double squared = 0;
  const PointGrid grid(points, 0.7F);
  EXPECT_EQ(grid.nearest(
                {0, 0, 0}, [](std::uint32_t i) { return i > 0; }, squared),
            1U);
  EXPECT_EQ(squared, 1);
}

TEST(PointGrid, HasNoNearestWhereNothingIsAccepted) {
  double squared = 0;
  const PointGrid grid(random_points(10, 3), 0.1F), empty({}, 0.1F);
  EXPECT_EQ(grid.nearest(
                {0, 0, 0}, [](std::uint32_t) { return false; }, squared),
            PointGrid::k_none);
  EXPECT_EQ(empty.nearest(
                {0, 0, 0}, [](std::uint32_t) { return true; }, squared),
            PointGrid::k_none);
}

TEST(PointGrid, VisitsEveryPointWithinARadiusOnce) {
  const std::vector<Vec3f> points = random_points(500, 4);
  for (const float radius : {0.05F, 0.2F, 0.9F}) {
    const PointGrid grid(points, 0.2F);
    for (const Vec3f& query : random_points(50, 5)) {
      std::multiset<std::uint32_t> found, expected;
      grid.for_each_within(query, radius, [&](std::uint32_t i, float) { found.insert(i); });
      for (std::uint32_t i = 0; i < points.size(); ++i)
        if (norm_squared(points[i] - query) < radius * radius) expected.insert(i);
      ASSERT_EQ(found, expected);
    }
  }
}

TEST(PointGrid, MortonOrderIsAPermutationAlongTheCurve) {
  const std::vector<Vec3f> points = random_points(300, 6);
  const std::vector<std::uint32_t> order = morton_order(points);
  EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), points.size());
  // Z-order by hand: of the corners of a cube, x changes fastest.
  EXPECT_EQ(morton_order(std::vector<Vec3f>{{1, 1, 1}, {0, 1, 0}, {1, 0, 0}, {0, 0, 0}}),
            (std::vector<std::uint32_t>{3, 2, 1, 0}));
  EXPECT_EQ(morton_key(0b11, 0b01, 0b10), 0b101011U);
  // Equal points keep their order.
  EXPECT_EQ(morton_order(std::vector<Vec3f>(3, {2, 2, 2})), (std::vector<std::uint32_t>{0, 1, 2}));
}

}  // namespace
}  // namespace cotouch::this_file
