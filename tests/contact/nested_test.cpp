// The tree against visiting every point, and temporal coherence against none.
#include "contact/support.h"

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/shell/build.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace cotouch {
namespace {

using namespace contact_test;

void expect_same_bits(const ContactResult& a, const ContactResult& b) {
  EXPECT_EQ(a.wrench, b.wrench);
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t col = 0; col < 6; ++col) EXPECT_EQ(a.gradient(row, col), b.gradient(row, col));
  EXPECT_EQ(a.stats.in_contact, b.stats.in_contact);
  EXPECT_EQ(a.stats.deepest, b.stats.deepest);
  EXPECT_EQ(a.stats.level, b.stats.level);
}

void expect_same_contacts(std::span<const ContactPoint> a, std::span<const ContactPoint> b) {
  const auto same = [](const ContactPoint& p, const ContactPoint& q) {
    return p.point == q.point && p.distance == q.distance;
  };
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end(), same));
}

struct Pair {
  const char* name;
  Shell shell;
  Field field;
};

// Convex against convex, a hole to sit in, an offset copy of the same shape, a shell with its origin far from its
// points, a shell as the product makes it, and one level only.
const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = [] {
    std::vector<Pair> made;
    made.push_back({"ball on box", ball_shell(0.03, 1500, 4), box_field({0.05, 0.04, 0.02}, 40)});
    made.push_back({"ball in torus", ball_shell(0.025, 1000, 3), torus_field(0.03, 0.01, 48)});
    made.push_back({"ball in ball", ball_shell(0.03, 1200, 4), ball_field(0.0301, 32)});
    made.push_back({"plate on box", patch_shell(0.05, 32, 4), box_field({0.03, 0.03, 0.03}, 24)});
    std::vector<OrientedPoint> away;
    const Shell ball = ball_shell(0.02, 600, 1);
    for (const Vec3f& p : ball.data().positions)
      away.push_back({Vec3d(p) + Vec3d{0.05, 0.01, 0}, normalized(-Vec3d(p))});
    made.push_back({"eccentric ball on box", link_naively(away, 3), box_field({0.04, 0.04, 0.04}, 64)});
    NoProgress progress;
    const Field torus = torus_field(0.03, 0.01, 48);
    made.push_back({"torus in torus", build_shell(torus, {.points = 2000}, progress), torus});
    made.push_back({"one level", ball_shell(0.02, 100, 1), ball_field(0.02, 16)});
    return made;
  }();
  return all;
}

TEST(NestedContact, TreeEqualsVisitingEveryPointBitForBitAtEveryLevel) {
  Random random(11);
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    std::size_t touching = 0, culled = 0;
    for (std::uint32_t level = 0; level < pair.shell.levels(); ++level) {
      NestedContact engine(pair.shell, pair.field, {.coherence = false}, WorkBudget::unlimited(), level);
      for (int i = 0; i < 60; ++i) {
        // From deep inside through shallow to outside the field's box and far beyond it.
        const Pose field = random_pose(random, 1);
        const Pose shell = field * random_pose(random, i % 10 == 9 ? 10.0 : 0.09);
        const Moving moving = i % 2 ? Moving::shell : Moving::field;
        ContactResult tree, every;
        engine.evaluate(shell, field, moving, tree);
        const std::vector<ContactPoint> contacts(engine.contacts().begin(), engine.contacts().end());
        engine.evaluate_exhaustively(shell, field, moving, level, every);
        expect_same_bits(tree, every);
        expect_same_contacts(contacts, engine.contacts());
        touching += tree.stats.in_contact > 0;
        culled += tree.stats.visited < every.stats.visited / 2;
      }
    }
    EXPECT_GT(touching, 10U);
    EXPECT_TRUE(culled > 10 || pair.shell.levels() == 1);
  }
}

