// What is called agreed stays, whoever is dropped and wherever the network breaks; what nobody else may have is not
// called so.
#include <gtest/gtest.h>

#include <cmath>

#include "session/members_on_a_road.h"
#include "session/shared_fixture.h"
#include "session/table_of_members.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// Moves from place to place: what was predicted in between is right, and is not simulated again.
HandInput hopping_hand(std::size_t machine, double now, const WorldState&) {
  return playing_hand(machine, std::floor(now * 1.5) / 1.5);
}

// Machines that play together after ten seconds.
SimulatedSession party(std::size_t machines, std::uint64_t seed) {
  SimulatedSession session(shared_balls(), simulation("network-3", machines, seed), hopping_hand);
  session.run_until(10);
  return session;
}

void expect_kept(const SimulatedSession& session) {
  EXPECT_EQ(session.overruled(), 0U) << session.first_overruled();
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
}

// What this machine sends is lost; it still hears the others.
void silence(SimulatedSession& session, std::uint32_t machine) {
  NetworkProfile deaf = *find_network("network-3");
  deaf.there.loss = 1;
  for (std::uint32_t other = 0; other < session.machines(); ++other)
    if (other != machine) session.network().connect(machine, other, deaf);
}

TEST(Agreed, IsAFewTicksBehindWhatIsObjective) {
  SimulatedSession session = party(3, 1);
  for (std::size_t machine = 0; machine < 3; ++machine) {
    EXPECT_GT(session.peer(machine).agreed(), 0);
    EXPECT_LE(session.peer(machine).agreed(), session.peer(machine).objective());
    EXPECT_GE(session.peer(machine).agreed(), session.peer(machine).objective() - 40);
    EXPECT_EQ(session.peer(machine).branch(), 0U);
  }
}

// It knows all inputs of a window of ticks, but the others drop it and end its inputs before them.
TEST(Agreed, WhatTheSessionOverrulesWasNotCalledSo) {
  for (const std::uint64_t seed : {1U, 2U}) {
    SimulatedSession session = party(3, seed);
    silence(session, 2);
    session.run_until(25);
    EXPECT_EQ(session.statistics(2).losses, 1U);
    EXPECT_GT(session.statistics(2).abandoned, 50U);  // objective there
    session.network().connect_all(*find_network("network-3"));
    session.run_until(35);
    EXPECT_TRUE(session.takes_part(2));
    expect_kept(session);
  }
}

TEST(Agreed, ASmallerPartThatGoesOnAloneIsABranchUntilItJoinsAgain) {
  SimulatedSession session = party(4, 1);
  const std::array<std::uint32_t, 2> one{0, 1}, other{2, 3};
  session.network().partition(one, other);
  session.run_until(30);
  EXPECT_EQ(session.peer(0).branch(), 0U);
  EXPECT_EQ(session.peer(1).branch(), 0U);
  EXPECT_NE(session.peer(2).branch(), 0U);
  EXPECT_EQ(session.peer(2).branch(), session.peer(3).branch());
  EXPECT_GT(session.peer(3).agreed(), 1500);
  session.network().heal();
  session.run_until(45);
  for (std::size_t machine = 0; machine < 4; ++machine) EXPECT_EQ(session.peer(machine).branch(), 0U) << machine;
  expect_kept(session);
}

// The part that went on at once has lost members since then: all that it called agreed would be gone.
TEST(Agreed, ABranchJoinsTheSessionAlthoughItIsLarger) {
  SimulatedSession session = party(5, 1);
  const std::array<std::uint32_t, 3> one{0, 1, 2};
  const std::array<std::uint32_t, 2> other{3, 4};
  session.network().partition(one, other);
  session.run_until(26);
  session.leave(1);
  session.leave(2);
  session.run_until(30);
  EXPECT_NE(session.peer(3).branch(), 0U);
  session.network().heal();
  session.run_until(45);
  for (const std::size_t machine : {0U, 3U, 4U}) EXPECT_EQ(session.peer(machine).branch(), 0U) << machine;
  EXPECT_EQ(session.statistics(0).losses, 0U);
  expect_kept(session);
}

TEST(Agreed, WhoeverJoinsABranchIsOnIt) {
  SimulatedSession session = party(3, 1);
  session.crash(2);
  session.run_until(16);
  session.crash(0);
  session.run_until(32);
  EXPECT_NE(session.peer(1).branch(), 0U);
  session.join(2);
  session.run_until(40);
  EXPECT_EQ(session.peer(2).branch(), session.peer(1).branch());
  EXPECT_GT(session.statistics(2).agreed, 200U);
  expect_kept(session);
}

// Two of three, but nobody may know of the newcomer yet: of those who surely do, they are half without the lowest.
TEST(Agreed, APartThatIsLargerByANewcomerWaitsLikeASmallerOne) {
  Table table(3, 300);
  table.go_on(2.5);
  table.silence(0);
  table.go_on(9);
  EXPECT_EQ(table[1].branch(), 0U);
  EXPECT_TRUE(table[1].is_active(0));
  EXPECT_TRUE(table[1].is_cut_off());
  table.go_on(5);
  EXPECT_FALSE(table[1].is_active(0));
  EXPECT_NE(table[1].branch(), 0U);
  EXPECT_EQ(table[2].branch(), table[1].branch());
}

