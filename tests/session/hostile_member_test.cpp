// A member that has the invite and lies. It may ruin its own part and may be given up for it; it must not stop the
// others, take them away or make them forget each other.
#include <gtest/gtest.h>

#include "session/table_of_members.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

constexpr Ballot k_last_ballot{0xffffffff, k_liar};

TEST(HostileMember, CannotUseUpTheNumbersOfRounds) {
  Table table(4);
  table.go_on(1);
  const std::vector<StreamEnd> ends = {{3, 0, false}};
  InputsMessage head;
  head.timing.their_tick = table[0].now();
  head.decided = k_last_ballot;
  for (MemberId to : {MemberId{0}, MemberId{1}}) {
    table.lie(to, write_message(ProposeMessage{k_last_ballot, ends}));
    table.lie(to, write_message(PromiseMessage{k_last_ballot, ends}));
    table.lie(to, write_message(DecideMessage{k_last_ballot, ends}));
    table.lie(to, write_inputs_message(head, {}));
  }
  table.go_on(1);
  EXPECT_TRUE(table[0].is_active(3));
  table.silence(3);
  table.go_on(6);
  EXPECT_FALSE(table[0].is_active(3));
  EXPECT_FALSE(table[1].is_active(3));
  const Tick tick = table[0].objective();
  table.go_on(1);
  EXPECT_GT(table[0].objective(), tick + 80);
}

TEST(HostileMember, CannotDecideWhoIsDropped) {
  Table table(4);
  table.go_on(1);
  for (const MemberId proposer : {MemberId{k_liar}, MemberId{0}, MemberId{19}})
    for (const MemberId victim : {MemberId{0}, MemberId{1}, MemberId{3}})
      for (const MemberId to : {MemberId{0}, MemberId{1}, MemberId{3}})
        table.lie(to, write_message(DecideMessage{{5, proposer}, {{victim, table[0].now(), true}}}));
  table.lie(1, write_message(ProposeMessage{{6, k_liar}, {{3, 0, false}}}));
  table.go_on(5);
  for (const MemberId m : {MemberId{0}, MemberId{1}, MemberId{3}}) {
    EXPECT_FALSE(table[m].is_lost());
    for (const MemberId other : {MemberId{0}, MemberId{1}, MemberId{3}}) EXPECT_TRUE(table[m].is_active(other));
    EXPECT_GT(table[m].objective(), 550);
  }
}

// One of four, or the two upper ones, are not the larger part of them; and what a branch decides is for those on it.
TEST(HostileMember, CannotDecideThatMostAreDropped) {
  const std::vector<std::pair<std::vector<MemberId>, BranchId>> lies{{{0, 1, 3}, 0}, {{0, 1}, 0}, {{3}, 99}};
  for (const auto& [dropped, branch] : lies) {
    SCOPED_TRACE(dropped.size());
    Table table(4);
    table.go_on(1);
    DecideMessage decision{{5, k_liar}, {}, branch};
    for (const MemberId m : dropped) decision.ends.push_back({m, table[0].now(), true});
    for (const MemberId to : {MemberId{0}, MemberId{1}, MemberId{3}}) table.lie(to, write_message(decision));
    table.go_on(5);
    for (const MemberId m : {MemberId{0}, MemberId{1}, MemberId{3}}) {
      EXPECT_FALSE(table[m].is_lost()) << int{m};
      for (const MemberId other : {MemberId{0}, MemberId{1}, MemberId{3}}) EXPECT_TRUE(table[m].is_active(other));
      EXPECT_EQ(table[m].branch(), 0U);
      EXPECT_GT(table[m].objective(), 550);
    }
  }
}

// Somebody is missed by whoever waits for it at this moment, but not given up.
TEST(HostileMember, CannotDecideThatSomebodyIsDroppedWhoHasJustFallenSilent) {
  Table table(4);
  table.go_on(1);
  table.silence(0);
  table.silence(1);
  table.go_on(2.5);
  table.lie(3, write_message(DecideMessage{{5, k_liar}, {{0, table[3].now(), true}, {1, table[3].now(), true}}}));
  table.go_on(0.1);
  EXPECT_TRUE(table[3].is_active(0));
  EXPECT_TRUE(table[3].is_active(1));
}

