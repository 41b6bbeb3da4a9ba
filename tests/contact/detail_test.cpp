// Level-of-detail control: bounded work, whole levels, hysteresis.
#include "contact/support.h"

#include <cotouch/base/error.h>

#include <gtest/gtest.h>

namespace cotouch {
namespace {

using namespace contact_test;

struct Scene {
  Shell shell = ball_shell(0.03, 2048, 5);
  Field field = box_field({0.05, 0.04, 0.02}, 40);
};

// The ball's lowest point `depth` below the box's upper face.
Pose pressed(double depth) {
  return {{0.001, 0.002, 0.02 + 0.03 - depth}, {}};
}

std::uint32_t nodes_at(const Scene& scene, const Pose& pose) {
  NestedContact engine(scene.shell, scene.field, {.coherence = false});
  ContactResult result;
  engine.evaluate(pose, {}, Moving::shell, result);
  return result.stats.visited;
}

TEST(LevelOfDetail, VisitsNeverMoreThanTheBudgetAndAlwaysWholeLevels) {
  const Scene scene;
  const std::uint32_t roots = scene.shell.points_to_level(0);
  Random random(21);
  for (const bool coherence : {false, true}) {
    NestedContact engine(scene.shell, scene.field, {.coherence = coherence});
    NestedContact oracle(scene.shell, scene.field, {});
    std::array<int, 5> seen{};
    Pose pose = pressed(0.002);
    for (int cycle = 0; cycle < 600; ++cycle) {
      const auto warm = static_cast<std::uint32_t>(random.below(1500));
      if (cycle % 5 == 0) engine.set_budget(WorkBudget::of(warm));
      const std::uint32_t limit = engine.budget().warm;
      pose = cycle % 50 == 0 ? random_pose(random, 0.06)
                             : moved(pose, {random.direction() * 0.001, random.direction() * 0.02});
      ContactResult result, every;
      engine.evaluate(pose, {}, Moving::shell, result);
      EXPECT_LE(result.stats.visited, std::max(limit, roots));
      EXPECT_TRUE(result.stats.level == 0 || result.stats.visited * 4 + result.stats.skipped <= limit * 4);
      // Whatever level was reached, it was rendered as a whole.
      oracle.evaluate_exhaustively(pose, {}, Moving::shell, result.stats.level, every);
      EXPECT_EQ(result.wrench, every.wrench);
      EXPECT_EQ(result.stats.in_contact, every.stats.in_contact);
      ++seen[result.stats.level];
    }
    for (const int times : seen) EXPECT_GT(times, 0);
  }
}

TEST(LevelOfDetail, DoesNotPopWhenTheLoadSwingsBetweenColdAndWarm) {
  const Scene scene;
  const Pose light = pressed(0.001), heavy = pressed(0.006);
  const std::uint32_t few = nodes_at(scene, light), many = nodes_at(scene, heavy);
  ASSERT_LT(few + 10, many);
  const std::uint32_t between = (few + many) / 2;

  const auto changes = [&](const WorkBudget& budget, const Pose& first) {
    NestedContact engine(scene.shell, scene.field, {.coherence = false}, budget);
    ContactResult result;
    engine.evaluate(first, {}, Moving::shell, result);
    int count = 0;
    std::uint32_t level = result.stats.level;
    for (int cycle = 0; cycle < 20; ++cycle) {
      engine.evaluate(cycle % 2 ? light : heavy, {}, Moving::shell, result);
      count += result.stats.level != level;
      level = result.stats.level;
    }
    EXPECT_EQ(level, 4U);
    return count;
  };
  // With the thresholds apart the level stays once reached; started from the heavy side it changes once, to deeper.
  EXPECT_EQ(changes({.warm = many + 1, .cold = between}, light), 0);
  EXPECT_EQ(changes({.warm = many + 1, .cold = between}, heavy), 1);
  // With one threshold for both it pops every cycle, which is what the second one is for.
  EXPECT_EQ(changes({.warm = between, .cold = between}, light), 20);
}

TEST(LevelOfDetail, ResetStartsColdAgain) {
  const Scene scene;
  const Pose light = pressed(0.001), heavy = pressed(0.006);
  const std::uint32_t few = nodes_at(scene, light), many = nodes_at(scene, heavy);
  NestedContact engine(scene.shell, scene.field, {.coherence = false}, {.warm = many + 1, .cold = (few + many) / 2});
  ContactResult result;
  engine.evaluate(light, {}, Moving::shell, result);
  engine.evaluate(heavy, {}, Moving::shell, result);
  EXPECT_EQ(result.stats.level, 4U);
  engine.reset();
  engine.evaluate(heavy, {}, Moving::shell, result);
  EXPECT_LT(result.stats.level, 4U);
}

TEST(LevelOfDetail, TheTopLevelIsRenderedEvenWithoutABudget) {
  const Scene scene;
  NestedContact engine(scene.shell, scene.field, {}, {.warm = 0, .cold = 0});
  ContactResult result, every;
  engine.evaluate(pressed(0.02), {}, Moving::shell, result);
  engine.evaluate_exhaustively(pressed(0.02), {}, Moving::shell, 0, every);
  EXPECT_EQ(result.stats.level, 0U);
  EXPECT_EQ(result.stats.visited, scene.shell.points_to_level(0));
  EXPECT_GT(result.stats.in_contact, 0U);
  EXPECT_EQ(result.wrench, every.wrench);
}

TEST(LevelOfDetail, CalibrationGivesABudgetWithRoomBelowIt) {
  const Scene scene;
  const WorkBudget budget = calibrate_budget(scene.shell, scene.field, 1000);
  EXPECT_GT(budget.warm, 0U);
  EXPECT_EQ(budget.cold, WorkBudget::of(budget.warm).cold);
  EXPECT_LE(budget.cold, budget.warm);
  EXPECT_THROW(calibrate_budget(scene.shell, scene.field, 0), Error);
}

}  // namespace
}  // namespace cotouch