// Members with little patience decide before the world has to wait, so that somebody may leave while they do.
PeerSettings impatient() {
  PeerSettings settings;
  settings.patience = 0.5;
  return settings;
}

// Takes somebody away whose last words have gone out.
MembersOnARoad::Delay without(MemberId gone, MembersOnARoad::Delay delay) {
  return [gone, delay = std::move(delay)](double now, MemberId from, MemberId to) {
    return from == gone || to == gone ? -1 : delay(now, from, to);
  };
}

bool is_the_session_without(const SharedPeer& peer, MemberId other) {
  return !peer.is_lost() && peer.branch() == 0 && !peer.is_active(other);
}

// It would be counted by one part because it has promised, and by the other one not, because it has left.
TEST(Agreed, WhoeverLeavesAfterAPromiseMakesNoTwoSessions) {
  int alone = 0;
  for (double leaves = 0.4; leaves < 0.7; leaves += 0.005) {
    SCOPED_TRACE(leaves);
    const auto near = [](double, MemberId from, MemberId) { return from == 0 ? 0.05 : 0.005; };
    MembersOnARoad road(3, near, impatient());
    road.go_on(2);
    const auto cut = [&](double now, MemberId from, MemberId to) {
      return from != 2 && to != 2 ? -1 : near(now, from, to);
    };
    road.change(cut);
    road.go_on(leaves);
    road[2].leave();
    road.go_on(1);
    road.change(without(2, cut));
    road.go_on(15);
    const bool one = is_the_session_without(road[0], 1), other = is_the_session_without(road[1], 0);
    EXPECT_FALSE(one && other);
    alone += one != other ? 1 : 0;
  }
  EXPECT_GT(alone, 0);  // or nobody has dropped anybody
}

// Of its last inputs one part has heard nothing yet, and the other one has.
TEST(Agreed, WhoeverHasLeftPromisesNothing) {
  int alone = 0;
  for (double leaves = 0.3; leaves < 0.6; leaves += 0.005) {
    SCOPED_TRACE(leaves);
    MembersOnARoad road(
        3, [](double, MemberId, MemberId) { return 0.005; }, impatient());
    road.go_on(2);
    const auto cut = [](double, MemberId from, MemberId to) {
      return from == 0 || (from == 1 && to == 0) ? -1 : 0.005;
    };
    road.change(cut);
    road.go_on(leaves);
    road[2].leave();
    road.holds = [](MemberId from, MemberId to, const std::vector<std::byte>& bytes) {
      return from == 2 && to == 1 && bytes[0] == static_cast<std::byte>(PeerMessageType::inputs);
    };
    road.go_on(1);
    road.change(without(2, cut));
    road.go_on(15);
    const bool one = is_the_session_without(road[0], 1), other = is_the_session_without(road[1], 0);
    EXPECT_FALSE(one && other);
    alone += one != other ? 1 : 0;
  }
  EXPECT_GT(alone, 0);  // or nobody has dropped anybody
}

TEST(Agreed, WhoeverHasLeftDecidesNothing) {
  int alone = 0;
  for (double leaves = 0.3; leaves < 0.6; leaves += 0.005) {
    SCOPED_TRACE(leaves);
    MembersOnARoad road(
        3, [](double, MemberId, MemberId) { return 0.02; }, impatient());
    road.go_on(2);
    const auto cut = [](double, MemberId from, MemberId to) { return from == 1 || (from == 2 && to == 1) ? -1 : 0.02; };
    road.change(cut);
    road.go_on(leaves);
    road[0].leave();
    road.go_on(1);
    road.change(without(0, cut));
    road.go_on(15);
    const bool one = is_the_session_without(road[1], 2), other = is_the_session_without(road[2], 1);
    EXPECT_FALSE(one && other);
    alone += one != other ? 1 : 0;
  }
  EXPECT_GT(alone, 0);  // or nobody has dropped anybody
}

// Ends that some members know and others do not, in both directions and again and again.
TEST(Agreed, StaysThroughOneWayLinksThatChangeAllTheTime) {
  std::uint64_t abandoned = 0;
  for (const std::uint64_t seed : {1U, 2U}) {
    SimulatedSession session = party(4, seed);
    Random random(seed);
    while (session.now() < 60) {
      for (std::uint32_t a = 0; a < 4; ++a)
        for (std::uint32_t b = a + 1; b < 4; ++b) {
          NetworkProfile ways = *find_network("network-3");
          if (random.uniform() < 0.3) ways.there.loss = 1;
          if (random.uniform() < 0.3) ways.back.loss = 1;
          session.network().connect(a, b, ways);
        }
      session.run_until(session.now() + random.uniform(0.5, 8));
    }
    session.network().connect_all(*find_network("network-3"));
    session.run_until(75);
    expect_kept(session);
    for (std::size_t machine = 0; machine < 4; ++machine) {
      abandoned += session.statistics(machine).abandoned;
      EXPECT_GT(session.statistics(machine).agreed, 500U);
    }
  }
  EXPECT_GT(abandoned, 100U);
}

}  // namespace
}  // namespace cotouch::this_file