TEST(NestedContact, CoherenceChangesNothingAlongRandomMotionsAndJumps) {
  Random random(12);
  for (const Pair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    NestedContact with(pair.shell, pair.field, {.coherence = true});
    NestedContact without(pair.shell, pair.field, {.coherence = false});
    std::uint64_t skipped = 0, visited = 0, visited_without = 0, touching = 0;
    Pose field = random_pose(random, 0.1);
    Pose relative = random_pose(random, 0.06);
    for (int cycle = 0; cycle < 1500; ++cycle) {
      // Steps from nothing at all to several cells, drawn towards the field so that contact stays frequent.
      const double step = cycle % 7 == 0 ? 0 : random.uniform() * random.uniform() * 0.002;
      Vec6 motion{random.direction() * step, random.direction() * (step * 20)};
      motion.linear -= relative.position * 0.02;
      relative = moved(relative, motion);
      if (cycle % 100 == 99) relative = random_pose(random, cycle % 200 == 199 ? 0.5 : 0.06);
      if (cycle % 3 == 0) field = moved(field, {random.direction() * 0.001, random.direction() * 0.05});
      if (cycle == 700) with.reset();
      ContactResult a, b;
      const Pose shell = field * relative;
      with.evaluate(shell, field, Moving::shell, a);
      without.evaluate(shell, field, Moving::shell, b);
      expect_same_bits(a, b);
      expect_same_contacts(with.contacts(), without.contacts());
      ASSERT_FALSE(HasFailure()) << "cycle " << cycle;
      skipped += a.stats.skipped;
      visited += a.stats.visited;
      visited_without += b.stats.visited;
      touching += a.stats.in_contact > 0;
    }
    EXPECT_GT(skipped, 1000U);
    EXPECT_LT(visited, visited_without);
    EXPECT_GT(touching, 100U);
  }
}

TEST(NestedContact, CoherenceSurvivesTheEndOfItsClock) {
  const Pair& pair = pairs()[0];
  NestedContact with(pair.shell, pair.field, {.coherence = true});
  NestedContact without(pair.shell, pair.field, {.coherence = false});
  // Ten million cells away and back: each way is longer than the clock can show, at any of its 256 ticks a cell.
  const double far = 1e7 * static_cast<double>(pair.field.spacing());
  std::uint64_t skipped = 0;
  for (int cycle = 0; cycle < 60; ++cycle) {
    const double x = cycle % 10 == 9 ? far : 1e-4 * cycle;
    ContactResult a, b;
    with.evaluate({{x, 0, 0.045}, {}}, {}, Moving::shell, a);
    without.evaluate({{x, 0, 0.045}, {}}, {}, Moving::shell, b);
    expect_same_bits(a, b);
    expect_same_contacts(with.contacts(), without.contacts());
    EXPECT_EQ(a.stats.in_contact > 0, x < far);
    skipped += a.stats.skipped;
  }
  EXPECT_GT(skipped, 1000U);
}

TEST(NestedContact, AnUnmovedPairIsNotLookedUpTwiceWhereItIsFree) {
  const Pair& pair = pairs()[0];
  NestedContact engine(pair.shell, pair.field, {});
  ContactResult first, second;
  engine.evaluate({{0, 0, 0.2}, {}}, {}, Moving::shell, first);
  engine.evaluate({{0, 0, 0.2}, {}}, {}, Moving::shell, second);
  EXPECT_GT(first.stats.visited, 0U);
  EXPECT_EQ(second.stats.visited, 0U);
  EXPECT_EQ(second.stats.skipped, first.stats.visited);
  engine.reset();
  engine.evaluate({{0, 0, 0.2}, {}}, {}, Moving::shell, second);
  EXPECT_EQ(second.stats.visited, first.stats.visited);
}

