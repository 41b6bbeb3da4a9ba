// Energy accounts: engines made up by formulas, and worlds that give a hand what it never put in.
#include <cotouch/touch/stability.h>
#include <cotouch/touch/stability_energy.h>

#include "fixtures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cotouch::this_file {
namespace {

constexpr double k_stiffness = 1000;  // N/m
constexpr double k_deep = 2e-3;       // metres
constexpr double k_whole = 0.5 * k_stiffness * k_deep * k_deep;

// A device that is led in and out of an engine whose force is a formula. What the engine stores is its own affair; the
// account learns depth and work only.
class MadeUp {
 public:
  // `known`: the most its stiffness can be, N/m; 0: nobody knows.
  explicit MadeUp(double known) : known_(known > 0 ? known : std::numeric_limits<double>::infinity()) {}

  // To this depth (negative: free) in small steps, against this stiffness; `loss` joules go into friction on the way.
  void lead_to(double depth, double stiffness, double loss = 0) {
    constexpr int k_steps = 1000;
    const double from = depth_;
    for (int i = 1; i <= k_steps; ++i) {
      const double next = from + (depth - from) * i / k_steps;
      const double a = std::max(0.0, depth_), b = std::max(0.0, next);
      device_.from_environment += 0.5 * stiffness * (a * a - b * b);  // pressed in, it takes
      device_.dissipated += loss / k_steps;
      account_.add(device_, 0, b > 0 ? 0.5 * known_ * b * b : 0);
      depth_ = next;
    }
  }
  const EnergyAccount& account() const { return account_; }

