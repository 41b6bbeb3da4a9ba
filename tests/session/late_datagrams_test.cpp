// Datagrams that arrive late, by chance or because somebody on the path holds them back: no worse than lost ones. The
// world keeps its pace, nobody is dropped, and all agree.
#include <cotouch/base/random.h>

#include <gtest/gtest.h>

#include <cmath>

#include "session/members_on_a_road.h"
#include "session/shared_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// ------------------------------------------------------------------------------------------------ whole sessions

struct Lateness {
  double share, by;  // of all datagrams, by up to so many seconds
};

// As `cotouch wan --delay 10 --reorder 30:4000` makes it.
NetworkProfile late_network(const Lateness& late) {
  NetworkProfile network = network_with(0.02, 0, 0);
  for (LinkProfile* link : {&network.there, &network.back}) {
    link->reorder = late.share;
    link->reorder_by = late.by;
  }
  return network;
}

// A hand that stays where it is for a second is predicted right, and costs nothing.
HandInput calmly_playing(std::size_t machine, double now, const WorldState& /*view*/) {
  HandInput hand = playing_hand(machine, now);
  hand.pose = playing_hand(machine, std::floor(now)).pose;
  return hand;
}

class LateDatagrams : public testing::TestWithParam<Lateness> {};

TEST_P(LateDatagrams, ThrowNobodyOutAndLeaveTheWorldItsPace) {
  for (const auto& [machines, seed] : std::vector<std::pair<std::size_t, std::uint64_t>>{{2, 1}, {2, 2}, {4, 3}}) {
    SCOPED_TRACE(std::to_string(machines) + " machines, seed " + std::to_string(seed));
    SimulationSettings settings = simulation("perfect", machines, seed);
    settings.network = late_network(GetParam());
    SimulatedSession session(shared_balls(), settings, calmly_playing);
    std::size_t dropped = 0;
    session.on_notice = [&](std::size_t, const SessionNotice& notice) {
      dropped += notice.kind == SessionNotice::Kind::dropped ? 1U : 0U;
    };
    while (session.now() < 20 && session.statistics(machines - 1).confirmed == 0) session.run_until(session.now() + 1);
    session.run_until(session.now() + 5);
    std::vector<Tick> before;
    for (std::size_t i = 0; i < machines; ++i) {
      ASSERT_TRUE(session.takes_part(i)) << i;
      before.push_back(session.peer(i).objective());
    }
    session.run_until(session.now() + 60);
    for (std::size_t i = 0; i < machines; ++i) {
      ASSERT_TRUE(session.takes_part(i)) << i;
      EXPECT_EQ(session.statistics(i).joins, 1U) << i;
      EXPECT_NEAR(static_cast<double>(session.peer(i).objective() - before[i]) / 60, 100, 1) << i;
    }
    EXPECT_EQ(dropped, 0U);
    EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
  }
}

INSTANTIATE_TEST_SUITE_P(By, LateDatagrams, testing::Values(Lateness{0.3, 4}, Lateness{0.2, 10}, Lateness{0.1, 19}),
                         [](const auto& info) {
                           return std::to_string(std::lround(info.param.share * 100)) + "percent" +
                                  std::to_string(std::lround(info.param.by)) + "seconds";
                         });

// ------------------------------------------------------------------------------------------------ a hostile road

constexpr double k_piece = 2;  // seconds over which the pace is looked at

// Clocks go at 0.95 to 1.05 of their rate, whatever the road does: 190 to 210 ticks, and one more or fewer.
void expect_bounded_pace(const MembersOnARoad& road, const std::vector<MemberId>& members, double from,
                         Tick fewest = 189) {
  for (const MemberId m : members) {
    const std::vector<Tick> pieces = road.ticks_of(m, from, k_piece);
    ASSERT_FALSE(pieces.empty());
    EXPECT_GE(*std::min_element(pieces.begin(), pieces.end()), fewest) << "member " << int{m};
    EXPECT_LE(*std::max_element(pieces.begin(), pieces.end()), 211) << "member " << int{m};
  }
}

void expect_well(const MembersOnARoad& road, MemberId members) {
  for (MemberId m = 0; m < members; ++m) EXPECT_EQ(road.trouble(m), 0U) << "member " << int{m};
  EXPECT_EQ(road.mismatches(), 0U);
}

// What somebody on the path may choose to do with each datagram.
const std::vector<std::pair<const char*, MembersOnARoad::Delay>>& attacks() {
  static const std::vector<std::pair<const char*, MembersOnARoad::Delay>> k_attacks{
      {"delays that grow slowly", [](double now, MemberId, MemberId) { return 0.02 * std::fmod(now, 30); }},
      {"delays that fall slowly", [](double now, MemberId, MemberId) { return 0.6 - 0.02 * std::fmod(now, 30); }},
      {"one way slower", [](double, MemberId from, MemberId) { return from == 0 ? 0.6 : 0.01; }},
      {"the slow way changes",
       [](double now, MemberId from, MemberId) { return (from == 0) == (std::fmod(now, 8) < 4) ? 0.6 : 0.01; }},
      {"all at once, twice a second", [](double now, MemberId, MemberId) { return 0.5 - std::fmod(now, 0.5); }},
      {"some by two seconds",
       [random = Random(1)](double, MemberId, MemberId) mutable { return random.uniform() < 0.6 ? 2 : 0.01; }},
      {"some by up to twenty seconds", [random = Random(2)](double, MemberId, MemberId) mutable {
         return random.uniform() < 0.3 ? random.uniform(0, 20) : 0.01;
       }}};
  return k_attacks;
}

