// The tree against visiting every point, and temporal coherence against none.
#include "contact/pairs.h"

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

using namespace contact_test;

TEST(NestedContact, TreeEqualsVisitingEveryPointBitForBitAtEveryLevel) {
  Random random(11);
  for (const PartPair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    Evaluator tree(pair.shell, pair.field), every(pair.shell, pair.field);
    std::size_t touching = 0, culled = 0;
    for (std::uint32_t level = 0; level < pair.shell.levels(); ++level)
      for (int i = 0; i < 60; ++i) {
        // From deep inside through shallow to outside the field's box and far beyond it.
        const BodyState field{random_pose(random, 1), i % 3 == 0 ? 0.0005 * i / 60 : 0};
        const BodyState shell{field.pose * random_pose(random, i % 10 == 9 ? 10.0 : 0.09)};
        tree.at(shell, field, Detail::at(level));
        every.everywhere(shell, field, level);
        EXPECT_TRUE(same_bits(tree.contact, every.contact));
        EXPECT_TRUE(same_points(tree.scratch.touching(), every.scratch.touching()));
        EXPECT_EQ(tree.contact.stats.level, level);
        touching += tree.contact.stats.in_contact > 0;
        culled += tree.contact.stats.visited < every.contact.stats.visited / 2;
      }
    EXPECT_GT(touching, 10U);
    EXPECT_TRUE(culled > 10 || pair.shell.levels() == 1);
  }
}

// Four caches that could not differ more, and none: at a given level they all give the same bits.
TEST(NestedContact, NoStateOfTheCacheChangesABit) {
  Random random(12);
  for (const PartPair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    Evaluator with(pair.shell, pair.field), without(pair.shell, pair.field);
    CoherenceCache warm, tiny(5), cleared;
    std::uint64_t without_the_tree = 0, touching = 0;
    Pose field = random_pose(random, 0.1);
    Pose relative = random_pose(random, 0.06);
    double clearance = 0;
    for (int cycle = 0; cycle < 1200; ++cycle) {
      // Steps from nothing at all to several cells, drawn towards the field so that contact stays frequent.
      const double step = cycle % 7 == 0 ? 0 : random.uniform() * random.uniform() * 0.002;
      Vec6 motion{random.direction() * step, random.direction() * (step * 20)};
      motion.linear -= relative.position * 0.02;
      relative = moved(relative, motion);
      if (cycle % 100 == 99) relative = random_pose(random, cycle % 200 == 199 ? 0.5 : 0.06);
      if (cycle % 3 == 0) field = moved(field, {random.direction() * 0.001, random.direction() * 0.05});
      if (cycle % 150 == 0) clearance = random.below(2) ? 0 : random.uniform(0, 0.002);
      const auto level = static_cast<std::uint32_t>(random.below(20));  // mostly the deepest
      if (random.below(40) == 0) cleared.clear();
      const BodyState shell{field * relative}, other{field, clearance};
      without.at(shell, other, Detail::at(level));
      CoherenceCache fresh(64);
      for (CoherenceCache* cache : {&warm, &tiny, &cleared, &fresh}) {
        with.at(shell, other, Detail::at(level), cache);
        ASSERT_TRUE(same_bits(with.contact, without.contact)) << "cycle " << cycle;
        ASSERT_TRUE(same_points(with.scratch.touching(), without.scratch.touching()));
        const bool fewer = with.contact.stats.visited < without.contact.stats.visited;
        without_the_tree += cache == &warm && fewer ? 1U : 0U;
      }
      touching += without.contact.stats.in_contact > 0;
    }
    EXPECT_GT(without_the_tree, 100U);
    EXPECT_GT(touching, 100U);
  }
}

TEST(NestedContact, CoherenceSurvivesLongWays) {
  const PartPair& pair = pairs()[0];
  Evaluator with(pair.shell, pair.field), without(pair.shell, pair.field);
  CoherenceCache cache;
  const double far = 1e7 * static_cast<double>(pair.field.spacing());
  for (int cycle = 0; cycle < 60; ++cycle) {
    const double x = cycle % 10 == 9 ? far : 1e-4 * (cycle / 2);
    const BodyState shell{{{x, 0, 0.045}, {}}};
    with.at(shell, {}, {}, &cache);
    without.at(shell, BodyState{});
    EXPECT_TRUE(same_bits(with.contact, without.contact));
    EXPECT_EQ(with.contact.stats.in_contact > 0, x < far);
  }
}

TEST(NestedContact, AFreePairIsNotWalkedUntilItMovedByItsGap) {
  const PartPair& pair = pairs()[0];
  Evaluator engine(pair.shell, pair.field);
  CoherenceCache cache;
  const BodyState shell{{{0, 0, 0.2}, {}}};
  const ContactStats first = engine.at(shell, {}, {}, &cache).stats;
  const ContactStats second = engine.at(shell, {}, {}, &cache).stats;
  EXPECT_GT(first.visited, 0U);
  EXPECT_EQ(second.visited, 0U);
  // The ball (radius 30 mm) is 150 mm above the box. The field knows that but for a few cells.
  const auto visited_at = [&](double z) { return engine.at({{{0, 0, z}, {}}}, {}, {}, &cache).stats.visited; };
  EXPECT_EQ(visited_at(0.1), 0U);
  EXPECT_EQ(visited_at(0.29), 0U);
  EXPECT_GT(visited_at(0.045), 0U);
  EXPECT_GT(engine.contact.stats.in_contact, 0U);
  cache.clear();
  EXPECT_EQ(engine.at(shell, {}, {}, &cache).stats.visited, first.visited);
}

