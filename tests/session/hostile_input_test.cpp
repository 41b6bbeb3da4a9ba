// A member that says in its inputs what is not its to say.
#include <gtest/gtest.h>

#include "session/table_of_members.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
using Said = std::vector<std::pair<MemberId, std::string>>;

PeerInput saying(const std::string& text) {
  PeerInput input;
  input.events.emplace_back();
  input.events[0].kind = SessionEvent::Kind::say;
  input.events[0].text = text;
  return input;
}

PeerInput admitting(MemberId member, Tick first) {
  PeerInput input;
  input.events.emplace_back();
  input.events[0].kind = SessionEvent::Kind::admit;
  input.events[0].member = member;
  input.events[0].number = first;
  input.events[0].text = "newcomer";
  return input;
}

std::vector<std::byte> inputs_at(Tick tick, const PeerInput& input) {
  InputsMessage head;
  head.timing.their_tick = tick;
  InputRun run;
  run.first = tick;
  run.inputs = {&input};
  return write_inputs_message(head, std::span(&run, 1));
}

// Two members, of whom the first, the keeper, says this in its first input; what the second one makes of it.
SharedPeer hearing_of(const PeerInput& input) {
  ObjectiveSnapshot snapshot;
  for (MemberId m = 0; m < 2; ++m) snapshot.members[m] = Member{0, "x"};
  SharedPeer peer({}, 1, snapshot, 100);
  peer.receive(100, 0, inputs_at(0, input));
  std::vector<PeerRequest> requests;
  for (double now = 100; now < 100.1; now += 0.01) peer.poll(now, {}, requests);
  EXPECT_EQ(peer.objective(), 1);
  return peer;
}

TEST(HostileInput, OfSomebodyElseWhoIsThereIsNotBelieved) {
  Table table(4);
  table.go_on(1);
  const PeerInput forged = saying("I am member 1");
  for (Tick ahead = 0; ahead < 20; ++ahead) {
    InputRun run;
    run.first = table[1].now() + ahead;
    run.inputs = {&forged};
    table.lie(0, write_fill(1, run));
  }
  table.go_on(1);
  EXPECT_EQ(table.said_to(0), Said{});
  EXPECT_GT(table[0].objective(), 150);
}

TEST(HostileInput, CannotBeChangedAfterwards) {
  Table table(3);
  table.go_on(1);
  const Tick later = table[0].now() + 50;
  table.lie(0, inputs_at(later, saying("first")));
  table.lie(0, inputs_at(later, saying("second")));
  table.go_on(1);
  EXPECT_EQ(table.said_to(0), (Said{{k_liar, "first"}}));
}

// Its inputs end with the last one that those who stay have told each other of.
TEST(HostileInput, OfSomebodyWhoIsBeingDroppedComesTooLate) {
  Table table(4);
  table.go_on(1);
  table.withhold(PeerMessageType::promise);  // so that nothing is decided for a while
  table.silence(3);
  table.go_on(4);
  const Tick tick = table[1].objective();
  table[1].receive(table.now(), 3, inputs_at(tick, saying("I am back")));
  table.go_on(0.1);
  EXPECT_EQ(table[1].objective(), tick);
  EXPECT_EQ(table.said_to(1), Said{});
}

TEST(HostileInput, AdmitsNobodyUnlessItIsTheKeepers) {
  Table table(3);
  table.go_on(1);
  const Tick later = table[0].now() + 5;
  for (const MemberId to : {MemberId{0}, MemberId{1}}) table.lie(to, inputs_at(later, admitting(7, later + 200)));
  table.go_on(0.5);
  EXPECT_GT(table[0].objective(), later);
  EXPECT_FALSE(table[0].is_member(7));
  EXPECT_FALSE(table[1].is_member(7));
}

TEST(HostileInput, OfTheKeeperAdmitsNobodyBeforeAllKnow) {
  const Tick window = RollbackSettings{}.window;
  EXPECT_FALSE(hearing_of(admitting(7, window + 1)).is_member(7));
  EXPECT_TRUE(hearing_of(admitting(7, window + 2)).is_member(7));
}

TEST(HostileInput, OfTheKeeperGivesNobodysNumberAway) {
  const SharedPeer peer = hearing_of(admitting(1, 200));
  EXPECT_EQ(peer.member(1)->introduction, "x");
  EXPECT_EQ(peer.member(1)->first, 0);
}

TEST(HostileInput, MakesNoMoreMarksThanAreKept) {
  Table table(2);
  for (std::int64_t i = 0; i < 100; ++i) {
    SessionEvent mark;
    mark.kind = SessionEvent::Kind::mark;
    mark.number = i;
    ASSERT_TRUE(table[0].announce(mark));
    table.go_on(0.02);
  }
  table.go_on(1);
  for (const MemberId m : {MemberId{0}, MemberId{1}}) {
    ASSERT_EQ(table[m].marks().size(), k_most_marks);
    EXPECT_EQ(table[m].marks().back().number, 99);
    EXPECT_EQ(table.unmarked(m), 100 - k_most_marks);
  }
}

}  // namespace
}  // namespace cotouch::this_file
