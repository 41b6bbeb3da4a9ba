// What could make a session stand still for ever, or throw honest members out.
#include <gtest/gtest.h>

#include "session/table_of_members.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

std::vector<std::byte> inputs_from(Tick first, const std::vector<PeerInput>& inputs) {
  InputsMessage head;
  head.timing.their_tick = first + static_cast<Tick>(inputs.size());
  InputRun run;
  run.first = first;
  for (const PeerInput& input : inputs) run.inputs.push_back(&input);
  return write_inputs_message(head, std::span(&run, 1));
}

PeerInput leaving() {
  PeerInput input;
  input.events.emplace_back().kind = SessionEvent::Kind::leave;
  return input;
}

void expect_to_go_on(Table& table, MemberId member) {
  const Tick tick = table[member].objective();
  table.go_on(1);
  EXPECT_GT(table[member].objective(), tick + 80) << "member " << int{member};
  EXPECT_FALSE(table[member].is_lost()) << "member " << int{member};
}

TEST(Standstill, WhoeverLeavesWithoutItsLastInputsIsDropped) {
  Table table(4);
  table.go_on(1);
  table.silence(k_liar);
  for (const MemberId to : {MemberId{0}, MemberId{1}, MemberId{3}})
    table.lie(to, inputs_from(table[to].now() + 20, {leaving()}));
  table.go_on(8);
  for (const MemberId m : {MemberId{0}, MemberId{1}, MemberId{3}}) {
    EXPECT_FALSE(table[m].is_active(k_liar));
    expect_to_go_on(table, m);
  }
}

// It would wait for the leaver's inputs, which nobody else need have.
TEST(Standstill, WhoeverLeavesGivesANewcomerTimeToHearOfIt) {
  Table table(2);
  table.cut(1, 0);
  table[0].leave();
  table.go_on(2);
  EXPECT_FALSE(table[0].is_done(table.now()));
  table.go_on(2);
  EXPECT_TRUE(table[0].is_done(table.now()));
}

TEST(Standstill, WhoeverLeavesGoesAtOnceIfAllKnow) {
  Table table(2);
  table.go_on(1);
  table[0].leave();
  table.go_on(0.1);
  EXPECT_TRUE(table[0].is_done(table.now()));
}

// Whoever decided knew the last inputs of somebody who is gone, and is gone itself before it gave them to the others.
TEST(Standstill, AnEndThatNobodyCanReachIsDecidedAnew) {
  Table table(6);
  table.go_on(1);
  table.silence(0);
  table.silence(1);
  table.go_on(8);
  ASSERT_TRUE(!table[3].is_member(0) && !table[3].is_member(1));
  table.cut(5, 3);
  table.cut(5, 4);
  table.go_on(0.2);
  table.silence(5);
  table.withhold(PeerMessageType::fill);
  for (int i = 0; i < 1000 && table[3].is_active(5); ++i) table.go_on(0.01);
  ASSERT_FALSE(table[3].is_active(5));
  ASSERT_TRUE(table[3].is_member(5));
  table.silence(k_liar);
  table.go_on(30);
  for (const MemberId m : {MemberId{3}, MemberId{4}}) expect_to_go_on(table, m);
}

TEST(Standstill, NobodyWaitsForThePromiseOfSomebodyWhoHasLeft) {
  Table table(5);
  table.go_on(1);
  table.withhold(PeerMessageType::promise);
  table.silence(4);
  table.go_on(4.5);  // the others have proposed
  ASSERT_TRUE(table[0].is_active(4));
  table.silence(k_liar);
  for (const MemberId to : {MemberId{0}, MemberId{1}, MemberId{3}})
    table.lie(to, inputs_from(table[k_liar].now(), {leaving()}));
  EXPECT_FALSE(table[0].is_active(k_liar));
  table.go_on(6);
  EXPECT_FALSE(table[0].is_active(4));
  for (const MemberId m : {MemberId{0}, MemberId{1}, MemberId{3}}) expect_to_go_on(table, m);
}

TEST(Standstill, TheLowestWhoMissedALeaveThrowsNobodyOut) {
  Table table(4);
  table.go_on(1);
  table.cut(k_liar, 0);
  table[k_liar].leave();
  table.go_on(12);
  for (const MemberId m : {MemberId{0}, MemberId{1}, MemberId{3}}) {
    EXPECT_FALSE(table[m].is_active(k_liar));
    for (const MemberId other : {MemberId{0}, MemberId{1}, MemberId{3}}) EXPECT_TRUE(table[m].is_active(other));
    expect_to_go_on(table, m);
  }
}

TEST(Standstill, InputsFarAheadDoNotTakeThePlaceOfThoseThatCount) {
  Table table(3);
  table.go_on(1);
  const Tick next = table[0].now() + 40;
  for (const MemberId to : {MemberId{0}, MemberId{1}})
    for (Tick first = table[to].objective(); first < next + 2000; first += 200)
      table.lie(to, inputs_from(first, std::vector<PeerInput>(200)));
  for (const MemberId to : {MemberId{0}, MemberId{1}}) {
    // What lies more than two windows ahead was not taken.
    std::vector<PeerRequest> requests;
    table[to].poll(table.now(), {}, requests);
    InputsMessage told;
    for (const PeerRequest& request : requests)
      if (const auto* message = std::get_if<SendMessage>(&request); message != nullptr && message->to == k_liar)
        if (const auto read = read_message(message->bytes))
          if (const auto* inputs = std::get_if<InputsMessage>(&*read)) told = *inputs;
    EXPECT_LE(told.have, table[to].now() + 2 * Rollback::k_widest_window);
  }
}

TEST(Standstill, NumbersOfThoseWhoWereDroppedAreGivenAgain) {
  Table table(2);
  table.go_on(1);
  table.silence(1);
  table.go_on(14);
  ASSERT_FALSE(table[0].is_member(1));
  std::vector<MemberId> given;
  while (const auto number = table[0].admit("x", false)) given.push_back(*number);
  EXPECT_EQ(given.size(), k_shared_hands - 1);
  EXPECT_EQ(given.back(), 1);  // the last choice
}

TEST(Standstill, NothingIsLostThatIsSaidWhileAStateIsHealed) {
  Table table(3);
  table.go_on(2);
  SessionEvent event;
  event.kind = SessionEvent::Kind::say;
  event.text = "hello";
  ObjectiveSnapshot snapshot = table[1].snapshot();
  snapshot.tick -= 20;
  std::vector<PeerRequest> requests;
  ASSERT_TRUE(table[1].announce(event));
  ASSERT_TRUE(table[1].heal(snapshot, requests));
  table.go_on(2);
  ASSERT_EQ(table.said_to(0).size(), 1U);
  EXPECT_EQ(table.said_to(0)[0].second, "hello");
}

}  // namespace
}  // namespace cotouch::this_file