// Slow motion in contact, where the tree is walked only now and then: no point comes into contact unseen.
TEST(NestedContact, SkippingTheWalkFindsTheSameContacts) {
  Random random(14);
  for (const PartPair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    Evaluator with(pair.shell, pair.field), without(pair.shell, pair.field);
    CoherenceCache cache;
    const double cell = static_cast<double>(pair.field.spacing());
    int touching = 0, changes = 0, walks = 0, cycles = 0;
    for (int start = 0; start < 20; ++start) {
      Pose relative = random_pose(random, 0.06);
      Vec6 motion{random.direction() * (0.03 * cell), random.direction() * (0.03 * cell / with.engine.extent().radius)};
      std::uint32_t last = 0;
      for (int cycle = 0; cycle < 100; ++cycle, ++cycles) {
        if (cycle % 30 == 29) motion = {-motion.linear, -motion.angular};
        relative = moved(relative, motion);
        with.at({relative}, {}, {}, &cache);
        without.at({relative}, BodyState{});
        ASSERT_TRUE(same_bits(with.contact, without.contact)) << "start " << start << ", cycle " << cycle;
        ASSERT_TRUE(same_points(with.scratch.touching(), without.scratch.touching()));
        const ContactStats& stats = with.contact.stats;
        touching += stats.in_contact > 0;
        changes += stats.in_contact != last;
        walks += stats.visited >= without.contact.stats.visited;
        last = stats.in_contact;
      }
    }
    EXPECT_GT(touching, cycles / 10);
    EXPECT_GT(changes, cycles / 20);
    EXPECT_LT(walks, cycles / 2);
  }
}

TEST(NestedContact, AShellThatHasLeftTheOtherPartIsCheapAgain) {
  Evaluator engine(ball_shell(0.01, 1000, 4), box_field({0.05, 0.05, 0.05}, 40));
  CoherenceCache cache;
  const auto visited_at = [&](double z) { return engine.at({{{0, 0, z}, {}}}, {}, {}, &cache).stats.visited; };
  EXPECT_GE(visited_at(0), 1000U);
  EXPECT_EQ(engine.contact.stats.in_contact, 1000U);
  EXPECT_LT(visited_at(0.059), 500U);
  EXPECT_GT(engine.contact.stats.in_contact, 0U);
  EXPECT_LT(visited_at(0.2), 100U);
}

// A hand that trembles in one place: what the cache knows is not used up.
TEST(NestedContact, TremblingInOnePlaceKeepsSavingWork) {
  const PartPair& pair = pairs()[0];
  Evaluator with(pair.shell, pair.field), without(pair.shell, pair.field);
  CoherenceCache cache;
  Random random(13);
  std::uint64_t visited = 0, visited_without = 0;
  for (int cycle = 0; cycle < 3000; ++cycle) {
    const BodyState shell{moved({{0, 0, 0.048}, {}}, {random.direction() * 1e-4, random.direction() * 1e-3})};
    if (cycle >= 2000) {
      visited += with.at(shell, {}, {}, &cache).stats.visited;
      visited_without += without.at(shell, BodyState{}).stats.visited;
    } else {
      with.at(shell, {}, {}, &cache);
    }
  }
  EXPECT_LT(visited, visited_without / 2);
}

TEST(NestedContact, CountsEveryPointOnceAndInOrder) {
  const PartPair& pair = pairs()[0];
  Evaluator engine(pair.shell, pair.field);
  engine.at(Pose{{0.01, 0, 0.02}, {}});
  const auto contacts = engine.scratch.touching();
  ASSERT_GT(contacts.size(), 100U);
  EXPECT_EQ(contacts.size(), engine.contact.stats.in_contact);
  // Copies of points of the upper levels are among the visited nodes, yet no point appears twice.
  EXPECT_TRUE(std::is_sorted(contacts.begin(), contacts.end(),
                             [](const ContactPoint& a, const ContactPoint& b) { return a.point <= b.point; }));
  std::vector<std::uint32_t> looked_up(engine.scratch.looked_up().begin(), engine.scratch.looked_up().end());
  EXPECT_LT(looked_up.size(), engine.contact.stats.visited);
  std::sort(looked_up.begin(), looked_up.end());
  EXPECT_EQ(std::adjacent_find(looked_up.begin(), looked_up.end()), looked_up.end());
}

