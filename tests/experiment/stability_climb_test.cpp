// Who tries the coupling in the experiment `stability`, and how its figures are made from the trials.
#include <cotouch/experiment/stability_climb.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

TEST(StabilityClimb, HandsAreLightFastTappingAndServedLateToo) {
  for (const bool quick : {true, false}) {
    const std::vector<TrialHand> hands = trial_hands(quick);
    const auto some = [&](auto is) { return std::any_of(hands.begin(), hands.end(), is); };
    EXPECT_TRUE(some([](const TrialHand& h) { return h.arm.mass < DeviceDynamics{}.mass; })) << quick;
    EXPECT_TRUE(some([](const TrialHand& h) { return h.taps > 0; })) << quick;
    EXPECT_TRUE(some([](const TrialHand& h) { return h.speed >= 0.3; })) << quick;
    EXPECT_TRUE(some([](const TrialHand& h) { return h.jitter >= 0.3 * DeviceDynamics{}.period; })) << quick;
    EXPECT_TRUE(some([](const TrialHand& h) { return h.arm.damping == 0 && h.arm.angular_damping == 0; })) << quick;
  }
}

TEST(StabilityClimb, AHandsMannerReachesItsTrial) {
  NoProgress quiet;
  const TouchedScene wall = rigid_wall(quiet);
  const TrialHand hand{"a hand", ArmImpedance{.mass = 0.01}, 0.4, 5, 2e-4};
  const StabilityTrial trial = trial_of(wall, hand, k_dry_device, 1.5);
  EXPECT_EQ(trial.speed, 0.4);
  EXPECT_EQ(trial.taps, 5);
  EXPECT_EQ(trial.device.jitter, 2e-4);
  EXPECT_EQ(trial.device.damping, 0);
  EXPECT_EQ(trial.arm.mass, 0.01);
  // Shares are of the default device's limit, whatever device is tried: 1 N s/m over 0.7 ms.
  EXPECT_NEAR(trial.model->settings().coupling.linear_stiffness, 1.5 / 7e-4, 1e-9);
  EXPECT_EQ(trial_of(wall, {}, {}, 1).speed, wall.script.speed);
}

TEST(StabilityClimb, TheLeastOfAllAscentsCountsTheWallAmongThem) {
  Ascent scene, other, wall;
  scene.largest_stable = 1.5;
  scene.felt_stiffness = 800;
  other.largest_stable = 1.75;
  other.felt_stiffness = 700;
  wall.largest_stable = 1.1;
  wall.felt_stiffness = 1500;
  Ascent touches_between_keys;
  touches_between_keys.largest_stable = 2;
  const std::vector<Ascent> all{touches_between_keys, scene, other, wall};
  EXPECT_EQ(limit_of(all).share, 1.1);
  EXPECT_EQ(limit_of(all).felt_stiffness, 700);
}

TEST(StabilityClimb, TheFirstHandThatShakesEndsAnAscent) {
  const std::size_t hands = trial_hands(true).size();
  std::vector<Climb> climbs(hands);
  for (Climb& climb : climbs) {
    climb.outcomes.resize(trial_shares(true).size());
    for (StabilityOutcome& outcome : climb.outcomes) outcome.allowed_speed = 1;
    climb.largest_stable = trial_shares(true).back();
  }
  EXPECT_EQ(ascent_of("here", climbs, true).largest_stable, 1.5);
  EXPECT_TRUE(ascent_of("here", climbs, true).ended_by.empty());
  climbs[1].largest_stable = 1;
  climbs[1].first_unstable = 1.5;
  climbs[1].why = "shook";
  climbs[2].outcomes.resize(1);
  climbs[2].largest_stable = 0.8;
  climbs[2].first_unstable = 0.9;
  climbs[2].why = "hummed";
  const Ascent ascent = ascent_of("here", climbs, true);
  EXPECT_EQ(ascent.largest_stable, 0.8);
  EXPECT_EQ(ascent.share.size(), 1U);
  EXPECT_NE(ascent.ended_by.find("hummed"), std::string::npos);
  EXPECT_NE(ascent.ended_by.find(trial_hands(true)[2].name), std::string::npos);
}

TEST(StabilityClimb, SaysThatEnergyCameWhileTouching) {
  StabilityOutcome outcome;
  outcome.allowed_speed = 1;
  outcome.rounding_energy = 1e-7;
  outcome.touching_energy = 0.5;
  EXPECT_NE(why_unstable(outcome).find("0.5 J"), std::string::npos);
}

}  // namespace
}  // namespace cotouch::this_file