// Even if it is its turn to propose.
TEST(HostileMember, CannotHaveTheOthersWaitForInputsThatNobodyHas) {
  Table table(4);
  table.go_on(1);
  table.silence(0);
  table.silence(1);
  table.go_on(4);
  const Tick end = table[3].now() + 100'000;
  table.lie(3, write_message(DecideMessage{{5, k_liar}, {{0, end, true}, {1, end, true}}}));
  table.go_on(20);
  EXPECT_FALSE(table[3].is_active(0));
  const Tick tick = table[3].objective();
  table.go_on(1);
  EXPECT_GT(table[3].objective(), tick + 80);
}

TEST(HostileMember, CannotLeadAwayThoseWhoHearIt) {
  Table table(3);
  table.go_on(1);
  table.lie(1, write_message(ProbeMessage{{9, k_liar}, {false, 20, 0, "liar"}}));
  table.go_on(1);
  EXPECT_FALSE(table[1].is_lost());
}

// The lowest of those who are left hears nobody, but is heard: it decides alone, and most do not go with it.
TEST(HostileMember, ThatGoesOnAloneTakesNobodyWithIt) {
  Table table(5);
  table.go_on(1);
  table.silence(0);
  for (const MemberId other : {MemberId{2}, MemberId{3}, MemberId{4}}) table.cut(other, 1);
  table.go_on(25);
  EXPECT_NE(table[1].branch(), 0U);
  for (const MemberId m : {MemberId{2}, MemberId{3}, MemberId{4}}) {
    EXPECT_FALSE(table[m].is_lost()) << int{m};
    EXPECT_EQ(table[m].branch(), 0U);
    for (const MemberId gone : {MemberId{0}, MemberId{1}}) EXPECT_FALSE(table[m].is_active(gone));
    EXPECT_GT(table[m].objective(), 500);
  }
}

// Of seven, or somebody on its path holds its proposals, which are shorter than inputs.
TEST(HostileMember, ThatProposesNothingTakesNobodyWithIt) {
  Table table(7);
  table.go_on(1);
  table.withhold(PeerMessageType::propose);
  table.silence(0);
  table.silence(1);
  table.go_on(25);
  for (const MemberId m : {MemberId{3}, MemberId{4}, MemberId{5}, MemberId{6}}) {
    EXPECT_FALSE(table[m].is_lost()) << int{m};
    EXPECT_EQ(table[m].branch(), 0U);
    for (const MemberId gone : {MemberId{0}, MemberId{1}, k_liar}) EXPECT_FALSE(table[m].is_active(gone));
    EXPECT_GT(table[m].objective(), 500);
  }
  EXPECT_TRUE(table[k_liar].is_lost());  // it was dropped, and joins the others again
}

// The lowest of those who are left should propose. Of what it once sent, somebody on the path may release a piece now
// and then, so that it is heard.
TEST(HostileMember, ThatProposesNothingAndIsHeardIsGivenUp) {
  Table table(7);
  table.go_on(1);
  InputsMessage old;
  old.timing.their_tick = table[k_liar].now();
  table.withhold(PeerMessageType::propose);
  table.silence(0);
  table.silence(1);
  for (int i = 0; i < 10; ++i) {
    table.go_on(2.9);
    for (const MemberId m : {MemberId{3}, MemberId{4}, MemberId{5}, MemberId{6}})
      table.lie(m, write_inputs_message(old, {}));
  }
  for (const MemberId m : {MemberId{3}, MemberId{4}, MemberId{5}, MemberId{6}}) {
    for (const MemberId gone : {MemberId{0}, MemberId{1}, k_liar}) EXPECT_FALSE(table[m].is_active(gone));
    for (const MemberId there : {MemberId{3}, MemberId{4}, MemberId{5}, MemberId{6}})
      EXPECT_TRUE(table[m].is_active(there));
    EXPECT_EQ(table[m].branch(), 0U);
    EXPECT_GT(table[m].objective(), 1000);
  }
}