TEST(NestedContact, PosesThatAreNotNumbersOrTooFarGiveNoContact) {
  const PartPair& pair = pairs()[0];
  Evaluator engine(pair.shell, pair.field);
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Pose good{{0, 0, 0.045}, {}};
  const PairContact expected = engine.at(good);
  ASSERT_GT(expected.stats.in_contact, 0U);
  CoherenceCache cache;
  for (const Pose& bad : {Pose{{nan, 0, 0}, {}}, Pose{{0, inf, 0}, {}}, Pose{{0, 0, 1e300}, {}}, Pose{{0, 0, 1e12}, {}},
                          Pose{{0, 0, 0}, {nan, 0, 0, 0}}, Pose{{0, 0, 0}, {inf, 0, 0, 1}}})
    for (const bool shell_is_bad : {true, false}) {
      engine.at(BodyState{shell_is_bad ? bad : good}, BodyState{shell_is_bad ? good : bad}, {}, &cache);
      EXPECT_EQ(engine.contact.on_shell.wrench, Wrench{});
      EXPECT_EQ(engine.contact.stats, ContactStats{});
      EXPECT_TRUE(engine.scratch.touching().empty());
      EXPECT_TRUE(same_bits(engine.at(BodyState{good}, {}, {}, &cache), expected));
    }
}

// From random places, moved by less than the gap in random directions: nothing touches. Where every point may be looked
// at, the bound is no worse than that of the worst point.
TEST(NestedContact, NothingTouchesWithinTheGap) {
  Random random(71);
  int apart = 0;
  for (const PartPair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    const NestedContact engine(pair.shell, pair.field, {});
    NestedWorkspace scratch;
    scratch.reserve(pair.shell.point_count());
    PairContact contact;
    for (int trial = 0; trial < 40; ++trial) {
      const Pose pose{random.vector(0, 0.12), quat_from_rotation_vector(random.vector(0, 3))};
      const double clearance = trial % 4 == 0 ? 0.001 : 0;
      const double glance = engine.gap({{pose, clearance}, {}}, 1, 16, scratch);
      const double close = engine.gap({{pose, clearance}, {}}, 1, 100000, scratch);
      EXPECT_LE(glance, close);
      EXPECT_LE(engine.gap({{pose, clearance}, {}}, 0.002, 100000, scratch), 0.002);
      engine.evaluate({{pose, clearance}, {}}, Detail::everything(), scratch, nullptr, contact);
      if (contact.stats.in_contact > 0) {
        EXPECT_EQ(close, 0);
        continue;
      }
      if (close <= 0) continue;
      ++apart;
      const float limit = std::min(static_cast<float>(clearance), pair.field.largest_clearance());
      double least = 1;
      for (const Vec3f& p : pair.shell.data().positions) {
        const float distance = pair.field.distance(Vec3f(transform(pose, Vec3d(p)))) - limit;
        least = std::min(least, static_cast<double>(pair.field.free_radius_above(limit)(distance)));
      }
      EXPECT_GE(close, least - 2e-6);
      for (int way = 0; way < 10; ++way) {
        const Pose moved_pose{pose.position + random.direction() * (close * 0.999), pose.rotation};
        engine.evaluate({{moved_pose, clearance}, {}}, Detail::everything(), scratch, nullptr, contact);
        EXPECT_EQ(contact.stats.in_contact, 0U);
      }
    }
  }
  EXPECT_GT(apart, 60);
}

TEST(NestedContact, RotationsNeedNotBeNormalised) {
  const PartPair& pair = pairs()[0];
  Evaluator engine(pair.shell, pair.field);
  const PairContact a = engine.at(Pose{{0, 0, 0.045}, {}});
  EXPECT_TRUE(same_bits(engine.at(Pose{{0, 0, 0.045}, {2, 0, 0, 0}}, {{}, {0.5, 0, 0, 0}}), a));
}

TEST(NestedContact, RefusesSettingsThatMakeNoSense) {
  const PartPair& pair = pairs()[0];
  const auto make = [&](const ContactSettings& settings) { NestedContact(pair.shell, pair.field, settings); };
  EXPECT_THROW(make({.stiffness = 0}), Error);
  EXPECT_THROW(make({.stiffness = std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW(NestedContact(Shell{}, pair.field, {}), Error);
  EXPECT_THROW(NestedContact(pair.shell, Field{}, {}), Error);
}

TEST(NestedContact, NeitherAllocatesNorLocksWhileEvaluating) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  const PartPair& pair = pairs()[0];
  Evaluator engine(pair.shell, pair.field);
  CoherenceCache cache;
  Random random(5);
  const std::uint64_t before = RealtimeSection::breaches();
  {
    const RealtimeSection section;
    for (int i = 0; i < 200; ++i) {
      if (i == 150) cache.clear();
      const BodyState shell{random_pose(random, 0.06)};
      engine.at(shell, {}, i % 2 ? Detail::by_work(WorkBudget::of(300), 2) : Detail::everything(), &cache);
    }
  }
  EXPECT_EQ(RealtimeSection::breaches(), before);
  {
    const RealtimeSection section;
    ::operator delete(::operator new(1));  // the guard itself works
  }
  EXPECT_GT(RealtimeSection::breaches(), before);
}

}  // namespace
}  // namespace cotouch::this_file
