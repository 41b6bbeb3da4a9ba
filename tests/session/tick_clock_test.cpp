// When ticks are due: never much faster or slower than they should be, and what was missed is made up for once.
#include <cotouch/session/tick_clock.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

constexpr double k_tick = 0.01;  // seconds

int ticks_until(TickClock& clock, double now, bool begun = true) {
  int count = 0;
  for (; clock.is_due(now); ++count) clock.ticked(now, begun);
  return count;
}

TEST(TickClock, IsATwentiethFasterOrSlowerAtMost) {
  TickClock clock(k_tick, 0);
  for (const double lead : {12.0, 13.0, 512.0, 1e300}) {
    clock.follow(lead);
    EXPECT_DOUBLE_EQ(clock.interval(), 1.05 * k_tick);
    clock.follow(-lead);
    EXPECT_DOUBLE_EQ(clock.interval(), 0.95 * k_tick);
  }
  clock.follow(std::nullopt);
  EXPECT_DOUBLE_EQ(clock.interval(), k_tick);
}

TEST(TickClock, AShortStopLeavesTheTimesOfTicksAsTheyWere) {
  TickClock clock(k_tick, 0);
  EXPECT_EQ(ticks_until(clock, 0), 1);
  EXPECT_EQ(ticks_until(clock, 0.405), 40);
  EXPECT_EQ(clock.to_make_up(2, 1000), 0);
}

TEST(TickClock, OfALongStopNothingIsDueButMayBeMadeUpFor) {
  TickClock clock(k_tick, 0);
  EXPECT_EQ(ticks_until(clock, 0), 1);
  EXPECT_EQ(ticks_until(clock, 2), 2);   // the one that was due, and the next one from now on
  EXPECT_EQ(clock.to_make_up(2, 5), 0);  // no need to hurry
  int made_up = 0;
  for (; clock.to_make_up(2, 1000) > 0; ++made_up) {
    EXPECT_LE(clock.to_make_up(2, 1000), 16);
    clock.made_up();
  }
  EXPECT_NEAR(made_up, 199 - 12, 1);
}

TEST(TickClock, WhatTheWorldWaitedMayBeMadeUpForAndNothingElse) {
  TickClock clock(k_tick, 0);
  EXPECT_EQ(clock.to_make_up(0, 1e300), 0);
  ticks_until(clock, 0.305, false);
  EXPECT_EQ(clock.to_make_up(0.305, 20), 16);
  EXPECT_EQ(clock.to_make_up(0.305, 14), 14);
  clock.missed(1e9);
  int made_up = 0;
  for (; clock.to_make_up(0, 1e300) > 0; ++made_up) clock.made_up();
  EXPECT_EQ(made_up, 512 - 12);
}

TEST(TickClock, WhoeverIsWithTheOthersHasNothingLeftToMakeUpFor) {
  TickClock clock(k_tick, 0);
  clock.missed(100);
  clock.follow(std::nullopt);  // nobody was heard yet
  EXPECT_EQ(clock.to_make_up(0, 100), 16);
  clock.follow(-50);
  EXPECT_EQ(clock.to_make_up(0, 100), 16);
  clock.follow(0.1);
  EXPECT_EQ(clock.to_make_up(0, 100), 0);
}

TEST(TickClock, WhatIsDueAnywayIsNotMadeUpForTwice) {
  TickClock clock(k_tick, 0);
  clock.missed(100);
  EXPECT_EQ(clock.to_make_up(0.4, 50), 0);  // 40 are due
  EXPECT_EQ(clock.to_make_up(0.3, 50), 16);
}

TEST(TickClock, GoesOnIfTimeGoesBack) {
  TickClock clock(k_tick, 1000);
  EXPECT_EQ(ticks_until(clock, 1000), 1);
  EXPECT_EQ(ticks_until(clock, 10), 1);
  EXPECT_EQ(ticks_until(clock, 10.095), 9);
}

}  // namespace
}  // namespace cotouch::this_file