 private:
  double known_;
  EnergyAccount account_;
  DeviceEnergy device_;
  double depth_ = -1e-3;
};

TEST(EnergyAccounts, ASpringCreatesNothing) {
  for (const double known : {0.0, k_stiffness, 3 * k_stiffness}) {
    MadeUp engine(known);
    for (int i = 0; i < 3; ++i) {
      engine.lead_to(k_deep, k_stiffness);
      engine.lead_to(k_deep / 3, k_stiffness);
      engine.lead_to(k_deep / 2, k_stiffness);
      engine.lead_to(-1e-3, k_stiffness);
    }
    EXPECT_LT(engine.account().created(), 1e-12) << known;
    EXPECT_LT(engine.account().touching(), 1e-12) << known;
    EXPECT_LT(engine.account().environment(), 1e-12) << known;
    EXPECT_NEAR(engine.account().unseen(), k_whole, 1e-9);  // what it stored could have been lost
  }
}

TEST(EnergyAccounts, AnEngineThatPushesBackHarderCreatesTheDifference) {
  for (const double known : {0.0, 1.2 * k_stiffness}) {
    MadeUp engine(known);
    engine.lead_to(k_deep, k_stiffness);
    engine.lead_to(-1e-3, 1.2 * k_stiffness);
    EXPECT_NEAR(engine.account().created(), 0.2 * k_whole, 1e-9);
    EXPECT_NEAR(engine.account().touching(), 0.2 * k_whole, 1e-9);
    EXPECT_NEAR(engine.account().environment(), 0.2 * k_whole, 1e-9);
    EXPECT_EQ(engine.account().absorbed(), 0);
    // A second time. Nothing was lost in between, so the account still starts where it did at first.
    engine.lead_to(k_deep, k_stiffness);
    engine.lead_to(-1e-3, 1.2 * k_stiffness);
    EXPECT_NEAR(engine.account().created(), 0.4 * k_whole, 1e-9);
  }
}

TEST(EnergyAccounts, ASoftEngineCreatesNothingThoughItLoses) {
  MadeUp engine(k_stiffness);
  engine.lead_to(k_deep, k_stiffness);
  engine.lead_to(-1e-3, 0.5 * k_stiffness);
  EXPECT_LT(engine.account().created(), 1e-12);
  EXPECT_LT(engine.account().touching(), 1e-12);
  // What was lost before pays for nothing: creation after a free instant counts from there.
  engine.lead_to(k_deep, k_stiffness);
  engine.lead_to(-1e-3, 1.1 * k_stiffness);
  EXPECT_NEAR(engine.account().created(), 0.1 * k_whole, 1e-9);
}

// Friction takes the whole twice while contact lasts; then the engine gives half of it. That is hidden from the account
// that is certain, and within what it says that it may not see.
TEST(EnergyAccounts, WhatFrictionHidesIsUnseenOrFoundWhileTouching) {
  constexpr double k_shallow = k_deep / 10;
  for (const double known : {0.0, k_stiffness}) {
    MadeUp engine(known);
    engine.lead_to(k_deep, k_stiffness);
    engine.lead_to(k_shallow, k_stiffness, 2 * k_whole);
    engine.lead_to(k_deep, k_stiffness);
    engine.lead_to(k_shallow, 1.5 * k_stiffness);
    EXPECT_LT(engine.account().created(), 1e-12);
    EXPECT_GE(engine.account().unseen(), 2 * k_whole);
    // Half of what lies between both depths, without what the contact may have stored at the start. Nothing can be said
    // without a bound on its stiffness.
    const double at_start = 0.5 * k_stiffness * k_shallow * k_shallow;
    const double found = 0.5 * (k_whole - at_start) - at_start;
    EXPECT_NEAR(engine.account().touching(), known > 0 ? found : 0, 1e-6 * k_whole) << known;
  }
}

// A plate that rests for `wait` seconds, then moves by `rise` metres within half a second and stays there.
std::shared_ptr<const WorldModel> over_a_lift(double wait, double rise, double coupling, double contact) {
  const auto peg = testing::peg_model(contact);
  std::vector<BodyModel> bodies = peg->bodies();
  if (rise != 0) {
    std::vector<Pose> keys(static_cast<std::size_t>(std::lround(wait / 0.2)) + 1);  // each pause takes 0.2 s
    keys.insert(keys.end(), 200, Pose{{0, 0, rise}, {}});
    bodies[0].motion = Motion::path;
    bodies[0].path = HandPath(keys, std::fabs(rise) / 0.5);
  }
  WorldSettings settings = peg->settings();
  settings.coupling.linear_stiffness = coupling;
  return std::make_shared<const WorldModel>(bodies, settings);
}

// Pressed 10 mm in from 1.9 s to 3.5 s, then slid by 50 mm, at rest again from 4.5 s to 6.1 s.
StabilityTrial press_and_slide(double wait, double rise, double contact = 1e7) {
  StabilityTrial trial;
  trial.keys = {{{0, 0, 0.005}, {}}, {{0, 0, -0.01}, {}}, {{0.05, 0, -0.01}, {}}, {{0.05, 0, 0.005}, {}}};
  trial.body = testing::k_peg;
  trial.device.substeps = 10;
  trial.model = over_a_lift(wait, rise, 0.5 * trial.device.passive_stiffness(), contact);
  return trial;
}

TEST(StabilityEnergy, AGroundThatStaysOrSinksCreatesNothing) {
  for (const double rise : {0.0, -0.002}) {
    const StabilityTrial trial = press_and_slide(2.4, rise);
    const StabilityOutcome outcome = try_stability(trial);
    EXPECT_GT(outcome.touching, 1000U);
    EXPECT_LE(outcome.energy_created, outcome.rounding_energy) << rise;
    // A ground that moves stretches the sampled coupling, which gives K (T/2 + t_d) v^2 though the handle stands still;
    // v^2 sums up to 10/7 h^2 / t for a reach by h within t.
    const double sampled = trial.model->settings().coupling.linear_stiffness *
                           (trial.device.period / 2 + trial.device.delay) * (10.0 / 7) * rise * rise / 0.5;
    EXPECT_LE(outcome.touching_energy, outcome.rounding_energy + 1.5 * sampled) << rise;
  }
}

// It lifts the hand by 2 mm against what the hand presses with: force times way.
TEST(StabilityEnergy, AGroundThatRisesGivesItsWork) {
  const double rise = 0.002;
  const StabilityOutcome outcome = try_stability(press_and_slide(2.4, rise));
  const double work = outcome.largest_force * rise;  // the force grows on the way: at most this
  EXPECT_GT(work, 2e-3);
  EXPECT_FALSE(outcome.stable);
  EXPECT_LE(outcome.touching_energy, work);
  EXPECT_GT(outcome.touching_energy, 0.6 * work);
  EXPECT_GT(outcome.energy_created, 100 * outcome.rounding_energy);
  EXPECT_LE(outcome.energy_created, outcome.touching_energy);
}

// A device with much friction loses more on the way than the ground then gives, all within one contact.
TEST(StabilityEnergy, WhatADevicesFrictionHidesIsFoundWhileTouching) {
  for (const double contact : {1e7, 1e4}) {  // the soft one stores a millijoule
    SCOPED_TRACE(contact);
    StabilityTrial trial = press_and_slide(5, 0.002, contact);
    trial.device.friction = 0.5;
    const StabilityOutcome outcome = try_stability(trial);
    const double work = outcome.largest_force * 0.002;
    EXPECT_LE(outcome.energy_created, outcome.rounding_energy);
    EXPECT_GT(outcome.energy_unseen, 0.5 * 0.05);  // friction along the slide
    EXPECT_GT(outcome.touching_energy, 0.4 * work);
    EXPECT_LE(outcome.touching_energy, work);
    // Nothing else gives it away.
    EXPECT_LT(outcome.rest_speed, trial.calm_speed);
    EXPECT_LE(outcome.slide_speed, outcome.allowed_speed);
    EXPECT_FALSE(outcome.stable);
  }
}

// A weight that sinks pulls the hand down and pays with its height; going up the hand pays. Nothing is touched.
TEST(StabilityEnergy, AWeightGivesNoMoreThanItsHeight) {
  StabilityTrial trial;
  trial.keys = {{{0, 0, 0.2}, {}}, {{0, 0, 0.15}, {}}, {{0, 0, 0.2}, {}}};
  trial.body = testing::k_peg;
  trial.device.substeps = 10;
  for (const bool has_mass : {true, false}) {
    std::vector<BodyModel> bodies = testing::peg_model()->bodies();
    bodies[1].start = trial.keys.front();
    bodies[1].mass.mass = 0.2;
    bodies[1].holding = has_mass ? Holding::dynamic : Holding::quasi_static;
    WorldSettings settings;
    settings.gravity = {0, 0, -9.81};
    settings.coupling.damping = 0;
    trial.model = std::make_shared<const WorldModel>(bodies, settings);
    const StabilityOutcome outcome = try_stability(trial);
    EXPECT_EQ(outcome.touching, 0U);
    // A thousandth of the work on the way: the midpoint of a device's step is not that of the world's.
    EXPECT_LT(outcome.energy_created, 1e-3 * 0.2 * 9.81 * 0.05) << has_mass;
    EXPECT_EQ(outcome.largest_force > 0.2 * 9.81, has_mass);
  }
}

// One that is thrown onto the hand by a ground that rises: its motion is energy too.
TEST(StabilityEnergy, WhatAGroundThrowsUpIsCreated) {
  StabilityTrial trial = press_and_slide(2.4, 0.002);
  std::vector<BodyModel> bodies = trial.model->bodies();
  for (Pose& key : trial.keys) key = {{0.05, 0, 0.05}, {}};
  bodies[1].start = trial.keys.front();
  BodyModel thrown = bodies[1];
  thrown.id = 9;
  thrown.start = {{0, 0, 1e-4}, {}};
  thrown.mass.mass = 0.5;
  bodies.push_back(thrown);
  WorldSettings settings = trial.model->settings();
  settings.gravity = {0, 0, -9.81};
  trial.model = std::make_shared<const WorldModel>(bodies, settings, std::vector<PairRule>{{testing::k_peg, 9, false}});
  const double work = 0.5 * 9.81 * 0.002;  // lifted by as much
  EXPECT_NEAR(try_stability(trial).touching_energy, work, 0.1 * work);
}

}  // namespace
}  // namespace cotouch::this_file
