#include <cotouch/touch/stability.h>

#include "fixtures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cotouch {
namespace {

using testing::HalfspaceContact;
using testing::shell_in_hand;

// A point pressed onto a wall and slid along it, at a share of the device's passive stiffness.
StabilityTrial wall_trial(double share) {
  StabilityTrial trial;
  trial.keys = {{{0, 0, 0.005}, {}}, {{0, 0, -0.01}, {}}, {{0.05, 0, -0.01}, {}}, {{0.05, 0, 0.005}, {}}};
  trial.object = shell_in_hand();
  trial.object.coupling.linear_stiffness = share * trial.device.passive_stiffness();
  return trial;
}

ArmImpedance undamped_arm() {
  ArmImpedance arm;
  arm.damping = arm.angular_damping = 0;
  return arm;
}

// A plane that holds the object from both sides, so that everything about it is linear.
class TwoSidedWall final : public ContactEngine {
 public:
  void evaluate(const Pose& shell, const Pose&, Moving, ContactResult& result) noexcept override {
    result = {};
    result.wrench.force.z = -k_stiffness * shell.position.z;
    result.gradient.force_linear(2, 2) = -k_stiffness;
  }
  std::span<const ContactPoint> contacts() const noexcept override { return {}; }
  void reset() noexcept override {}

 private:
  static constexpr double k_stiffness = 1e9;
};

// Colgate's limit is sharp for the worst hand, a spring and a mass without damping, on a rigid wall: the sampled wall
// gives K T/2 v^2 and its delay K t_d v^2, and only the device's b v^2 takes. The oscillation then changes as
// exp(-(b - K (T/2 + t_d)) t / 2M). This holds device, loop and formula against each other.
TEST(Stability, WithoutQuasiStaticDampingTheWorstHandMeetsColgatesLimit) {
  for (const double share : {0.5, 0.9, 0.98, 1.02, 1.1}) {
    DeviceDynamics dynamics;
    dynamics.friction = dynamics.resolution = 0;  // the formula leaves them out
    const double stiffness = share * dynamics.passive_stiffness();
    const ArmImpedance arm = undamped_arm();
    SimulatedDevice device(dynamics, arm, HandPath(std::vector<Pose>(16, Pose{{0, 0, -1e-3}, {}})));
    TwoSidedWall wall;
    HeldObjectSettings object_settings = shell_in_hand();
    object_settings.damping = 0;
    object_settings.coupling.linear_stiffness = stiffness;
    HeldObject object(wall, object_settings, {});
    TouchLoopSettings settings;
    settings.limits.ramp_seconds = 0;
    TouchLoop loop(device, object, settings);

    double seconds[2] = {0, 0};  // squared speed summed over the second and the third second
    for (int cycle = 0; loop.run_cycles(1) == 1; ++cycle)
      if (cycle >= 1000 && cycle < 3000) seconds[cycle / 1000 - 1] += norm_squared(device.velocity().linear);
    const double decay =
        (dynamics.damping - stiffness * (dynamics.period / 2 + dynamics.delay)) / (2 * (dynamics.mass + arm.mass));
    // The formula is the first order in (w T)^2 = 0.008; and a second of 13 Hz is not a whole number of swings, worth
    // 1 / (4 pi 13) in the sum.
    EXPECT_NEAR(0.5 * std::log(seconds[0] / seconds[1]), decay, 0.01 + 0.008 * std::fabs(decay)) << share;
  }
}

TEST(Stability, TheDefaultsAreCalmOnAStiffWallAndCreateNoEnergy) {
  HalfspaceContact wall(1e5);
  StabilityTrial trial = wall_trial(1);
  trial.object = shell_in_hand();
  const StabilityOutcome outcome = try_stability(wall, trial);
  EXPECT_TRUE(outcome.stable);
  EXPECT_GT(outcome.touching, 1000U);
  EXPECT_GT(outcome.largest_force, 1);
  EXPECT_LE(outcome.energy_created, 0);
}

TEST(Stability, AnUnstableSettingIsSeenAndCreatesEnergy) {
  HalfspaceContact wall(1e6);
  StabilityTrial trial = wall_trial(3);
  trial.arm = undamped_arm();
  trial.object.damping = 0;
  const StabilityOutcome outcome = try_stability(wall, trial);
  EXPECT_FALSE(outcome.stable);
  EXPECT_GT(outcome.energy_created, 1e-4);
}

TEST(Stability, FreeSpaceIsCalmAtAnyStiffness) {
  HalfspaceContact wall(1e5);
  StabilityTrial trial = wall_trial(1.5);
  trial.arm = undamped_arm();
  for (Pose& key : trial.keys) key.position.z += 0.1;
  const StabilityOutcome outcome = try_stability(wall, trial);
  EXPECT_TRUE(outcome.stable);
  EXPECT_EQ(outcome.touching, 0U);
  EXPECT_LE(outcome.energy_created, 0);
}

}  // namespace
}  // namespace cotouch
