// Who is right when states differ: most of the members; of two halves the one with the keeper.
#include <gtest/gtest.h>

#include "session/table_of_members.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
using Asked = std::vector<MemberId>;

// Members whose states have these hashes at the first comparison.
Table members_with(const std::vector<std::uint64_t>& hashes) {
  const auto count = static_cast<MemberId>(hashes.size());
  Table table(count);
  table.go_on(0.75);
  for (MemberId m = 0; m < count; ++m) {
    EXPECT_GT(table[m].objective(), 64);
    table[m].set_hash(64, hashes[m]);
  }
  table.go_on(0.1);
  return table;
}

std::uint64_t alarms(Table& table, MemberId members) {
  std::uint64_t sum = 0;
  for (MemberId m = 0; m < members; ++m) sum += table[m].statistics().desyncs;
  return sum;
}

TEST(Desync, EqualStatesAlarmNobody) {
  Table table = members_with({7, 7, 7});
  EXPECT_EQ(alarms(table, 3), 0U);
}

TEST(Desync, OfTwoTheKeeperIsRight) {
  Table table = members_with({7, 8});
  EXPECT_EQ(table.asked_by(0), Asked{});
  EXPECT_EQ(table.asked_by(1), Asked{0});
  EXPECT_EQ(alarms(table, 2), 2U);
}

TEST(Desync, OfTwoHalvesTheOneWithTheKeeperIsRight) {
  Table table = members_with({7, 8, 8, 7});
  EXPECT_EQ(table.asked_by(0), Asked{});
  EXPECT_EQ(table.asked_by(3), Asked{});
  ASSERT_FALSE(table.asked_by(1).empty());
  ASSERT_FALSE(table.asked_by(2).empty());
  EXPECT_EQ(table.asked_by(1)[0], 0);
  EXPECT_EQ(table.asked_by(2)[0], 0);
}

TEST(Desync, TheKeeperIsWrongIfMostDiffer) {
  Table table = members_with({7, 8, 8});
  ASSERT_FALSE(table.asked_by(0).empty());
  EXPECT_EQ(table.asked_by(0)[0], 1);
  EXPECT_EQ(table.asked_by(1), Asked{});  // although it hears of the keeper's state before that of its ally
  EXPECT_EQ(table.asked_by(2), Asked{});
}

TEST(Desync, WhoeverIsAloneAsksMostAlthoughTheKeeperDiffersToo) {
  Table table = members_with({7, 8, 8, 9});
  ASSERT_FALSE(table.asked_by(3).empty());
  EXPECT_EQ(table.asked_by(3)[0], 1);
  ASSERT_FALSE(table.asked_by(0).empty());
  EXPECT_EQ(table.asked_by(0)[0], 1);
  EXPECT_EQ(table.asked_by(1), Asked{});
}

}  // namespace
}  // namespace cotouch::this_file
