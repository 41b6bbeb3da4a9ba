// What a shared session promises in numbers, in simulated time.
#include <gtest/gtest.h>

#include "session/shared_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

TEST(SharedReach, TwoPeersAtFivePercentLossSendAtMost16KilobytesASecond) {
  SimulationSettings settings = simulation("transatlantic", 2, 1);
  settings.network.there.loss = settings.network.back.loss = 0.05;
  SimulatedSession session(shared_balls(), settings, playing());
  session.run_until(10);
  const auto bytes = [&](std::size_t machine) { return session.statistics(machine).bytes_sent; };
  const std::uint64_t before[] = {bytes(0), bytes(1)};
  session.run_until(40);
  for (const std::size_t machine : {0U, 1U}) {
    const double per_second = static_cast<double>(bytes(machine) - before[machine]) / 30;
    EXPECT_LE(per_second, 16'000);
    EXPECT_GE(per_second, 100 * (28 + 25 + 9));  // a hundred datagrams with an input each, and what is around them
  }
}

TEST(SharedReach, TheOwnHandIsSeenAtTheNextTickOnEveryNetwork) {
  for (const NetworkProfile& network : builtin_networks()) {
    SCOPED_TRACE(network.name);
    SimulatedSession session(shared_balls(), simulation(network.name.c_str(), 2, 1), playing());
    session.run_until(15);
    for (const std::size_t machine : {0U, 1U}) {
      EXPECT_GT(session.statistics(machine).own_inputs, 500U);
      EXPECT_EQ(session.statistics(machine).own_inputs_late, 0U);
    }
    EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
  }
}

// Whoever is ahead makes its ticks longer by 2 % for each, the other one shorter: a quarter of a tick makes up for 1 %.
TEST(SharedReach, ClocksThatDifferByAPercentDoNotTakePeersApart) {
  SimulationSettings settings = simulation("transatlantic", 2, 3);
  settings.clock_drift = 0.01;
  SimulatedSession session(shared_balls(), settings, playing());
  session.run_until(20);
  Tick apart = 0;
  while (session.now() < 80) {
    session.run_until(session.now() + 0.1);
    apart = std::max(apart, std::abs(session.peer(0).now() - session.peer(1).now()));
  }
  EXPECT_LE(apart, 4);
  EXPECT_EQ(session.peer(0).statistics().waits + session.peer(1).statistics().waits, 0U);
}

TEST(SharedReach, OnlyWhatChangedIsSimulatedAgain) {
  Rollback rollback({}, 0);
  for (const MemberId m : {MemberId{0}, MemberId{1}}) rollback.open(m, 0);
  PeerInput resting{sendable(playing_hand(0, 0)), {}};
  resting.hand.action = HandInput::Action::none;
  resting.hand.body = 0;
  PeerInput moved = resting;
  moved.hand.pose.position.x += 0.125;
  std::vector<WorldRequest> requests;
  for (Tick tick = 0; tick < 40; ++tick) {
    rollback.receive(0, tick, resting);
    if (tick < 10) rollback.receive(1, tick, resting);
    rollback.advance(requests);
  }
  requests.clear();
  for (Tick tick = 10; tick < 40; ++tick) rollback.receive(1, tick, tick < 25 ? resting : moved);
  EXPECT_EQ(rollback.repair(requests), 15);
  ASSERT_EQ(requests.size(), 1U + 2 * 15);  // back once, then a step and its state each
  EXPECT_EQ(std::get<LoadState>(requests[0]).tick, 25);
  requests.clear();
  EXPECT_EQ(rollback.repair(requests), 0);
}

}  // namespace
}  // namespace cotouch::this_file
