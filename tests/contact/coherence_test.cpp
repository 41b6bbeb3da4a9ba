// The cache alone: while it knows which points may touch, no other has moved far enough to touch.
#include "contact/support.h"

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using contact_test::random_pose;

const Vec3d k_center{0.3, -0.2, 0.1};
constexpr double k_radius = 0.25, k_spacing = 0.002;

double farthest_moved(const std::vector<Vec3d>& points, const Pose& a, const Pose& b) {
  double farthest = 0;
  for (const Vec3d& p : points) farthest = std::max(farthest, norm(transform(a, p) - transform(b, p)));
  return farthest;
}

// What a walk would show: one point, 2, that may touch, and a node that is free by `room` more than the skin.
void list_near(CoherenceCache& cache, const Pose& pose, float room) {
  cache.begin(k_center, k_radius, pose, k_spacing, 0);
  cache.begin_near();
  const std::uint32_t point = 2;
  const float none = -1, rooms[] = {-0.5F, room, 2 * room};
  cache.add_points({&point, 1}, &none);
  cache.add_nodes(rooms);
  cache.end_near(4);
}

TEST(CoherenceCache, KnowsNothingThatAPointMayHaveReached) {
  Random random(31);
  std::vector<Vec3d> points;
  for (int i = 0; i < 50; ++i) points.push_back(k_center + random.direction() * k_radius);
  CoherenceCache cache(1024);
  Pose pose = random_pose(random, 0.5), listed = pose;
  double room = 0;
  int known = 0, unknown = 0;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    const double size = std::pow(10, random.uniform(-6, -2.5));
    pose = moved(pose, {random.direction() * size, random.direction() * size});
    if (random.below(500) == 0) pose = random_pose(random, 0.5);
    cache.begin(k_center, k_radius, pose, k_spacing, 0);
    if (cache.knows_near(4)) {
      ++known;
      ASSERT_LT(farthest_moved(points, listed, pose), room) << cycle;
    } else {
      ++unknown;
      const auto beyond_skin = static_cast<float>(random.uniform(1e-6, 0.005));
      list_near(cache, pose, beyond_skin);
      listed = pose;
      room = static_cast<double>(cache.skin()) + static_cast<double>(beyond_skin);
    }
  }
  EXPECT_GT(known, 1000);
  EXPECT_GT(unknown, 1000);
}

TEST(CoherenceCache, KnowsNothingOnceItIsClearedOrAnythingButThePoseDiffers) {
  const Pose pose{{0, 0, 0.1}, {}};
  CoherenceCache cache;
  const auto known = [&](double radius, double spacing, double clearance) {
    cache.clear();
    list_near(cache, pose, 0.01F);
    EXPECT_TRUE(cache.knows_near(4));
    cache.begin(k_center, radius, pose, spacing, clearance);
    return cache.knows_near(4);
  };
  EXPECT_TRUE(known(k_radius, k_spacing, 0));
  EXPECT_FALSE(known(k_radius * 1.01, k_spacing, 0));
  EXPECT_FALSE(known(k_radius, k_spacing / 2, 0));
  EXPECT_FALSE(known(k_radius, k_spacing, 1e-4));
  cache.clear();
  cache.begin(k_center, k_radius, pose, k_spacing, 0);
  EXPECT_FALSE(cache.knows_near(4));
}

TEST(CoherenceCache, ARefusedLevelIsRefusedUntilSomethingMovedAQuarterOfACell) {
  CoherenceCache cache(8);
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  EXPECT_FALSE(cache.is_refused(3));
  cache.refuse(3);
  EXPECT_TRUE(cache.is_refused(3));
  EXPECT_FALSE(cache.is_refused(2));
  cache.begin(k_center, k_radius, {{0.2 * k_spacing, 0, 0}, {}}, k_spacing, 0);
  EXPECT_TRUE(cache.is_refused(3));
  cache.begin(k_center, k_radius, {{0.3 * k_spacing, 0, 0}, {}}, k_spacing, 0);
  EXPECT_FALSE(cache.is_refused(3));
}

TEST(CoherenceCache, ListsThePointsWithoutRoomForOneLevelUntilSomethingMovedAsFarAsTheRestHasRoom) {
  CoherenceCache cache(8);
  const std::vector<std::uint32_t> points{2, 3, 5, 7};
  const float room[] = {1, -1, -1e-9F, static_cast<float>(0.5 * k_spacing)};
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  EXPECT_GT(cache.skin(), 0.25 * k_spacing);
  EXPECT_FALSE(cache.knows_near(4));
  cache.begin_near();
  cache.add_points(points, room);
  cache.add_points({points.data(), 1}, room + 1);
  cache.end_near(4);
  EXPECT_FALSE(cache.knows_near(3));
  const std::vector<std::uint32_t> near(cache.near().begin(), cache.near().end());
  EXPECT_EQ(near, (std::vector<std::uint32_t>{3, 5, 2}));
  const auto knows_at = [&](const Pose& pose) {
    cache.begin(k_center, k_radius, pose, k_spacing, 0);
    return cache.knows_near(4);
  };
  // Point 7 has half a cell of room besides the skin of a quarter; point 5 has none, but it is listed.
  EXPECT_TRUE(knows_at({{0.7 * k_spacing, 0, 0}, {}}));
  EXPECT_FALSE(knows_at({{0.8 * k_spacing, 0, 0}, {}}));
  EXPECT_TRUE(knows_at({{-0.7 * k_spacing, 0, 0}, {}}));  // from where it was made, not from where it was last
  // A turn moves the centre and, on the ball around it, up to radius * angle more.
  EXPECT_FALSE(knows_at({{}, quat_from_rotation_vector({0, 0, 0.76 * k_spacing / k_radius})}));
  EXPECT_TRUE(knows_at({}));
  cache.clear();
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  EXPECT_FALSE(cache.knows_near(4));
}

TEST(CoherenceCache, PausesAfterMorePointsThanItHasRoomFor) {
  const std::vector<std::uint32_t> points(100, 1);
  const std::vector<float> room(100, -1);
  const auto pauses = [&](std::uint32_t size) {
    CoherenceCache cache(size);
    cache.begin(k_center, k_radius, {}, k_spacing, 0);
    cache.begin_near();
    EXPECT_FALSE(cache.pauses());
    cache.add_points(points, room.data());
    cache.end_near(2);
    int count = 0;
    while (cache.pauses()) ++count;
    EXPECT_EQ(cache.knows_near(2), count == 0);
    return count;
  };
  EXPECT_EQ(pauses(100), 0);
  EXPECT_GT(pauses(99), 5);
  EXPECT_LT(pauses(99), 100);
}

TEST(CoherenceCache, NeedsLessThanAMegabyte) {
  EXPECT_LT(CoherenceCache(1U << 30).memory_bytes(), 1'000'000U);
}

}  // namespace
}  // namespace cotouch::this_file
