// What the experiment `world` measures, in worlds whose answer is known and in worlds that break the rules.
#include <cotouch/base/trig.h>
#include <cotouch/experiment/world_measures.h>
#include <cotouch/experiment/world_scenes.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "touch/fixtures.h"

namespace cotouch::this_file {
namespace {

// One free body that meets nothing: 0.1 kg, alike in all directions.
struct Alone {
  BodyModel body;
  WorldSettings settings;

  Alone() {
    body.id = 1;
    body.motion = Motion::free;
    body.holding = Holding::dynamic;
    body.pieces = {{testing::points_part(testing::k_tip), {}}};
    body.mass.mass = 0.1;
    body.mass.inertia = Mat3::identity() * 1e-4;
    settings.tick = 0.01;
    settings.linear_drag = settings.angular_drag = 0;
  }
  std::shared_ptr<const WorldModel> model() const {
    return std::make_shared<const WorldModel>(std::vector<BodyModel>{body}, settings);
  }
};

TEST(WorldMeasures, WhatMovesDrifts) {
  Alone world;
  const AtRest still = watch_at_rest(*world.model(), 1, 2);
  EXPECT_EQ(still.drift, 0);
  EXPECT_EQ(still.kinetic, 0);
  world.body.start_velocity = {0, 1e-3, 0};
  const AtRest moving = watch_at_rest(*world.model(), 1, 2);
  EXPECT_NEAR(moving.drift, 2e-3, 1e-12);                // v t
  EXPECT_NEAR(moving.kinetic, 0.5 * 0.1 * 1e-6, 1e-15);  // m v^2 / 2
}

TEST(WorldMeasures, WhatTurnsOnTheSpotDrifts) {
  Alone world;
  world.body.start_spin = {0, 0, 0.25};
  const auto model = world.model();
  EXPECT_NEAR(watch_at_rest(*model, 0, 2).drift, 0.5 * model->reach(0), 1e-9);
}

TEST(WorldMeasures, ABodyOnOnePointIsAsDeepAsItsWeightPressesIt) {
  const auto peg = testing::peg_model(1e5, testing::k_tip, {}, 1e-3, {{0, 0, 1e-4}, {}});
  WorldSettings settings = peg->settings();
  settings.gravity = {0, 0, -9.81};
  const AtRest rest = watch_at_rest(*peg->with(settings), 2, 1);
  EXPECT_NEAR(rest.deepest, 0.1 * 9.81 / 1e5, 1e-7);  // m g / k
  EXPECT_LT(rest.drift, 1e-8);
}

TEST(WorldMeasures, DragTakesMomentumAndEnergy) {
  Alone world;
  world.body.start_velocity = {0.3, 0, -0.4};
  Collisions seen = watch_collisions(*world.model(), 1);
  EXPECT_LT(seen.momentum_error, 1e-12);
  EXPECT_NEAR(seen.energy_left, 1, 1e-12);
  EXPECT_EQ(seen.moving, 1U);
  world.settings.linear_drag = 0.2;
  seen = watch_collisions(*world.model(), 1);
  EXPECT_NEAR(seen.momentum_error, 1 - std::exp(-0.2), 1e-3);
  EXPECT_NEAR(seen.energy_left, std::exp(-0.4), 1e-3);
  world.settings.linear_drag = 20;
  EXPECT_EQ(watch_collisions(*world.model(), 1).moving, 0U);
}

TEST(WorldMeasures, AWallTakesMomentum) {
  // It falls onto the plate at 0.1 m/s and has turned round or stopped a tenth of a second later.
  const auto peg = testing::peg_model();
  std::vector<BodyModel> bodies = peg->bodies();
  bodies[1].start_velocity = {0, 0, -0.1};
  EXPECT_GT(watch_collisions(WorldModel(bodies, peg->settings()), 0.1).momentum_error, 0.9);
}

TEST(WorldMeasures, ASpinThatFadesIsAnErrorOfEnergy) {
  Alone world;
  world.body.mass.inertia.m = {1e-4, 0, 0, 0, 1.5e-4, 0, 0, 0, 2e-4};
  world.body.start_spin = {0.05, 10, 0.05};  // about the middle axis: it tumbles
  EXPECT_LT(worst_energy_error(*world.model(), 10), 1e-9);
  world.settings.angular_drag = 0.1;
  EXPECT_NEAR(worst_energy_error(*world.model(), 1), 1 - std::exp(-0.2), 2e-3);
}

// A small heavy body 0.25 m below the hand.
Alone pendulum(double amplitude) {
  Alone world;
  world.body.mass.center = {0, 0, -0.25};
  world.body.mass.inertia = Mat3::identity() * 1e-6;
  world.body.start.rotation = quat_from_rotation_vector({0, amplitude, 0});
  world.settings.tick = 1e-3;
  world.settings.gravity = {0, 0, -9.81};
  world.settings.coupling.linear_stiffness = 1e5;
  world.settings.coupling.angular_stiffness = 1e-4;
  world.settings.coupling.max_force = 100;
  return world;
}

TEST(WorldMeasures, APendulumOfKnownLengthHasItsPeriod) {
  const double inertia = 0.1 * 0.25 * 0.25 + 1e-6, back = 0.1 * 9.81 * 0.25 + 1e-4;
  const double theory = 2 * k_pi * std::sqrt(inertia / back) * (1 + 0.1 * 0.1 / 16);
  EXPECT_NEAR(theory, 1.0037, 1e-3);  // close to 2 pi sqrt(l / g)
  EXPECT_NEAR(swing_period(*pendulum(0.1).model(), 5) / theory, 1, 2e-4);
  // Pulled 2 % more strongly it swings 1 % faster; so large an error is seen.
  Alone heavier = pendulum(0.1);
  heavier.settings.gravity = heavier.settings.gravity * 1.02;
  EXPECT_NEAR(swing_period(*heavier.model(), 5) / theory, 1 / std::sqrt(1.02), 2e-4);
  EXPECT_EQ(swing_period(*pendulum(0.1).model(), 0.5), 0);  // too short to tell
}

TEST(WorldMeasures, TheLargestEigenvalueIsFound) {
  Mat3 m;
  m.m = {2, 0, 0, 0, 5, 0, 0, 0, -9};
  EXPECT_NEAR(largest_eigenvalue(m), 5, 1e-12);
  // 7 along (1, 1, 1) / sqrt 3 and 1 across: 1 + (7 - 1) / 3 everywhere.
  m.m = {3, 2, 2, 2, 3, 2, 2, 2, 3};
  EXPECT_NEAR(largest_eigenvalue(m), 7, 1e-12);
  EXPECT_EQ(largest_eigenvalue(Mat3::identity() * 4), 4);
  EXPECT_EQ(largest_eigenvalue(Mat3()), 0);
}

TEST(WorldMeasures, OnePointIsAsStiffAsItWasMade) {
  PressedShell peg(*testing::points_part(testing::k_tip), *testing::plate_part());
  // The field's numbers are rounded: less than a thousandth of a cell, and less than a hundredth over 0.1 mm.
  EXPECT_NEAR(peg.touching_height({}, -0.002, 0.002), 0, 1e-3 * testing::k_cell);
  const Mat3 stiffness = peg.stiffness({{0, 0, -1e-4}, {}}, 1e-6);
  const double k = ContactSettings{}.stiffness;
  EXPECT_NEAR(largest_eigenvalue(stiffness) / k, 1, 1e-2);
  EXPECT_NEAR(stiffness(0, 0) / k, 0, 1e-2);  // it slides freely
}

TEST(WorldMeasures, TheWorstTrialIsReported) {
  std::vector<StabilityOutcome> outcomes(3);
  for (StabilityOutcome& outcome : outcomes) outcome.stable = true;
  outcomes[0].deepest = 2e-3;
  outcomes[1].deepest = 1e-3;
  outcomes[1].touching_energy = 3e-4;
  outcomes[2].energy_created = 2e-5;
  outcomes[2].stable = false;
  const std::vector<double> cells{4e-3, 1e-3, 1e-3};
  ExperimentReport report;
  report_thin(outcomes, cells, report);
  std::vector<std::pair<std::string, double>> seen;
  for (const ExperimentResult& result : report.results) seen.emplace_back(result.name, result.value);
  const std::vector<std::pair<std::string, double>> expected{
      {"thin/depth-cells", 1}, {"thin/energy-joule", 3e-4}, {"thin/energy-certain-joule", 2e-5}, {"thin/unstable", 1}};
  EXPECT_EQ(seen, expected);
}

double value_of(const ExperimentReport& report, const std::string& name) {
  const auto found = std::find_if(report.results.begin(), report.results.end(),
                                  [&](const ExperimentResult& result) { return result.name == name; });
  if (found != report.results.end()) return found->value;
  ADD_FAILURE() << name;
  return std::numeric_limits<double>::quiet_NaN();
}

TEST(ExperimentWorld, ReportsEveryNameAndKeepsItsPromises) {
  NoProgress quiet;
  ExperimentOptions options;
  options.quick = true;
  options.progress = &quiet;
  ExperimentReport report;
  measure_bodies(options, report);
  const auto value = [&](const std::string& name) { return value_of(report, name); };
  EXPECT_LE(value("stack/drift-mm"), 0.1);
  EXPECT_LE(value("stack/energy-joule"), 1e-6);
  EXPECT_LE(value("billiard/momentum-error"), 1e-9);
  EXPECT_GT(value("billiard/moving"), 1);
  EXPECT_LE(value("pendulum/period-error-percent"), 0.1);
  EXPECT_LE(value("spin/energy-error-percent"), 1e-6);
  EXPECT_LE(value("flat/stiffness-ratio"), 1);
  EXPECT_GT(value("flat/stiffness-ratio"), 0.01);
  EXPECT_LE(value("flat/linear-error"), 0.02);
  EXPECT_NEAR(value("flat/stiffness-of-points"), 1, 0.05);
  // How long steps take is no matter of this test.
  for (const char* name : {"docking/steps-64-ms", "docking/steps-64-p99-ms", "blocks-20/step-ms", "blocks-20/worst-ms"})
    EXPECT_GT(value(name), 0) << name;
  for (const ExperimentResult& result : report.results) EXPECT_TRUE(std::isfinite(result.value)) << result.name;
}

TEST(ExperimentWorldSlow, ThinSheetsKeepTheirPromises) {
  NoProgress quiet;
  ExperimentOptions options;
  options.quick = true;
  options.progress = &quiet;
  ExperimentReport report;
  measure_thin(options, report);
  EXPECT_LE(value_of(report, "thin/depth-cells"), 1);
  EXPECT_GT(value_of(report, "thin/depth-cells"), 0.05);  // something was pressed
  EXPECT_LE(value_of(report, "thin/energy-joule"), 1e-4);
  EXPECT_LE(value_of(report, "thin/energy-certain-joule"), 1e-4);
  EXPECT_EQ(value_of(report, "thin/unstable"), 0);
}

}  // namespace
}  // namespace cotouch::this_file
