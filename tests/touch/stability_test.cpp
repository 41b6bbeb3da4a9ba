#include <cotouch/touch/stability.h>

#include <cotouch/base/error.h>

#include "fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cotouch::this_file {
namespace {

using testing::k_peg;

constexpr double k_rigid = 1e7;  // N/m

const Pose k_above{{0, 0, 0.005}, {}};

// One point that touches, and a second one far above it: the body with more points brings them.
const std::vector<Vec3d> k_one_point{{0, 0, 0}, {0, 0, 0.5}};

// A peg of these points over some field.
std::shared_ptr<const WorldModel> model_over(const std::shared_ptr<const Part>& ground, double contact, double coupling,
                                             const Pose& start, const std::string& engine = {},
                                             const std::vector<Vec3d>& points = k_one_point) {
  BodyModel fixed;
  fixed.id = testing::k_plate;
  fixed.name = "ground";
  fixed.pieces = {{ground, {}}};
  BodyModel peg;
  peg.id = k_peg;
  peg.name = "peg";
  peg.motion = Motion::free;
  peg.pieces = {{testing::points_part(points), {}}};
  peg.start = start;
  peg.mass.mass = 0.1;
  peg.mass.inertia = Mat3::identity() * 1e-4;
  WorldSettings settings;
  settings.contact.stiffness = contact;
  settings.coupling.linear_stiffness = coupling;
  const PairRule rule{testing::k_plate, k_peg, true, engine};
  return std::make_shared<const WorldModel>(std::vector<BodyModel>{fixed, peg}, settings, std::span(&rule, 1));
}

// A point pressed onto a wall and slid along it, at a share of the device's passive stiffness. Ten substeps are enough
// here: the device's integrator is exact in energy at any.
StabilityTrial wall_trial(double share, double contact = k_rigid) {
  StabilityTrial trial;
  trial.keys = {k_above, {{0, 0, -0.01}, {}}, {{0.05, 0, -0.01}, {}}, {{0.05, 0, 0.005}, {}}};
  trial.device.substeps = 10;
  trial.body = k_peg;
  trial.model = model_over(testing::plate_part(), contact, share * trial.device.passive_stiffness(), k_above);
  return trial;
}

ArmImpedance undamped_arm() {
  ArmImpedance arm;
  arm.damping = arm.angular_damping = 0;
  return arm;
}

// A roof of two planes, 10 mm above z = 0 at its ridge and falling away to both sides with a slope of one in seven.
std::shared_ptr<const Part> roof_part() {
  auto made = std::make_shared<Part>();
  made->name = "roof";
  Box3d box;
  box.add({-0.16, -0.05, -0.05});
  box.add({0.16, 0.05, 0.01});
  const double length = std::sqrt(1 + 1.0 / 49);
  made->field = build_field(
      [length](const Vec3d& p) {
        const double above = (p.z - 0.01 + std::fabs(p.x) / 7) / length;
        return std::max(above, contact_test::box_distance(p - Vec3d{0, 0, -0.02}, {0.16, 0.05, 0.03}));
      },
      box, {.resolution = 80});
  made->shell = contact_test::link_naively({{{0, 0, -0.02}, {0, 0, 1}}}, 1);
  return made;
}

// Colgate's limit is sharp for the worst hand, a spring and a mass without damping, on a rigid wall: the sampled wall
// gives K T/2 v^2 and its delay K t_d v^2, and only the device's b v^2 takes. The oscillation then changes as
// exp(-(b - K (T/2 + t_d)) t / 2M). This holds device, loop, world and formula against each other.
// With the device's own limits the coupling never gets beyond nine tenths of it.
class ColgatesLimit : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Stability, ColgatesLimit, ::testing::Bool());

