// Level-of-detail control: bounded work, whole levels, hysteresis, and what may depend on the cache.
#include "contact/pairs.h"

#include <cotouch/base/error.h>
#include <cotouch/contact/cost.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace cotouch::this_file {
namespace {

using namespace contact_test;

struct Scene {
  Shell shell = ball_shell(0.03, 2048, 5);
  Field field = box_field({0.05, 0.04, 0.02}, 40);
};

// The ball's lowest point `depth` below the box's upper face.
BodyState pressed(double depth) {
  return {{{0.001, 0.002, 0.02 + 0.03 - depth}, {}}};
}

std::uint32_t nodes_at(const Scene& scene, const BodyState& state) {
  return Evaluator(scene.shell, scene.field).at(state, {}).stats.visited;
}

// A walk that stays about the box, with jumps.
struct Walk {
  Random random;
  BodyState state = pressed(0.002);
  int cycle = 0;
  const BodyState& next() {
    state.pose = ++cycle % 50 == 0 ? random_pose(random, 0.06)
                                   : moved(state.pose, {random.direction() * 0.001, random.direction() * 0.02});
    return state;
  }
};

TEST(LevelOfDetail, VisitsNeverMoreThanTheBudgetAndAlwaysWholeLevels) {
  const Scene scene;
  const std::uint32_t roots = scene.shell.points_to_level(0);
  for (const Detail::Rule rule : {Detail::Rule::by_state, Detail::Rule::by_work}) {
    Evaluator engine(scene.shell, scene.field), oracle(scene.shell, scene.field);
    CoherenceCache cache;
    std::array<int, 5> seen{};
    Walk walk{Random(21)};
    Random random(22);
    std::uint32_t level = 0;
    WorkBudget budget;
    for (int cycle = 0; cycle < 600; ++cycle) {
      if (cycle % 5 == 0) budget = WorkBudget::of(static_cast<std::uint32_t>(random.below(1500)));
      const BodyState& state = walk.next();
      engine.at(state, {}, {rule, level, budget}, &cache);
      const ContactStats& stats = engine.contact.stats;
      EXPECT_LE(stats.visited, std::max(budget.warm, roots));
      // Whatever level was reached, it was rendered as a whole.
      EXPECT_TRUE(same_bits(engine.contact, oracle.everywhere(state, {}, stats.level)));
      level = stats.level;
      ++seen[level];
    }
    for (const int times : seen) EXPECT_GT(times, 0);
  }
}

TEST(LevelOfDetail, ByStateDoesNotDependOnAnyCache) {
  const Scene scene;
  Evaluator engine(scene.shell, scene.field);
  CoherenceCache warm, fresh;
  Walk walk{Random(23)};
  std::uint32_t level = 0;
  for (int cycle = 0; cycle < 300; ++cycle) {
    const BodyState& state = walk.next();
    const Detail detail = Detail::by_state(WorkBudget::of(200 + 10 * static_cast<std::uint32_t>(cycle % 40)), level);
    engine.at(state, {}, Detail::everything(), &warm);  // knows all there is to know
    fresh.clear();
    const PairContact with = engine.at(state, {}, detail, &warm), cold = engine.at(state, {}, detail, &fresh);
    const PairContact without = engine.at(state, {}, detail);
    for (const PairContact& one : {with, cold}) {
      ASSERT_TRUE(same_bits(one, without)) << cycle;
      ASSERT_EQ(one.stats, without.stats) << cycle;
    }
    level = without.stats.level;
  }
}

TEST(LevelOfDetail, ByWorkPutsWhatCoherenceSavesIntoDeeperLevels) {
  const Scene scene;
  const BodyState still = pressed(0.004);
  const std::uint32_t all = nodes_at(scene, still);
  Evaluator engine(scene.shell, scene.field);
  CoherenceCache cache;
  const WorkBudget tight{all - 10, all - 10};
  std::uint32_t level = 0;
  const std::uint32_t alone = engine.at(still, {}, Detail::by_work(tight, level)).stats.level;
  ASSERT_LT(alone, 4U);
  engine.at(still, {}, Detail::everything(), &cache);
  level = 4;
  EXPECT_EQ(engine.at(still, {}, Detail::by_work(tight, level), &cache).stats.level, 4U);
}

TEST(LevelOfDetail, DoesNotPopWhenTheLoadSwingsBetweenColdAndWarm) {
  const Scene scene;
  const BodyState light = pressed(0.001), heavy = pressed(0.006);
  const std::uint32_t few = nodes_at(scene, light), many = nodes_at(scene, heavy);
  ASSERT_LT(few + 10, many);
  const std::uint32_t between = (few + many) / 2;
  Evaluator engine(scene.shell, scene.field);

  for (const Detail::Rule rule : {Detail::Rule::by_state, Detail::Rule::by_work}) {
    const auto changes = [&](const WorkBudget& budget, const BodyState& first) {
      std::uint32_t level = engine.at(first, {}, {rule, 0, budget}).stats.level;
      int count = 0;
      for (int cycle = 0; cycle < 20; ++cycle) {
        const std::uint32_t now = engine.at(cycle % 2 ? light : heavy, {}, {rule, level, budget}).stats.level;
        count += now != level;
        level = now;
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
}

TEST(LevelOfDetail, ALevelRefusedIsTriedAgainOnceThePairHasMoved) {
  const Scene scene;
  const BodyState light = pressed(0.001), heavy = pressed(0.006);
  const std::uint32_t few = nodes_at(scene, light), many = nodes_at(scene, heavy);
  const WorkBudget budget{.warm = (few + many) / 2, .cold = (few + many) / 2};
  Evaluator engine(scene.shell, scene.field);
  CoherenceCache cache;
  std::uint32_t level = 0;
  for (int cycle = 0; cycle < 4; ++cycle)
    level = engine.at(heavy, {}, Detail::by_work(budget, level), &cache).stats.level;
  EXPECT_EQ(level, 3U);
  // Refused, its copies are not even counted any more.
  const ContactStats refused = engine.at(heavy, {}, Detail::by_work(budget, level), &cache).stats;
  EXPECT_LT(refused.visited, engine.at(heavy, {}, Detail::by_work(budget, level)).stats.visited);
  for (int cycle = 0; cycle < 3; ++cycle)
    level = engine.at(light, {}, Detail::by_work(budget, level), &cache).stats.level;
  EXPECT_EQ(level, 4U);
}

// Degraded, most of what was visited is on the deepest level that is rendered; there coherence must help as well.
TEST(LevelOfDetail, ADegradedLevelProfitsFromCoherence) {
  const Scene scene;
  Evaluator with(scene.shell, scene.field), without(scene.shell, scene.field);
  CoherenceCache cache;
  const WorkBudget budget = WorkBudget::of(nodes_at(scene, pressed(0.004)) / 2);
  std::uint32_t level = 0, degraded = 0;
  std::uint64_t visited = 0, visited_without = 0;
  for (int cycle = 0; cycle < 600; ++cycle) {
    const double t = cycle * 1e-3;
    BodyState state = pressed(0.004);
    state.pose = moved(state.pose, {{0.01 * t, 0.004 * t, 0}, {0.05 * t, 0, 0.1 * t}});
    level = with.at(state, {}, Detail::by_work(budget, level), &cache).stats.level;
    degraded += level < 4;
    visited += with.contact.stats.visited;
    visited_without += without.at(state, {}, Detail::by_work(budget, level)).stats.visited;
  }
  EXPECT_EQ(degraded, 600U);
  EXPECT_LT(static_cast<double>(visited), 0.64 * static_cast<double>(visited_without));  // the paper saves 36 %
}

TEST(LevelOfDetail, TheTopLevelIsRenderedEvenWithoutABudget) {
  const Scene scene;
  for (const Detail::Rule rule : {Detail::Rule::by_state, Detail::Rule::by_work}) {
    Evaluator engine(scene.shell, scene.field), every(scene.shell, scene.field);
    engine.at(pressed(0.02), {}, {rule, 4, {.warm = 0, .cold = 0}});
    EXPECT_EQ(engine.contact.stats.level, 0U);
    EXPECT_EQ(engine.contact.stats.visited, scene.shell.points_to_level(0));
    EXPECT_GT(engine.contact.stats.in_contact, 0U);
    EXPECT_TRUE(same_bits(engine.contact, every.everywhere(pressed(0.02), {}, 0)));
  }
}

TEST(LevelOfDetail, CalibrationGivesABudgetWithRoomBelowIt) {
  const Scene scene;
  const WorkBudget budget = calibrate_budget(NestedContact(scene.shell, scene.field, {}), 1000);
  EXPECT_GT(budget.warm, 0U);
  EXPECT_EQ(budget.cold, WorkBudget::of(budget.warm).cold);
  EXPECT_LT(budget.cold, budget.warm);
  // Ten times the time, more nodes; a busy machine may halve what it measures, not more.
  EXPECT_GT(calibrate_budget(NestedContact(scene.shell, scene.field, {}), 10000).warm, 2 * budget.warm);
  EXPECT_THROW(calibrate_budget(NestedContact(scene.shell, scene.field, {}), 0), Error);
}

// Others have the processor of this thread for most of the time: it runs for 0.3 ms, and then stands still for 1.5 ms.
class BusyMachine {
 public:
  BusyMachine() {
    std::signal(SIGALRM, stand);
    run();
  }
  ~BusyMachine() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    std::signal(SIGALRM, SIG_IGN);
  }
  BusyMachine(const BusyMachine&) = delete;
  BusyMachine& operator=(const BusyMachine&) = delete;

 private:
  static void run() {
    const itimerval soon{{0, 0}, {0, 300}};
    setitimer(ITIMER_REAL, &soon, nullptr);
  }
  static void stand(int) {
    usleep(1500);
    run();
  }
};

TEST(LevelOfDetailSlow, CalibrationOnABusyMachineGivesTheSameBudget) {
  const Shell shell = ball_shell(0.03, 16384, 5);
  const Field field = box_field({0.05, 0.04, 0.02}, 40);
  const NestedContact engine(shell, field, {});
  const WorkBudget quiet = calibrate_budget(engine, 1000);
  const BusyMachine machine;
  EXPECT_GT(2 * calibrate_budget(engine, 1000).warm, quiet.warm);  // other caches and clock rates take something
}

}  // namespace
}  // namespace cotouch::this_file