TEST(HostileMember, ThatNeverPromisesIsGivenUp) {
  Table table(4);
  table.go_on(1);
  table.withhold(PeerMessageType::promise);
  table.silence(3);
  table.go_on(25);
  EXPECT_FALSE(table[0].is_active(3));
  EXPECT_FALSE(table[0].is_active(k_liar));
  EXPECT_TRUE(table[0].is_active(1));
  const Tick tick = table[0].objective();
  table.go_on(1);
  EXPECT_GT(table[0].objective(), tick + 80);
}

// Whoever says that it knows more than it gives would have all wait for ever.
TEST(HostileMember, ThatDoesNotGiveWhatItSaysItKnowsIsGivenUp) {
  Table table(4);
  table.go_on(1);
  table.withhold(PeerMessageType::promise);
  table.silence(3);
  for (int i = 0; i < 2500; ++i) {
    for (std::uint32_t round = 1; round < 4; ++round)
      table.lie(0, write_message(PromiseMessage{{round, 0}, {{3, table[0].objective() + 100, false}}}));
    table.go_on(0.01);
  }
  EXPECT_FALSE(table[0].is_active(3));
  EXPECT_TRUE(table[0].is_active(1));
  const Tick tick = table[0].objective();
  table.go_on(1);
  EXPECT_GT(table[0].objective(), tick + 80);
}

TEST(HostileMember, CannotAskForMoreThanALittleAtOnce) {
  Table table(3);
  table.go_on(2);
  std::vector<PeerRequest> requests;
  for (int i = 0; i < 10'000; ++i) table.lie(0, write_message(WantMessage{1, table[0].now() - 150}));
  table[0].poll(table.now(), {}, requests);
  std::size_t bytes = 0;
  for (const PeerRequest& request : requests)
    if (const auto* message = std::get_if<SendMessage>(&request)) bytes += message->bytes.size();
  EXPECT_LT(bytes, 8 * k_longest_message);
}

TEST(HostileMember, CannotMakeTimeRunAway) {
  Table table(3);
  table.go_on(2);
  const Tick before = table[0].objective();
  for (int i = 0; i < 2000; ++i) {
    InputsMessage head;
    head.timing.sequence = static_cast<std::uint16_t>(1000 + i);
    head.timing.their_tick = Tick{1} << 48;
    table.lie(0, write_inputs_message(head, {}));
    table.go_on(0.01);
  }
  EXPECT_GT(table[0].objective(), before + 1800);
  // 20 seconds, a twentieth more at most, and as much as a newcomer may have to make up for.
  EXPECT_LT(table[0].objective(), before + 2000 + 100 + 128);
}

TEST(HostileKeeper, CannotAdmitSomebodyAtTheEndOfTime) {
  ObjectiveSnapshot snapshot;
  for (MemberId m = 0; m < 2; ++m) snapshot.members[m] = Member{0, "x"};
  SharedPeer peer({}, 1, snapshot, 100);
  PeerInput input;
  SessionEvent event;
  event.kind = SessionEvent::Kind::admit;
  for (const Tick first : {k_never, Tick{1} << 40, Tick{5000}, Tick{200}}) {
    event.member = static_cast<MemberId>(4 + input.events.size());
    event.number = first;
    input.events.push_back(event);
  }
  InputRun run;
  run.inputs = {&input};
  peer.receive(100, 0, write_inputs_message({}, std::span(&run, 1)));
  std::vector<PeerRequest> requests;
  for (double now = 100; now < 101; now += 0.01) peer.poll(now, {}, requests);
  for (const MemberId m : {MemberId{4}, MemberId{5}, MemberId{6}}) EXPECT_FALSE(peer.is_member(m));
  EXPECT_TRUE(peer.is_member(7));
}

}  // namespace
}  // namespace cotouch::this_file
