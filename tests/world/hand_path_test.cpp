#include <cotouch/world/hand_path.h>

#include <cotouch/base/error.h>
#include <cotouch/base/random.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

const Pose k_start{{0, 0, 0}, {}};
const Pose k_far{{0.1, 0, 0}, quat_from_rotation_vector({0, 0, 1})};

TEST(HandPath, StartsRestsAndEndsInItsKeys) {
  const HandPath path({k_start, k_far, k_far, k_start}, 0.05, 1.0);
  EXPECT_EQ(path.at(-1), k_start);
  EXPECT_EQ(path.at(path.duration() + 1), k_start);
  // 0.1 m at 0.05 m/s takes 2 s (the turn of 1 rad only 1 s), then the pause.
  EXPECT_LT(norm(path.at(2.0).position - k_far.position), 1e-12);
  EXPECT_EQ(path.at(2.1).position, k_far.position);
  EXPECT_LT(norm(path.at(1.0).position - Vec3d{0.05, 0, 0}), 1e-12);
}

TEST(HandPath, RestsWhereAKeyIsRepeatedHoweverItIsTurned) {
  Random random(17);
  for (int i = 0; i < 100; ++i) {
    const Pose key{random.direction(), quat_from_rotation_vector(random.vector(0, 3))};
    EXPECT_NEAR(HandPath({key, key, key}).duration(), 0.4, 1e-12);
  }
}

TEST(HandPath, TurnsAtAConstantShareOfItsWay) {
  const Pose half = interpolate(k_start, k_far, 0.5);
  EXPECT_LT(norm(rotation_vector(half.rotation) - Vec3d{0, 0, 0.5}), 1e-12);
}

TEST(HandPath, HasNoJumpInPositionOrVelocity) {
  const HandPath path({k_start, k_far, k_start}, 0.05);
  const double dt = 1e-3;
  Vec3d last_velocity;
  for (double t = -0.01; t < path.duration() + 0.01; t += dt) {
    const Vec3d velocity = (path.at(t + dt).position - path.at(t).position) / dt;
    // Minimum jerk peaks at 15/8 of the mean speed and 5.8 lengths per duration squared of acceleration.
    EXPECT_LT(norm(velocity), 0.05 * 1.9);
    EXPECT_LT(norm(velocity - last_velocity), 5.8 * 0.1 / 4 * dt * 1.01);
    last_velocity = velocity;
  }
}

TEST(HandPath, RefusesAnEmptyPath) {
  EXPECT_THROW(HandPath(std::vector<Pose>{}), Error);
}

}  // namespace
}  // namespace cotouch::this_file
