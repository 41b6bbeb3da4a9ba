// What every contact engine must do, whichever it is: docs/engines.md sends the writers of new ones here.
#include "contact/pairs.h"

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/contact/cold_caches.h>
#include <cotouch/contact/cost.h>
#include <cotouch/contact/workspaces.h>

#include <limits>

namespace cotouch::this_file {
namespace {

using namespace contact_test;

Part part_of(const PartPair& pair) {
  Part part;
  part.name = pair.name;
  part.shell = pair.shell;
  part.field = pair.field;
  return part;
}

// One pair with all that its evaluation needs.
struct Trial {
  std::shared_ptr<const ContactEngine> engine;
  std::unique_ptr<ContactWorkspace> workspace;
  std::unique_ptr<ContactCache> cache;
  PairContact contact;

  Trial(const EngineKind& kind, const Part& part, const ContactSettings& settings = {})
      : engine(kind.make(part, part, settings)), workspace(engine->make_workspace()), cache(engine->make_cache()) {}
  const PairContact& at(const PairState& state, const Detail& detail, bool cached = false) {
    engine->evaluate(state, detail, *workspace, cached ? cache.get() : nullptr, contact);
    return contact;
  }
  std::vector<TouchingPoint> touching(const PairState& state) const {
    std::vector<TouchingPoint> points(contact.stats.in_contact);
    engine->touching(state, *workspace, contact, points);
    return points;
  }
};

class EngineTest : public testing::TestWithParam<const EngineKind*> {};

std::string name_of(const testing::TestParamInfo<const EngineKind*>& info) {
  return std::string(info.param->name());
}
INSTANTIATE_TEST_SUITE_P(Every, EngineTest, testing::ValuesIn(engine_kinds().begin(), engine_kinds().end()), name_of);

PairState random_state(Random& random, double farthest = 0.02) {
  return {{random_pose(random, farthest), 0.001 * random.uniform()}, {random_pose(random, farthest)}};
}

TEST_P(EngineTest, AnswersWithTheSameBitsWithAndWithoutACache) {
  Random random(11);
  int touching = 0;
  for (const PartPair& pair : pairs()) {
    const Part part = part_of(pair);
    Trial with(*GetParam(), part), without(*GetParam(), part);
    PairState state = random_state(random);
    for (int i = 0; i < 60; ++i) {
      state.shell.pose.position += random.vector(0, i % 10 == 0 ? 0.01 : 1e-4);
      if (i == 40 && with.cache) with.cache->clear();
      ASSERT_TRUE(same_bits(with.at(state, Detail::everything(), true), without.at(state, Detail::everything())));
      touching += with.contact.stats.in_contact > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(touching, 100);
}

// Within a budget the cache may make levels cheaper, and so deeper, but what is found on them is the same.
TEST_P(EngineTest, FindsTheSameWithinABudgetWithAndWithoutACache) {
  Random random(20);
  int touching = 0, coarser = 0;
  for (const PartPair& pair : pairs()) {
    const Part part = part_of(pair);
    Trial with(*GetParam(), part), without(*GetParam(), part);
    PairState state = random_state(random);
    std::uint32_t by_state = 0, by_work = 0;
    for (int i = 0; i < 60; ++i) {
      state.shell.pose.position += random.vector(0, i % 10 == 0 ? 0.01 : 1e-4);
      const std::uint32_t all = without.at(state, Detail::everything()).stats.visited;
      const WorkBudget budget = WorkBudget::of(std::max(without.at(state, Detail::at(0)).stats.visited, all / 2));
      const Detail of_state = Detail::by_state(budget, by_state);
      ASSERT_TRUE(same_bits(with.at(state, of_state, true), without.at(state, of_state))) << pair.name << ' ' << i;
      by_state = with.contact.stats.level;
      by_work = with.at(state, Detail::by_work(budget, by_work), true).stats.level;
      ASSERT_TRUE(same_bits(with.contact, without.at(state, Detail::at(by_work)))) << pair.name << ' ' << i;
      touching += with.contact.stats.in_contact > 0 ? 1 : 0;
      coarser += by_work + 1 < with.engine->levels() ? 1 : 0;
    }
  }
  EXPECT_GT(touching, 100);
  EXPECT_GT(coarser, 20);
}

// The work that a look at every point takes is what no engine may need more of to find the same.
TEST_P(EngineTest, AgreesWithTestingEveryPointToTheLastBit) {
  Random random(12);
  int touching = 0;
  for (const PartPair& pair : pairs()) {
    const Part part = part_of(pair);
    Trial trial(*GetParam(), part), every(engine_kind("exhaustive"), part);
    for (int i = 0; i < 40; ++i) {
      const PairState state = random_state(random);
      for (std::uint32_t level = 0; level < trial.engine->levels(); ++level) {
        ASSERT_TRUE(same_bits(trial.at(state, Detail::at(level)), every.at(state, Detail::at(level)))) << pair.name;
        touching += trial.contact.stats.in_contact > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(touching, 100);
}

TEST_P(EngineTest, PointsThatTouchAddUpToTheWrench) {
  Random random(13);
  int touching = 0;
  for (const PartPair& pair : pairs()) {
    Trial trial(*GetParam(), part_of(pair));
    for (int i = 0; i < 40; ++i) {
      const PairState state = random_state(random);
      const Wrench wrench = trial.at(state, Detail::everything()).on_shell.wrench;
      Wrench sum;
      double deepest = 0;
      for (const TouchingPoint& point : trial.touching(state)) {
        sum.force += point.force;
        sum.torque += cross(point.at - state.shell.pose.position, point.force);
        deepest = std::max(deepest, point.depth);
      }
      // Each point's place is a float of its part's size: 3e-9 m of lever arm, and sums of a thousand terms.
      const double size = norm(wrench.force);
      EXPECT_LE(norm(sum.force - wrench.force), 1e-9 * size + 1e-12);
      EXPECT_LE(norm(sum.torque - wrench.torque), 1e-8 * size + 1e-12);
      EXPECT_EQ(static_cast<float>(deepest), trial.contact.stats.deepest);
      touching += size > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(touching, 50);
}

TEST_P(EngineTest, NothingTouchesWhileTheTwoMoveByLessThanTheGap) {
  Random random(14);
  int apart = 0;
  for (const PartPair& pair : pairs()) {
    Trial trial(*GetParam(), part_of(pair));
    for (int i = 0; i < 40; ++i) {
      const PairState state = random_state(random, 0.08);
      const double gap = trial.engine->gap(state, 1, 100000, *trial.workspace);
      EXPECT_LE(trial.engine->gap(state, 0.002, 100000, *trial.workspace), 0.002);
      if (trial.at(state, Detail::everything()).stats.in_contact > 0) {
        EXPECT_EQ(gap, 0);
      }
      if (gap <= 0) continue;
      ++apart;
      for (int way = 0; way < 10; ++way) {
        PairState moved = state;
        moved.shell.pose.position += random.direction() * (gap * 0.999);
        EXPECT_EQ(trial.at(moved, Detail::everything()).stats.in_contact, 0U) << pair.name;
      }
    }
  }
  EXPECT_GT(apart, 60);
}

TEST_P(EngineTest, KeepsWithinABudgetOfItsOwnUnits) {
  Random random(15);
  int coarser = 0;
  for (const PartPair& pair : pairs()) {
    Trial trial(*GetParam(), part_of(pair));
    for (int i = 0; i < 40; ++i) {
      const PairState state = random_state(random);
      const std::uint32_t all = trial.at(state, Detail::everything()).stats.visited;
      const std::uint32_t least = trial.at(state, Detail::at(0)).stats.visited;
      const WorkBudget budget = WorkBudget::of(std::max(least, all / 2));
      for (const std::uint32_t last : {0U, ~0U})
        for (const bool cached : {false, true}) {
          EXPECT_LE(trial.at(state, Detail::by_state(budget, last), cached).stats.visited, budget.warm);
          EXPECT_LE(trial.at(state, Detail::by_work(budget, last), cached).stats.visited, budget.warm);
        }
      coarser += trial.contact.stats.level + 1 < trial.engine->levels() ? 1 : 0;
    }
  }
  EXPECT_GT(coarser, 100);
}

// As deep as there is if nothing limits it, and a level for which there is surely room: twice what it takes alone,
// because to see whether a deeper one fits may cost as much again.
TEST_P(EngineTest, UsesTheBudgetThatItHas) {
  Random random(21);
  for (const PartPair& pair : pairs()) {
    Trial trial(*GetParam(), part_of(pair));
    const std::uint32_t deepest = trial.engine->levels() - 1;
    for (int i = 0; i < 20; ++i) {
      const PairState state = random_state(random);
      const auto level_of = [&](const Detail& detail) { return trial.at(state, detail).stats.level; };
      for (const std::uint32_t last : {0U, ~0U}) {
        EXPECT_EQ(level_of(Detail::by_state(WorkBudget::unlimited(), last)), deepest) << pair.name;
        EXPECT_EQ(level_of(Detail::by_work(WorkBudget::unlimited(), last)), deepest) << pair.name;
        for (std::uint32_t level = 0; level <= deepest; ++level) {
          const std::uint32_t ample = 2 * trial.at(state, Detail::at(level)).stats.visited + 1;
          EXPECT_GE(level_of(Detail::by_state({ample, ample}, last)), level) << pair.name;
          EXPECT_GE(level_of(Detail::by_work({ample, ample}, last)), level) << pair.name;
        }
      }
    }
  }
}

// The force is the derivative of V = k/2 S^(1/4), by central differences.
TEST_P(EngineTest, TheForceIsThatOfAPotential) {
  Random random(19);
  int compared = 0;
  constexpr double k_step = 1e-6;  // metres: a thousandth of a cell, and a hundred times the rounding of a place
  for (const PartPair& pair : pairs()) {
    Trial trial(*GetParam(), part_of(pair));
    for (int i = 0; i < 40; ++i) {
      const PairState state = random_state(random);
      const Vec3d way = random.direction();
      const auto potential_at = [&](double moved) {
        PairState there = state;
        there.shell.pose.position += way * moved;
        trial.at(there, Detail::everything());
        return trial.engine->settings().stiffness / 2 * std::sqrt(std::sqrt(trial.contact.sums.depth8));
      };
      const double force = dot(trial.at(state, Detail::everything()).on_shell.wrench.force, way);
      const double deepest = static_cast<double>(trial.contact.stats.deepest);
      if (deepest < 1e-4) continue;  // where rounding is a thousandth of the depth
      const double slope = -(potential_at(k_step) - potential_at(-k_step)) / (2 * k_step);
      // Cells meet in corners, so that some points change their slope within the step.
      EXPECT_NEAR(force, slope, 0.02 * norm(trial.at(state, Detail::everything()).on_shell.wrench.force) + 1e-3);
      ++compared;
    }
  }
  EXPECT_GT(compared, 50);
}

TEST_P(EngineTest, IsNoStifferThanItSays) {
  Random random(16);
  int touching = 0;
  for (const PartPair& pair : pairs()) {
    Trial trial(*GetParam(), part_of(pair));
    for (int i = 0; i < 40; ++i) {
      const PairState state = random_state(random);
      const Mat6& stiffness = trial.at(state, Detail::everything()).on_shell.stiffness;
      const Vec3d way = random.direction();
      EXPECT_LE(dot(way, stiffness.force_linear * way), trial.engine->largest_stiffness());
      touching += trial.contact.stats.in_contact > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(touching, 50);
}

TEST_P(EngineTest, PosesThatAreNotNumbersGiveNoContact) {
  Trial trial(*GetParam(), part_of(pairs().front()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Vec3d& position :
       {Vec3d{nan, 0, 0}, Vec3d{0, std::numeric_limits<double>::infinity(), 0}, Vec3d{1e30, 0, 0}}) {
    EXPECT_EQ(trial.at({{Pose{position, {}}}, {}}, Detail::everything()).stats.in_contact, 0U);
    EXPECT_EQ(trial.contact.on_shell.wrench, Wrench{});
    EXPECT_EQ(trial.engine->gap({{Pose{position, {}}}, {}}, 0.5, 100, *trial.workspace), 0.5);
  }
}

TEST_P(EngineTest, WithOtherSettingsItIsTheSamePair) {
  const Part part = part_of(pairs().front());
  Trial trial(*GetParam(), part);
  const std::shared_ptr<const ContactEngine> other = trial.engine->with({.stiffness = 1000});
  EXPECT_EQ(&other->kind(), GetParam());
  EXPECT_EQ(other->settings().stiffness, 1000);
  EXPECT_TRUE(other->has_data_of(*trial.engine));
  EXPECT_FALSE(Trial(*GetParam(), part_of(pairs()[1])).engine->has_data_of(*trial.engine));
  const PairState state{{Pose{{0, 0, 0.045}, {}}}, {}};
  const double before = trial.at(state, Detail::everything()).on_shell.wrench.force.z;
  ASSERT_GT(before, 0);
  other->evaluate(state, Detail::everything(), *trial.workspace, nullptr, trial.contact);
  EXPECT_NEAR(trial.contact.on_shell.wrench.force.z, before / 30, 1e-9 * before);
}

TEST_P(EngineTest, SaysWhatAPartLacksAndIsNotMadeWithoutIt) {
  const Part whole = part_of(pairs().front());
  EXPECT_EQ(GetParam()->missing_as_shell(whole), "");
  EXPECT_EQ(GetParam()->missing_as_field(whole), "");
  EXPECT_NE(GetParam()->missing_as_shell(Part{}), "");
  EXPECT_NE(GetParam()->missing_as_field(Part{}), "");
  EXPECT_THROW(GetParam()->make(Part{}, whole, {}), Error);
  EXPECT_THROW(GetParam()->make(whole, Part{}, {}), Error);
  for (const double stiffness : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_THROW(GetParam()->make(whole, whole, {stiffness}), Error);
}

TEST_P(EngineTest, ItsUnitsCostTimeOnThisMachine) {
  Trial trial(*GetParam(), part_of(pairs().front()));
  // Where there is most to do, so that what an evaluation costs besides does not count.
  Random random(22);
  PairState busiest;
  std::uint32_t most = 0;
  for (int i = 0; i < 100; ++i) {
    const PairState state = random_state(random);
    const std::uint32_t visited = trial.at(state, Detail::everything()).stats.visited;
    if (visited <= most) continue;
    most = visited;
    busiest = state;
  }
  // The least of several, because somebody else may have had the processor meanwhile.
  constexpr int k_repeats = 5;
  ColdCaches caches;
  double cost = 1e9, measured = 1e9;
  for (int i = 0; i < k_repeats; ++i) {
    caches.chill();
    const std::int64_t start = processor_ns();
    trial.at(busiest, Detail::everything());
    measured = std::min(measured, static_cast<double>(processor_ns() - start));
  }
  for (int i = 0; i < 2; ++i) cost = std::min(cost, cost_of_a_unit(*trial.engine));
  EXPECT_GT(caches.sum(), 0U);
  ASSERT_GT(measured, 0);
  EXPECT_GT(cost * most, measured / 10) << most << " units";
  EXPECT_LT(cost * most, measured * 10) << most << " units";
  EXPECT_THROW(calibrate_budget(*trial.engine, 0), Error);
}

TEST_P(EngineTest, HasRoomForTheLargestOfSeveralPairs) {
  Workspaces workspaces;
  std::vector<Trial> trials;
  for (const PartPair& pair : pairs()) trials.emplace_back(*GetParam(), part_of(pair));
  for (const Trial& trial : trials) workspaces.reserve(*trial.engine);
  Random random(17);
  for (Trial& trial : trials) {
    const PairState state = random_state(random, 0.005);
    PairContact contact;
    trial.engine->evaluate(state, Detail::everything(), workspaces.of(*trial.engine), nullptr, contact);
    EXPECT_TRUE(same_bits(contact, trial.at(state, Detail::everything())));
  }
}

TEST_P(EngineTest, ClearanceIsTheNearestPointsDistance) {
  Random random(18);
  int apart = 0;
  for (const PartPair& pair : pairs()) {
    Trial trial(*GetParam(), part_of(pair));
    for (int i = 0; i < 20; ++i) {
      const PairState state{{random_pose(random, 0.15)}, {}};
      // A field that far away is only a bound: there this test asks the field again, so all that it judges is the
      // search.
      const auto far_away = [&](const Vec3f& point, float best) { return std::min(best, pair.field.distance(point)); };
      float least = 1;
      for (const Vec3f& point : pair.shell.data().positions)
        least = std::min(least, pair.field.distance(Vec3f(transform(state.shell.pose, Vec3d(point)))));
      EXPECT_NEAR(trial.engine->clearance(state, {1, ~std::size_t{0}, far_away}), least, 0.25F * pair.field.spacing());
      apart += least > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(apart, 50);
}

TEST(Engines, AreFoundByName) {
  for (const EngineKind* kind : engine_kinds()) EXPECT_EQ(&engine_kind(kind->name()), kind);
  try {
    engine_kind("no such thing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'exhaustive'"), std::string::npos) << error.what();
  }
}

TEST(Engines, WithoutATreeOnlyExhaustiveContactIsPossible) {
  const PartPair& pair = pairs().front();
  Part part = part_of(pair);
  ShellData points = pair.shell.data();
  points.nodes = {};
  part.shell = Shell(points, nullptr);
  EXPECT_EQ(engine_kind("nested").missing_as_shell(part), "has a pointshell without a tree");
  EXPECT_THROW(engine_kind("nested").make(part, part, {}), Error);
  Trial without(engine_kind("exhaustive"), part), with(engine_kind("exhaustive"), part_of(pair));
  const PairState state{{Pose{{0, 0, 0.045}, {}}}, {}};
  EXPECT_TRUE(same_bits(without.at(state, Detail::everything()), with.at(state, Detail::everything())));
  EXPECT_GT(without.contact.stats.in_contact, 0U);
}

TEST_P(EngineTest, NeitherAllocatesNorLocksWhileEvaluating) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  Trial trial(*GetParam(), part_of(pairs().front()));
  const PairState state{{Pose{{0, 0, 0.045}, {}}}, {}};
  std::vector<TouchingPoint> points(trial.at(state, Detail::everything()).stats.in_contact);
  const std::uint64_t before = RealtimeSection::breaches();
  {
    const RealtimeSection section;
    for (int i = 0; i < 20; ++i) {
      if (i == 10 && trial.cache) trial.cache->clear();
      trial.at(state, Detail::by_work(WorkBudget::of(300), 2), true);
      trial.at(state, Detail::everything(), true);
      trial.engine->touching(state, *trial.workspace, trial.contact, points);
      trial.engine->gap(state, 1, 1000, *trial.workspace);
    }
  }
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

}  // namespace
}  // namespace cotouch::this_file