TEST_P(ColgatesLimit, IsMetByTheWorstHandAndNotExceededByADeviceThatKnowsIt) {
  const bool knows = GetParam();
  for (const double share : {0.5, 0.9, 0.98, 1.02, 1.1}) {
    DeviceDynamics dynamics;
    dynamics.friction = dynamics.resolution = 0;  // the formula leaves them out
    dynamics.angular_friction = dynamics.angular_resolution = 0;
    const double stiffness = share * dynamics.passive_stiffness();
    const ArmImpedance arm = undamped_arm();
    // Pressed 6 mm in, which sets it swinging a little, and held there: it never leaves the wall.
    std::vector<Pose> keys{{{0, 0, 1e-4}, {}}};
    keys.insert(keys.end(), 17, Pose{{0, 0, -0.006}, {}});
    DeviceLimits limits = knows ? dynamics.limits() : k_without_motors;
    limits.motors = k_without_motors.motors;  // cool ones: the swing is to be the spring's
    SimulatedDevice device(dynamics, arm, HandPath(keys, 0.04), k_peg, limits);
    LocalWorld world(model_over(testing::plate_part(), k_rigid, stiffness, keys[0]));
    TouchLoopSettings settings;
    settings.limits.ramp_seconds = 0;
    TouchLoop loop({&device}, world, settings);

    double seconds[2] = {0, 0};  // squared speed summed over the second and the third second
    std::uint64_t lost = 0;
    for (int cycle = 0; loop.run_cycles(1) == 1; ++cycle) {
      if (cycle < 1000 || cycle >= 3000) continue;
      seconds[cycle / 1000 - 1] += norm_squared(device.velocity().linear);
      lost += loop.frame().contact.in_contact == 0;
    }
    EXPECT_EQ(lost, 0U);
    const double felt = knows ? std::min(stiffness, 0.9 * dynamics.passive_stiffness()) : stiffness;
    const double decay =
        (dynamics.damping - felt * (dynamics.period / 2 + dynamics.delay)) / (2 * (dynamics.mass + arm.mass));
    // The formula is the difference of two terms of about b / 2M = 2.2, to first order in (w T)^2 = 0.008; and a second
    // of 13 Hz is not a whole number of swings, worth 1 / (4 pi 13) in the sums.
    EXPECT_NEAR(0.5 * std::log(seconds[0] / seconds[1]), decay, 2.2 * 0.008 + 0.006) << share;
  }
}

TEST(Stability, TheDefaultsAreCalmOnAStiffWallAndCreateNoEnergy) {
  StabilityTrial trial = wall_trial(1, 1e5);
  trial.model = model_over(testing::plate_part(), 1e5, CouplingSettings{}.linear_stiffness, k_above);
  const StabilityOutcome outcome = try_stability(trial);
  EXPECT_TRUE(outcome.stable);
  EXPECT_GT(outcome.touching, 1000U);
  EXPECT_GT(outcome.largest_force, 1);
  EXPECT_GT(outcome.deepest, 1e-5);
  EXPECT_NEAR(outcome.depth_cells, outcome.deepest / testing::k_cell, 1e-6);
  EXPECT_LE(outcome.energy_created, outcome.rounding_energy);
}

// The arm's damping helps: with 4 N s/m beside the device's 1 N s/m a rigid wall shakes from 5 times the limit on
// (exp((K (T/2 + t_d) - b - b_arm) t / 2M), as above). Without friction, which would hold small swings. In between the
// arm takes what the device does not: calm, but energy is created, three times what the device takes at 3.
TEST(Stability, AWallAboveTheLimitShakesAtRest) {
  for (const double share : {0.8, 3.0, 8.0}) {
    StabilityTrial trial = wall_trial(share);
    trial.device.friction = 0;
    const StabilityOutcome outcome = try_stability(trial);
    EXPECT_EQ(outcome.rest_speed < trial.calm_speed && !outcome.growing, share < 5) << share;
    EXPECT_EQ(outcome.energy_created <= outcome.rounding_energy, share < 1) << share;
    EXPECT_EQ(outcome.stable, share < 1) << share;
  }
}

// The worst hand shakes from the limit itself on. At half of it swings fall by exp(-(b/2) t / 2M), to 1/80 in the four
// seconds before a rest is judged; at 1.2 of it they grow.
TEST(Stability, WithoutFrictionTheWorstHandIsJudgedByColgatesLimit) {
  for (const double share : {0.5, 1.2}) {
    StabilityTrial trial = wall_trial(share);
    trial.device.friction = trial.device.resolution = 0;
    trial.arm = undamped_arm();
    trial.rest_pauses = 21;
    EXPECT_EQ(try_stability(trial).stable, share < 1) << share;
  }
}

