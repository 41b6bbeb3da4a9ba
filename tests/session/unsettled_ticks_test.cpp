// What is told of ticks that are objective here: in order, once they are agreed, and of the branch that agreed.
#include <cotouch/session/unsettled_ticks.h>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace cotouch::this_file {
namespace {

using Told = std::vector<std::pair<Tick, BranchId>>;

Told told(UnsettledTicks& ticks, Tick agreed) {
  Told all;
  const bool any = ticks.settle(agreed, [&](const AgreedTick& tick) { all.emplace_back(tick.tick, tick.branch); });
  EXPECT_EQ(any, !all.empty());
  return all;
}

UnsettledTicks ticks_until(Tick last, BranchId branch = 0) {
  UnsettledTicks ticks;
  ticks.begin(branch);
  for (Tick tick = 1; tick <= last; ++tick) ticks.add({.tick = tick});
  return ticks;
}

TEST(UnsettledTicks, AreToldOnceAndInOrder) {
  UnsettledTicks ticks = ticks_until(4);
  EXPECT_EQ(told(ticks, 0), Told());
  EXPECT_EQ(told(ticks, 3), (Told{{1, 0}, {2, 0}, {3, 0}}));
  EXPECT_EQ(told(ticks, 3), Told());
  EXPECT_EQ(told(ticks, 9), (Told{{4, 0}}));
}

TEST(UnsettledTicks, AreTheBranchsIfItBeginsBeforeTheyAreAgreed) {
  UnsettledTicks ticks = ticks_until(3);
  EXPECT_EQ(told(ticks, 1), (Told{{1, 0}}));
  ticks.branch_off(7);
  ticks.add({.tick = 4});
  EXPECT_EQ(told(ticks, 4), (Told{{2, 7}, {3, 7}, {4, 7}}));
  EXPECT_EQ(ticks.branch(), 7U);
}

TEST(UnsettledTicks, ThatWereWrongAreForgotten) {
  UnsettledTicks ticks = ticks_until(5, 3);
  ticks.heal(2);
  ticks.add({.tick = 3});
  EXPECT_EQ(told(ticks, 5), (Told{{1, 3}, {2, 3}, {3, 3}}));
}

TEST(UnsettledTicks, OfASessionBeforeAreForgotten) {
  UnsettledTicks ticks = ticks_until(5, 3);
  ticks.begin(0);
  ticks.add({.tick = 9});
  EXPECT_EQ(told(ticks, 9), (Told{{9, 0}}));
}

TEST(UnsettledTicks, DoNotFillTheMemory) {
  UnsettledTicks ticks = ticks_until(UnsettledTicks::k_most + 10);
  EXPECT_EQ(ticks.size(), UnsettledTicks::k_most);
  EXPECT_EQ(told(ticks, 11), (Told{{11, 0}}));
}

}  // namespace
}  // namespace cotouch::this_file