TEST(NestedContact, CountsEveryPointOnceAndInOrder) {
  const Pair& pair = pairs()[0];
  NestedContact engine(pair.shell, pair.field, {.coherence = false});
  ContactResult result;
  engine.evaluate({{0.01, 0, 0.02}, {}}, {}, Moving::shell, result);
  const auto contacts = engine.contacts();
  ASSERT_GT(contacts.size(), 100U);
  // Copies of points of the upper levels are among the visited nodes, yet no point appears twice.
  EXPECT_TRUE(std::is_sorted(contacts.begin(), contacts.end(),
                             [](const ContactPoint& a, const ContactPoint& b) { return a.point <= b.point; }));
  std::vector<std::uint32_t> visited(engine.visited_points().begin(), engine.visited_points().end());
  EXPECT_LT(visited.size(), result.stats.visited);
  std::sort(visited.begin(), visited.end());
  EXPECT_EQ(std::adjacent_find(visited.begin(), visited.end()), visited.end());
}

TEST(NestedContact, PosesThatAreNotNumbersOrTooFarGiveNoContact) {
  const Pair& pair = pairs()[0];
  NestedContact engine(pair.shell, pair.field, {});
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Pose good{{0, 0, 0.045}, {}};
  ContactResult expected, result;
  engine.evaluate(good, {}, Moving::shell, expected);
  ASSERT_GT(expected.stats.in_contact, 0U);
  for (const Pose& bad : {Pose{{nan, 0, 0}, {}}, Pose{{0, inf, 0}, {}}, Pose{{0, 0, 1e300}, {}}, Pose{{0, 0, 1e12}, {}},
                          Pose{{0, 0, 0}, {nan, 0, 0, 0}}, Pose{{0, 0, 0}, {inf, 0, 0, 1}}}) {
    for (const bool shell_is_bad : {true, false}) {
      engine.evaluate(shell_is_bad ? bad : good, shell_is_bad ? good : bad, Moving::shell, result);
      EXPECT_EQ(result.wrench, Wrench{});
      EXPECT_EQ(result.stats.in_contact, 0U);
      EXPECT_TRUE(engine.contacts().empty());
    }
  }
  engine.evaluate(good, {}, Moving::shell, result);
  expect_same_bits(result, expected);
}

TEST(NestedContact, RotationsNeedNotBeNormalised) {
  const Pair& pair = pairs()[0];
  NestedContact engine(pair.shell, pair.field, {});
  ContactResult a, b;
  engine.evaluate({{0, 0, 0.045}, {}}, {}, Moving::shell, a);
  engine.evaluate({{0, 0, 0.045}, {2, 0, 0, 0}}, {{}, {0.5, 0, 0, 0}}, Moving::shell, b);
  expect_same_bits(a, b);
}

TEST(NestedContact, RefusesSettingsThatMakeNoSense) {
  const Pair& pair = pairs()[0];
  const auto make = [&](const ContactSettings& settings) { NestedContact(pair.shell, pair.field, settings); };
  EXPECT_THROW(make({.stiffness = 0}), Error);
  EXPECT_THROW(make({.stiffness = std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW(make({.scaling_threshold = 0}), Error);
  EXPECT_THROW(make({.count_ramp = -1}), Error);
  EXPECT_THROW(NestedContact(Shell{}, pair.field, {}), Error);
  EXPECT_THROW(NestedContact(pair.shell, Field{}, {}), Error);
}

TEST(NestedContact, NeitherAllocatesNorLocksWhileEvaluating) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  const Pair& pair = pairs()[0];
  NestedContact engine(pair.shell, pair.field, {}, WorkBudget::of(300));
  Random random(5);
  const std::uint64_t before = RealtimeSection::breaches();
  {
    const RealtimeSection section;
    ContactResult result;
    for (int i = 0; i < 200; ++i) {
      if (i == 50) engine.set_budget(WorkBudget::unlimited());
      if (i == 150) engine.reset();
      engine.evaluate(random_pose(random, 0.06), {}, Moving::field, result);
      engine.evaluate_exhaustively(random_pose(random, 0.06), {}, Moving::field, 9, result);
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
}  // namespace cotouch