// The same where only sliding touches: both rests are in free air, contact lasts longer than a second and a half in
// between, and at 8 times the limit swings grow by exp(3 t / 0.45) in it. The rests say nothing about it.
TEST(Stability, ShakingWhileSlidingIsSeenThoughBothRestsAreCalm) {
  const auto roof = roof_part();
  for (const double share : {0.8, 8.0}) {
    StabilityTrial trial = wall_trial(share);
    trial.keys = {{{-0.15, 0, 0}, {}}, {{0.15, 0, 0}, {}}};
    trial.model = model_over(roof, k_rigid, share * trial.device.passive_stiffness(), trial.keys[0]);
    trial.device.friction = 0;
    const StabilityOutcome outcome = try_stability(trial);
    EXPECT_GT(outcome.touching, share < 5 ? 1500U : 500U);  // shaking, it leaves the roof now and then
    EXPECT_LT(outcome.rest_speed, trial.calm_speed);
    EXPECT_FALSE(outcome.growing);
    EXPECT_EQ(outcome.slide_speed <= outcome.allowed_speed, share < 5) << share;
    EXPECT_EQ(outcome.stable, share < 5) << share;
  }
}

// The definition itself, on a way short enough to be one piece: 0.3 m at 0.16 m/s.
TEST(Stability, SlidingMayShakeTwiceAsMuchAsOnTheCalmTwin) {
  StabilityTrial trial = wall_trial(0.8);
  trial.keys = {{{-0.15, 0, 0}, {}}, {{0.15, 0, 0}, {}}};
  trial.model = model_over(roof_part(), k_rigid, 0.8 * trial.device.passive_stiffness(), trial.keys[0]);
  trial.speed = 0.16;
  const StabilityOutcome outcome = try_stability(trial);
  trial.device.damping *= 1.8;
  trial.device.angular_damping += trial.model->settings().coupling.angular_stiffness * (0.5e-3 + 0.2e-3);
  const StabilityOutcome twin = try_stability(trial);
  EXPECT_GT(twin.slide_speed, 0.001);
  EXPECT_NEAR(outcome.allowed_speed, 0.002 + 2 * twin.slide_speed, 1e-9);
}

// A sampled spring gives K (T/2 + t_d) v^2 and a device below the limit takes more. What came out of the virtual side
// is not created by the whole.
TEST(Stability, TheDeviceTakesWhatASampledWallGives) {
  StabilityTrial trial = wall_trial(0.9);
  trial.device.friction = trial.device.resolution = 0;
  trial.arm = undamped_arm();
  const StabilityOutcome outcome = try_stability(trial);
  EXPECT_GT(outcome.environment_energy, 1e-5);
  EXPECT_GT(outcome.device_absorbed, outcome.environment_energy);
  EXPECT_LE(outcome.energy_created, outcome.rounding_energy);
}

TEST(Stability, FreeSpaceIsCalmAtAnyStiffness) {
  StabilityTrial trial = wall_trial(1.5);
  trial.arm = undamped_arm();
  for (Pose& key : trial.keys) key.position.z += 0.1;
  trial.model = model_over(testing::plate_part(), k_rigid, 1.5 * trial.device.passive_stiffness(), trial.keys[0]);
  StabilityOutcome outcome = try_stability(trial);
  EXPECT_TRUE(outcome.stable);
  EXPECT_EQ(outcome.touching, 0U);
  // What is left is the encoder's rounding, as can be seen without one.
  EXPECT_GT(outcome.energy_created, 0);
  trial.device.resolution = 0;
  outcome = try_stability(trial);
  EXPECT_LT(outcome.energy_created, 1e-12);
}

// Pressed in by d, the arm and the coupling share it: F = d k_arm K / (k_arm + K). Nearly all of the time that it
// touches it rests there.
TEST(Stability, ForceOverTimeIsThatOfThePressedSprings) {
  StabilityTrial trial = wall_trial(0.7);
  trial.keys = {k_above, {{0, 0, -0.004}, {}}, k_above};
  trial.rest_pauses = 30;
  const double coupling = 0.7 * trial.device.passive_stiffness();
  const double force = 0.004 * trial.arm.stiffness * coupling / (trial.arm.stiffness + coupling);
  EXPECT_NEAR(try_stability(trial).rms_force, force, 0.04 + 0.02 * force);  // friction and the ways in and out
}

