// The cache alone: what it calls free has surely not been reached by any point.
#include "contact/support.h"

#include <gtest/gtest.h>

namespace cotouch {
namespace {

using contact_test::random_pose;

const Vec3d k_center{0.3, -0.2, 0.1};
constexpr double k_radius = 0.25, k_spacing = 0.002;

double farthest_moved(const std::vector<Vec3d>& points, const Pose& a, const Pose& b) {
  double farthest = 0;
  for (const Vec3d& p : points) farthest = std::max(farthest, norm(transform(a, p) - transform(b, p)));
  return farthest;
}

TEST(CoherenceCache, CallsNothingFreeThatAPointMayHaveReached) {
  Random random(31);
  std::vector<Vec3d> points;
  for (int i = 0; i < 50; ++i) points.push_back(k_center + random.direction() * k_radius);
  CoherenceCache cache(1024);
  struct Known {
    Pose pose;
    double slack;
  };
  std::vector<std::vector<Known>> put(200);
  Pose pose = random_pose(random, 0.5);
  std::uint64_t free = 0;
  for (int cycle = 0; cycle < 20000; ++cycle) {
    const double size = std::pow(10, random.uniform(-6, -2.5));
    pose = moved(pose, {random.direction() * size, random.direction() * size});
    if (random.below(500) == 0) pose = random_pose(random, 0.5);
    cache.begin(k_center, k_radius, pose, k_spacing, 0);
    CoherenceCache::Entries entries = cache.entries();
    for (int k = 0; k < 5; ++k) {
      const auto key = static_cast<std::uint32_t>(random.below(200));
      if (entries.is_free(key)) {
        ++free;
        // Something that was put in says so.
        ASSERT_TRUE(std::any_of(put[key].rbegin(), put[key].rend(), [&](const Known& known) {
          return farthest_moved(points, known.pose, pose) < known.slack;
        })) << cycle;
      } else {
        put[key].push_back({pose, random.uniform(-0.001, 0.05)});
        entries.put(key, static_cast<float>(put[key].back().slack));
      }
    }
  }
  EXPECT_GT(free, 5000U);  // it remembered something at all
}

TEST(CoherenceCache, KnowsNothingOnceItIsClearedOrAnythingButThePoseDiffers) {
  const Pose pose{{0, 0, 0.1}, {}};
  CoherenceCache cache;
  const auto known = [&](double radius, double spacing, double clearance) {
    cache.clear();
    cache.begin(k_center, k_radius, pose, k_spacing, 0);
    cache.entries().put(7, 0.01F);
    EXPECT_TRUE(cache.entries().is_free(7));
    cache.begin(k_center, radius, pose, spacing, clearance);
    return cache.entries().is_free(7);
  };
  EXPECT_TRUE(known(k_radius, k_spacing, 0));
  EXPECT_FALSE(known(k_radius * 1.01, k_spacing, 0));
  EXPECT_FALSE(known(k_radius, k_spacing / 2, 0));
  EXPECT_FALSE(known(k_radius, k_spacing, 1e-4));
  cache.clear();
  cache.begin(k_center, k_radius, pose, k_spacing, 0);
  EXPECT_FALSE(cache.entries().is_free(7));
}

TEST(CoherenceCache, KeysThatShareAPlaceDoNotAnswerForEachOtherAndTheLongerLastingStays) {
  CoherenceCache cache(8);
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  cache.entries().put(3, 0.01F);
  EXPECT_TRUE(cache.entries().is_free(3));
  EXPECT_FALSE(cache.entries().is_free(11));
  cache.entries().put(11, 0.009F);
  EXPECT_TRUE(cache.entries().is_free(3));
  EXPECT_FALSE(cache.entries().is_free(11));
  cache.entries().put(11, 0.011F);
  EXPECT_FALSE(cache.entries().is_free(3));
  EXPECT_TRUE(cache.entries().is_free(11));
  cache.entries().put(1U << 30, 0.01F);  // too large a key to be kept apart is not kept
  EXPECT_FALSE(cache.entries().is_free(1U << 30));
}

// Anchors are numbered with 16 bits: old entries must not come alive when the numbers come round.
TEST(CoherenceCache, NothingComesAliveAgainWhenItsAnchorsComeRound) {
  CoherenceCache cache(8);
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  cache.entries().put(5, 0.05F);
  for (int i = 1; i <= 70000; ++i) {
    cache.begin(k_center, k_radius, {{k_spacing * i, 0, 0}, {}}, k_spacing, 0);
    if (k_spacing * i > 0.05) {
      ASSERT_FALSE(cache.entries().is_free(5)) << i;
    }
  }
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

TEST(CoherenceCache, ListsThePointsWithoutRoomForOneLevelUntilSomethingMovedFartherThanTheSkin) {
  CoherenceCache cache(8);
  const std::vector<std::uint32_t> points{2, 3, 5, 7};
  const float free[] = {1, -1, 0, 1e-6F};
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  EXPECT_GT(cache.skin(), 0.25 * k_spacing);
  EXPECT_FALSE(cache.knows_near(4));
  cache.begin_near();
  cache.add_near(points, free);
  cache.add_near({points.data(), 1}, free + 1);
  cache.end_near(4);
  EXPECT_FALSE(cache.knows_near(3));
  const std::vector<std::uint32_t> near(cache.near().begin(), cache.near().end());
  EXPECT_EQ(near, (std::vector<std::uint32_t>{3, 5, 2}));
  const auto knows_at = [&](const Pose& pose) {
    cache.begin(k_center, k_radius, pose, k_spacing, 0);
    return cache.knows_near(4);
  };
  EXPECT_TRUE(knows_at({{0.2 * k_spacing, 0, 0}, {}}));
  EXPECT_FALSE(knows_at({{0.3 * k_spacing, 0, 0}, {}}));
  EXPECT_TRUE(knows_at({{-0.2 * k_spacing, 0, 0}, {}}));  // from where it was made, not from where it was last
  // A turn moves the centre and, on the ball around it, up to radius * angle more.
  EXPECT_FALSE(knows_at({{}, quat_from_rotation_vector({0, 0, 0.26 * k_spacing / k_radius})}));
  EXPECT_TRUE(knows_at({}));
  cache.clear();
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  EXPECT_FALSE(cache.knows_near(4));
}

TEST(CoherenceCache, PausesAfterMorePointsThanItHasRoomFor) {
  CoherenceCache cache(1);
  cache.begin(k_center, k_radius, {}, k_spacing, 0);
  cache.begin_near();
  const std::vector<std::uint32_t> points(100, 1);
  const std::vector<float> free(100, 1);
  EXPECT_FALSE(cache.pauses());
  cache.add_near(points, free.data());
  cache.end_near(2);
  EXPECT_FALSE(cache.knows_near(2));
  int pauses = 0;
  while (cache.pauses()) ++pauses;
  EXPECT_GT(pauses, 5);
  EXPECT_LT(pauses, 100);
}

TEST(CoherenceCache, NeedsLessThanAMegabyte) {
  EXPECT_LT(CoherenceCache(1U << 30).memory_bytes(), 1'000'000U);
}

}  // namespace
}  // namespace cotouch
