// The clock of temporal coherence never runs slower than any point moves.
#include "contact/support.h"

#include <cotouch/contact/motion_bound.h>

#include <gtest/gtest.h>

namespace cotouch {
namespace {

using contact_test::random_pose;

TEST(MotionBound, NoPointMovesFartherThanTheClockAdvances) {
  Random random(31);
  const Vec3d center{0.3, -0.2, 0.1};
  const double radius = 0.25;
  MotionBound bound(center, radius);
  std::vector<Vec3d> points;
  for (int i = 0; i < 50; ++i) points.push_back(center + random.direction() * radius);
  std::vector<Pose> poses;
  std::vector<double> clocks;
  Pose pose = random_pose(random, 1);
  for (int cycle = 0; cycle < 200; ++cycle) {
    const double step = cycle % 10 == 0 ? 0.0 : random.uniform() * random.uniform() * 0.01;
    pose =
        cycle % 40 == 39 ? random_pose(random, 3) : moved(pose, {random.direction() * step, random.direction() * step});
    poses.push_back(pose);
    clocks.push_back(bound.advance(pose));
  }
  for (std::size_t a = 0; a < poses.size(); ++a)
    for (std::size_t b = a + 1; b < poses.size(); ++b)
      for (const Vec3d& p : points)
        ASSERT_LE(norm(transform(poses[b], p) - transform(poses[a], p)), clocks[b] - clocks[a]) << a << " " << b;
}

TEST(MotionBound, IsTightForATranslationAndStandsStillWithTheBody) {
  MotionBound bound({0, 0, 0}, 0.1);
  bound.advance({{0, 0, 0}, {}});
  // The allowance for single precision is 2^-16 of the motion.
  EXPECT_NEAR(bound.advance({{0.003, 0, 0.004}, {}}), 0.005, 0.005 * 2e-5);
  const double before = bound.clock();
  EXPECT_EQ(bound.advance({{0.003, 0, 0.004}, {}}), before);
}

TEST(MotionBound, LosesNoStepHoweverFarItHasCome) {
  MotionBound bound({0, 0, 0}, 0.1);
  bound.restart(1e12);
  bound.advance({{0, 0, 0}, {}});
  const double start = bound.clock();
  // Each step is far below half of the clock's resolution there, 1.2e-4; nothing may be rounded away.
  for (int i = 1; i <= 1000; ++i) bound.advance({{1e-6 * i, 0, 0}, {}});
  EXPECT_GE(bound.clock() - start, 1e-3);
}

}  // namespace
}  // namespace cotouch