// A tap leaves the key, 1 mm in the wall, by 10 mm and comes back: two reaches of 0.2 s, of which the hand is in the
// wall while 10 s^3 - 15 s^4 + 6 s^5 < 1/10, s < 0.247. A firm arm follows closely.
TEST(Stability, TapsLeaveTheWallAndStrikeItAgain) {
  StabilityTrial trial = wall_trial(0.7);
  trial.keys = {{{0, 0, 0.02}, {}}, {{0, 0, -0.001}, {}}};
  trial.model = model_over(testing::plate_part(), k_rigid, 1000, trial.keys[0]);
  trial.arm.stiffness = 1500;
  trial.arm.damping = 15;
  const auto touching = static_cast<double>(try_stability(trial).touching);
  trial.taps = 4;
  const StabilityOutcome tapped = try_stability(trial);
  EXPECT_NEAR(static_cast<double>(tapped.touching) - touching, 4 * 2 * 0.247 * 200, 0.2 * 4 * 2 * 0.247 * 200);
  EXPECT_TRUE(tapped.stable);
}

// Below the limit the theory calls the device passive at any speed, taps included; far above it is not.
TEST(Stability, AFastHandThatTapsIsJudgedByTheLimitToo) {
  for (const double share : {0.7, 0.9, 5.0}) {
    StabilityTrial trial = wall_trial(share);
    trial.speed = 0.3;
    trial.taps = 3;
    trial.device.friction = trial.device.resolution = 0;
    const StabilityOutcome outcome = try_stability(trial);
    EXPECT_EQ(outcome.creates_energy(), share > 1)
        << share << ": " << outcome.energy_created << " and " << outcome.touching_energy << " J, allowed "
        << outcome.sampling_energy;
  }
}

TEST(Stability, EveryEngineIsJudgedAlike) {
  StabilityTrial trial = wall_trial(0.5);
  const StabilityOutcome usual = try_stability(trial);
  for (const EngineKind* kind : engine_kinds()) {
    trial.model = model_over(testing::plate_part(), k_rigid, 0.5 * trial.device.passive_stiffness(), k_above,
                             std::string(kind->name()));
    const StabilityOutcome outcome = try_stability(trial);
    EXPECT_GT(outcome.largest_force, 1) << kind->name();
    // Of two points and one level, so that even the gaps are the same.
    EXPECT_EQ(outcome.largest_force, usual.largest_force) << kind->name();
    EXPECT_EQ(outcome.touching_energy, usual.touching_energy) << kind->name();
  }
}

// A ball of five hundred points on four levels, where engines find what presses in different ways, and how far it may
// move: each keeps to the bounds of its own trial.
TEST(Stability, EveryEngineIsCalmWithSeveralLevels) {
  std::vector<Vec3d> points;
  const Shell ball = contact_test::ball_shell(0.01, 500, 1);
  for (const Vec3f& p : ball.data().positions) points.emplace_back(p);
  for (const EngineKind* kind : engine_kinds()) {
    SCOPED_TRACE(kind->name());
    StabilityTrial trial = wall_trial(0.5);
    for (Pose& key : trial.keys) key.position.z += 0.01;  // of its middle
    trial.model = model_over(testing::plate_part(), 1e5, 0.5 * trial.device.passive_stiffness(), trial.keys[0],
                             std::string(kind->name()), points);
    ASSERT_EQ(trial.model->pairs().size(), 1U);
    EXPECT_EQ(trial.model->engine(trial.model->pairs()[0]).levels(), 4U);
    const StabilityOutcome outcome = try_stability(trial);
    EXPECT_TRUE(outcome.stable);
    EXPECT_LT(outcome.rest_speed, trial.calm_speed);
    EXPECT_FALSE(outcome.growing);
    EXPECT_LE(outcome.slide_speed, outcome.allowed_speed);
    EXPECT_FALSE(outcome.creates_energy()) << outcome.energy_created << " and " << outcome.touching_energy << " J";
    EXPECT_GT(outcome.largest_force, 1);
    EXPECT_GT(outcome.touching, 1000U);
  }
}

TEST(Stability, NeedsABodyForTheHand) {
  StabilityTrial trial = wall_trial(1);
  trial.body = 99;
  EXPECT_THROW(try_stability(trial), Error);
}

}  // namespace
}  // namespace cotouch::this_file
