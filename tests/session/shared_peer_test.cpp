// Whole sessions in simulated time: what all agree on is the same everywhere, whatever happens to machines and
// networks.
#include <gtest/gtest.h>

#include <map>

#include "session/shared_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
using Kind = SessionNotice::Kind;

// A session that has begun, and all that it told.
class Party {
 public:
  explicit Party(const SimulationSettings& settings) : session(shared_balls(), settings, playing()) {
    session.on_notice = [this](std::size_t machine, const SessionNotice& notice) {
      notices[machine].push_back(notice);
    };
    for (int i = 0; i < 300 && !is_together(session.machines()); ++i) session.run_until(session.now() + 0.1);
    EXPECT_TRUE(is_together(session.machines()));
    run(3);
  }
  Party(const char* network, std::size_t machines, std::uint64_t seed = 1)
      : Party(simulation(network, machines, seed)) {}

  void run(double seconds) { session.run_until(session.now() + seconds); }

  // Is everybody who takes part a member for all of the others, and are they this many?
  bool is_together(std::size_t count) {
    std::size_t machines = 0;
    for (std::size_t i = 0; i < session.machines(); ++i) {
      if (!session.takes_part(i)) continue;
      ++machines;
      std::size_t members = 0;
      for (MemberId m = 0; m < k_most_members; ++m) members += session.peer(i).is_active(m) ? 1U : 0U;
      if (members != count) return false;
    }
    return machines == count;
  }

  // All of them are together and go on, and nothing that was agreed on ever differed.
  void expect_well(std::size_t count) {
    EXPECT_TRUE(is_together(count));
    std::map<std::size_t, Tick> before;
    for (std::size_t i = 0; i < session.machines(); ++i)
      if (session.takes_part(i)) before[i] = session.peer(i).objective();
    run(2);
    for (const auto& [machine, tick] : before) {
      ASSERT_TRUE(session.takes_part(machine));
      EXPECT_GT(session.peer(machine).objective(), tick + 100) << "machine " << machine;
    }
    EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
  }

  std::vector<SessionNotice> told(std::size_t machine, Kind kind) {
    std::vector<SessionNotice> found;
    for (const SessionNotice& notice : notices[machine])
      if (notice.kind == kind) found.push_back(notice);
    return found;
  }

  SimulatedSession session;
  std::map<std::size_t, std::vector<SessionNotice>> notices;
};

