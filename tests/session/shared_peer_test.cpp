#include "session/shared_fixture.h"

#include <gtest/gtest.h>

namespace cotouch {
namespace {

using namespace testing_session;

SimulatedSession::Hand playing() {
  return [](std::size_t machine, double now, const WorldState&) { return playing_hand(machine, now); };
}

TEST(SharedPeer, TwoMachinesAgreeOnEveryObjectiveState) {
  SimulatedSession session(shared_balls(), simulation("transatlantic", 2, 1), playing());
  session.run_until(20);
  ASSERT_TRUE(session.takes_part(1));
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
  EXPECT_GT(session.statistics(0).confirmed, 1800U);
  EXPECT_GT(session.statistics(1).confirmed, 1500U);
  EXPECT_GT(session.statistics(0).rollbacks.size(), 500U);
  EXPECT_EQ(session.statistics(0).own_inputs_late, 0U);
  EXPECT_EQ(session.statistics(1).own_inputs_late, 0U);
}

}  // namespace
}  // namespace cotouch