TEST(HostileRoad, CannotChangeThePaceOrHaveSomebodyDropped) {
  for (const auto& [name, delay] : attacks()) {
    SCOPED_TRACE(name);
    MembersOnARoad road(3, delay);
    road.go_on(40);
    expect_bounded_pace(road, {0, 1, 2}, 105);
    expect_well(road, 3);
  }
}

// Nothing passes for two seconds of ten, so that the world waits and has something to make up for.
TEST(HostileRoad, CannotMakeTheWorldHurryAfterAWait) {
  MembersOnARoad road(3, [random = Random(1)](double now, MemberId, MemberId) mutable {
    return std::max(0.0, 2 - std::fmod(now, 10)) + (random.uniform() < 0.3 ? 4 : 0.01);
  });
  road.go_on(60);
  expect_bounded_pace(road, {0, 1, 2}, 105, 0);
  expect_well(road, 3);
  // Of every ten seconds the window of 1.28 s is lived of the two in which nothing passes, and the rest is made up for.
  for (MemberId m = 0; m < 3; ++m) EXPECT_GT(road[m].objective(), 4900);
}

// Of a pause everybody knows by itself, so it is made up for at once.
TEST(HostileRoad, SomebodyWhoStoppedIsBackAtOnceAndTheOthersKeepTheirPace) {
  for (const double pause : {0.4, 1.0, 2.5}) {
    SCOPED_TRACE(pause);
    MembersOnARoad road(3, [](double, MemberId, MemberId) { return 0.05; });
    road.go_on(10);
    road.stop(1, pause);
    road.go_on(pause + 0.5);
    EXPECT_LT(std::abs(road[0].now() - road[1].now()), 20) << road[0].now() << ' ' << road[1].now();
    road.go_on(10);
    EXPECT_LE(std::abs(road[0].now() - road[1].now()), 2);
    expect_bounded_pace(road, {0, 2}, 105, pause < 1.28 ? 189 : 0);  // beyond a window they have to wait
    expect_well(road, 3);
  }
}

// ------------------------------------------------------------------------------------------------ sending again

// What is lost is sent again while the world can still go on, however slow the road makes the way seem.
TEST(HostileRoad, CannotDelayWhatIsSentAgainForLongerThanHalfAWindow) {
  constexpr double k_way = 0.5, k_half_a_window = 0.64, k_lost = 0.2;
  const auto slow = [](double, MemberId, MemberId) { return k_way; };
  MembersOnARoad road(2, slow);
  road.go_on(20);
  const Tick lost = road[0].now();
  road.change([](double, MemberId from, MemberId) { return from == 0 ? -1 : k_way; });
  road.go_on(k_lost);
  road.change(slow);
  road.go_on(k_half_a_window + k_way + 0.05);
  EXPECT_GE(road[1].objective(), lost + static_cast<Tick>(k_lost * 100));
  expect_well(road, 2);
}

// The first message after a gap that is longer than others begins to send it again, and so do those that are longer
// still. If there were few of them, holding a tenth of all would hold the world.
TEST(HostileRoad, CannotHoldTheWorldByHoldingTheLongMessagesOfOneWay) {
  MembersOnARoad road(2, [](double, MemberId, MemberId) { return 0.1; });
  road.go_on(10);
  std::size_t sent = 0, held = 0;
  road.holds = [&](MemberId from, MemberId, const std::vector<std::byte>& bytes) {
    if (from != 0) return false;
    ++sent;
    std::size_t inputs = 0, blocks = 0;
    if (const auto message = read_message(bytes))
      if (const auto* told = std::get_if<InputsMessage>(&*message))
        for (const InputBlock& block : told->blocks) inputs += block.inputs.size(), ++blocks;
    const bool begins = blocks > 1 && (held == 10 || inputs > 8);
    const bool holds = held < 10 || (begins && held < 38);
    held += holds ? 1U : 0U;
    return holds;
  };
  const Tick before = road[1].objective();
  road.go_on(4);
  EXPECT_GT(held, 10U);
  EXPECT_LE(10 * held, sent);
  EXPECT_GT(road[1].objective(), before + 380);
  expect_bounded_pace(road, {0, 1}, 110);
  expect_well(road, 2);
}

TEST(HostileRoad, NothingIsSentAgainOnAGoodOne) {
  for (const double delay : {0.0, 0.001, 0.06, 0.25}) {
    MembersOnARoad road(2, [delay](double, MemberId, MemberId) { return delay; });
    road.go_on(2);
    const std::uint64_t beginning = road[0].statistics().repairs;  // round trips were not known yet
    road.go_on(20);
    EXPECT_EQ(road[0].statistics().repairs, beginning) << delay;
  }
}

// However short the way is: an acknowledgement may be late by chance. At a hundred ticks a second the repetitions of
// each input take as long; in a faster world they do not.
TEST(HostileRoad, NothingIsSentAgainBecauseAnAcknowledgementIsALittleLate) {
  PeerSettings fast;
  fast.rollback.tick_seconds = 0.002;
  const auto at_once = [](double, MemberId, MemberId) { return 0.0; };
  for (const double late : {0.022, 0.06}) {
    MembersOnARoad road(2, at_once, fast);
    road.go_on(10);
    const std::uint64_t before = road[0].statistics().repairs;
    road.change([](double, MemberId from, MemberId) { return from == 1 ? -1 : 0; });
    road.go_on(late);
    road.change(at_once);
    road.go_on(5);
    EXPECT_EQ(road[0].statistics().repairs > before, late > 0.03) << late;
  }
}

}  // namespace
}  // namespace cotouch::this_file