SessionEvent event_of(SessionEvent::Kind kind, std::int64_t number, std::string text = {}) {
  SessionEvent event;
  event.kind = kind;
  event.number = number;
  event.text = std::move(text);
  return event;
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

TEST(SharedPeer, ComparisonSeesAnInputThatOneMachineMissed) {
  SimulationSettings settings = simulation("lan", 2, 1);
  settings.broken = 1;
  SimulatedSession session(shared_balls(), settings, playing());
  session.run_until(20);
  EXPECT_GT(session.mismatches(), 0U);
  EXPECT_NE(session.first_mismatch(), "");
}

TEST(SharedPeer, SixteenMachinesAgree) {
  Party party("lan", 16);
  party.expect_well(16);
}

TEST(SharedPeer, WaitsWithAFullWindowAndGoesOn) {
  Party party("lan", 2);
  party.session.pause(1, 2.5);  // the window is 1.28 s, patience 3 s
  const Tick before = party.session.peer(0).objective();
  party.run(2);
  EXPECT_EQ(party.session.peer(0).waiting_for(), 1U << party.session.peer(1).self());
  EXPECT_LE(party.session.peer(0).objective(), before + 5);
  EXPECT_EQ(party.session.peer(0).now(), party.session.peer(0).objective() + 128);
  party.run(5);
  EXPECT_EQ(party.session.peer(0).waiting_for(), 0U);
  EXPECT_EQ(party.session.statistics(1).joins, 1U);
  party.expect_well(2);
}

TEST(SharedPeer, WhoeverLeavesIsMissedByNobody) {
  Party party("network-3", 3);
  const MemberId gone = party.session.peer(2).self();
  party.session.leave(2);
  party.run(3);
  EXPECT_FALSE(party.session.takes_part(2));
  party.expect_well(2);
  for (const std::size_t machine : {0U, 1U}) {
    ASSERT_EQ(party.told(machine, Kind::left).size(), 1U);
    EXPECT_EQ(party.told(machine, Kind::left)[0].member, gone);
    EXPECT_EQ(party.told(machine, Kind::left)[0].tick, party.told(0, Kind::left)[0].tick);
    EXPECT_TRUE(party.told(machine, Kind::dropped).empty());
    EXPECT_LT(party.session.statistics(machine).waited, 0.01);
  }
}

TEST(SharedPeer, OthersAgreeWhereTheInputsOfAKilledOneEnd) {
  Party party("network-3", 4);
  const MemberId gone = party.session.peer(2).self();
  party.session.crash(2);
  party.run(8);
  party.expect_well(3);
  for (const std::size_t machine : {0U, 1U, 3U}) {
    ASSERT_EQ(party.told(machine, Kind::dropped).size(), 1U);
    EXPECT_EQ(party.told(machine, Kind::dropped)[0].member, gone);
    EXPECT_EQ(party.told(machine, Kind::dropped)[0].tick, party.told(0, Kind::dropped)[0].tick);
  }
}

TEST(SharedPeer, SessionOutlivesItsHost) {
  Party party("network-3", 3);
  party.session.crash(0);
  party.run(8);
  party.expect_well(2);
  party.session.join(0);  // as a newcomer, let in by the new keeper
  party.run(8);
  party.expect_well(3);
}

TEST(SharedPeer, OneLeftAloneGoesOn) {
  // The one who should propose to drop the first dies as well, when its inputs reach to the end of the window.
  Party party("lan", 3);
  party.session.crash(0);
  party.run(2);
  party.session.crash(1);
  party.run(16);
  party.expect_well(1);
}

TEST(SharedPeer, HalvesThatWentOnAreOneSessionAgain) {
  Party party("network-3", 4);
  const std::array<std::uint32_t, 2> one{0, 1}, other{2, 3};
  party.session.network().partition(one, other);
  party.run(25);
  for (std::size_t machine = 0; machine < 4; ++machine) {
    std::size_t members = 0;
    for (MemberId m = 0; m < k_most_members; ++m) members += party.session.peer(machine).is_active(m) ? 1U : 0U;
    EXPECT_EQ(members, 2U) << "machine " << machine;
  }
  party.session.network().heal();
  party.run(15);
  party.expect_well(4);
  EXPECT_EQ(party.session.statistics(0).losses, 0U);  // the half with the lowest member stayed
  EXPECT_EQ(party.session.statistics(2).losses, 1U);
}

TEST(SharedPeer, LaptopThatSleptAMinuteJoinsAgain) {
  Party party("network-3", 3);
  party.session.pause(2, 60);
  party.run(55);
  EXPECT_EQ(party.told(0, Kind::dropped).size(), 1U);
  EXPECT_GT(party.session.peer(0).objective(), 5000);
  party.run(15);
  party.expect_well(3);
  EXPECT_EQ(party.session.statistics(2).losses, 1U);
  EXPECT_TRUE(party.told(2, Kind::dropped).empty());  // it did not go on without the others
}

// It makes up for its ticks at once, for more of them than a message repeats.
TEST(SharedPeer, WhoeverStoppedForAMomentIsNotMissedForLonger) {
  SimulationSettings settings = simulation("perfect", 2, 1);
  settings.network = network_with(0.4, 0, 0);
  Party party(settings);
  party.session.run_until(12);
  party.session.pause(1, 0.3);
  Tick longest = 0;
  while (party.session.now() < 15) {
    party.session.run_until(party.session.now() + 0.01);
    longest = std::max(longest, party.session.peer(0).now() - party.session.peer(0).objective());
  }
  EXPECT_GE(longest, 30 + 20 - 1);  // the pause and the way, on clocks that differ by less than a tick
  EXPECT_LE(longest, 30 + 20 + 5);  // not until inputs are known to be lost
}

TEST(SharedPeer, ClockThatGoesBackChangesNothing) {
  Party party("network-3", 3);
  party.session.turn_clock(1, -3600);
  party.run(5);
  party.expect_well(3);
  party.session.crash(2);  // patience is measured all the same
  party.run(8);
  party.expect_well(2);
  EXPECT_EQ(party.session.statistics(1).joins, 1U);
}

TEST(SharedPeer, DamagedStateIsNoticedAndHealedFromTheMajority) {
  Party party("network-3", 3);
  const Tick damaged = party.session.peer(1).objective();
  const MemberId broken = party.session.peer(1).self();
  party.session.damage(1);
  party.run(5);
  EXPECT_GT(party.session.mismatches(), 0U);  // until it was healed
  EXPECT_EQ(party.session.statistics(1).heals, 1U);
  EXPECT_EQ(party.session.statistics(0).heals, 0U);
  EXPECT_EQ(party.session.statistics(2).heals, 0U);
  EXPECT_NE(party.session.statistics(1).difference.find(" of body '"), std::string::npos)
      << party.session.statistics(1).difference;
  ASSERT_FALSE(party.told(0, Kind::desync).empty());
  const SessionNotice alarm = party.told(0, Kind::desync)[0];
  EXPECT_EQ(alarm.member, broken);
  EXPECT_EQ(alarm.tick, (damaged / 64 + 1) * 64);  // the first comparison after it
  const std::uint64_t before = party.session.mismatches();
  party.run(10);
  EXPECT_EQ(party.session.mismatches(), before);
  EXPECT_EQ(party.session.statistics(1).heals, 1U);
}

TEST(SharedPeer, SynchronisationCanBeTurnedOffAndOn) {
  Party party("transatlantic", 2);
  party.session.peer(0).announce(event_of(SessionEvent::Kind::synchronise, 0));
  party.run(5);
  for (const std::size_t machine : {0U, 1U}) {
    EXPECT_FALSE(party.session.peer(machine).synchronised());
    EXPECT_NE(&party.session.view(machine), &party.session.runner(machine).now());
  }
  party.session.peer(1).announce(event_of(SessionEvent::Kind::synchronise, 1));
  party.run(2);
  for (const std::size_t machine : {0U, 1U}) {
    EXPECT_TRUE(party.session.peer(machine).synchronised());
    EXPECT_EQ(&party.session.view(machine), &party.session.runner(machine).now());
    EXPECT_EQ(party.told(machine, Kind::synchronised).size(), 2U);
  }
  party.expect_well(2);
}

TEST(SharedPeer, DamagedRepeatedAndOvertakingPacketsChangeNothing) {
  SimulationSettings settings = simulation("network-3", 3, 4);
  for (LinkProfile* link : {&settings.network.there, &settings.network.back}) {
    link->corrupt = 0.1;
    link->duplicate = 0.2;
    link->reorder = 0.3;
    link->reorder_by = 0.1;
  }
  Party party(settings);
  party.run(10);
  party.expect_well(3);
}

TEST(SharedPeer, WordsAndMarksArriveOnceAndInOrder) {
  Party party("awful", 3);
  for (std::int64_t i = 0; i < 20; ++i) {
    party.session.peer(1).announce(event_of(SessionEvent::Kind::say, 0, std::to_string(i)));
    party.session.peer(1).announce(event_of(SessionEvent::Kind::mark, i));
    party.run(0.05);
  }
  SessionEvent remove = event_of(SessionEvent::Kind::unmark, 7);
  remove.member = party.session.peer(1).self();
  party.session.peer(0).announce(remove);
  party.run(5);
  for (std::size_t machine = 0; machine < 3; ++machine) {
    const std::vector<SessionNotice> said = party.told(machine, Kind::said), marked = party.told(machine, Kind::marked);
    ASSERT_EQ(said.size(), 20U);
    ASSERT_EQ(marked.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(said[i].event.text, std::to_string(i));
      EXPECT_EQ(said[i].tick, party.told(0, Kind::said)[i].tick);
      EXPECT_EQ(marked[i].event.number, static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(party.session.peer(machine).marks().size(), 19U);
  }
  party.session.crash(2);
  party.run(8);
  party.session.join(2);
  party.run(10);
  ASSERT_TRUE(party.session.takes_part(2));
  EXPECT_EQ(party.session.peer(2).marks(), party.session.peer(0).marks());
  EXPECT_EQ(party.session.peer(2).marks().size(), 19U);
}

TEST(SharedPeer, ANewcomerHasCaughtUpBeforeItsFirstTick) {
  SimulatedSession session(shared_balls(), simulation("transatlantic", 2, 1), playing());
  Tick behind = -1;
  session.on_tick = [&](std::size_t machine, Tick tick, const WorldState&) {
    if (machine != 1 || behind >= 0) return;
    const SharedPeer& newcomer = session.peer(1);
    if (tick + 10 >= newcomer.member(newcomer.self())->first) behind = session.peer(0).now() - tick;
  };
  session.run_until(10);
  EXPECT_GE(behind, 0);
  EXPECT_LE(behind, 13);  // beyond a dozen it hurries
}

TEST(SharedPeer, ANewcomerThatLeavesBeforeItsFirstTickIsNotMissed) {
  SimulatedSession session(shared_balls(), simulation("transatlantic", 2, 1), playing());
  std::vector<Kind> told;
  session.on_notice = [&](std::size_t machine, const SessionNotice& notice) {
    if (machine == 0) told.push_back(notice.kind);
  };
  while (!session.takes_part(1) && session.now() < 10) session.run_until(session.now() + 0.01);
  ASSERT_LT(session.peer(1).now(), session.peer(1).member(session.peer(1).self())->first);
  session.leave(1);
  session.run_until(session.now() + 8);
  EXPECT_FALSE(session.takes_part(1));
  EXPECT_EQ(told, (std::vector{Kind::joined, Kind::left}));
  EXPECT_LT(session.statistics(0).waited, 0.5);
}

TEST(SharedPeerSlow, SixteenWhoJoinAnAwfulNetworkAtOnceComeTogether) {
  SimulatedSession session(shared_balls(), simulation("awful", 16, 1), playing());
  const auto together = [&] {
    for (std::size_t i = 0; i < 16; ++i) {
      if (!session.takes_part(i)) return false;
      for (MemberId m = 0; m < 16; ++m)
        if (!session.peer(i).is_active(m)) return false;
    }
    return true;
  };
  while (!together() && session.now() < 30) session.run_until(session.now() + 0.25);
  EXPECT_TRUE(together());
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(session.statistics(i).losses, 0U) << i;
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
}

}  // namespace
}  // namespace cotouch::this_file
