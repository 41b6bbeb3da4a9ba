// Messages that could be read, but that no honest peer writes.
#include <cotouch/base/random.h>
#include <cotouch/session/peer_message.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using Bytes = std::vector<std::byte>;

// With as many inputs in one block; each takes six bytes.
Bytes message_of(std::size_t count) {
  PeerInput input;
  input.hand.buttons = 0xffffffff;
  Bytes bytes = write_inputs_message({}, {});
  bytes.back() = std::byte{1};  // number of blocks
  ByteWriter out(bytes);
  out.signed_varint(0);
  out.varint(count);
  write_inputs(out, std::vector<const PeerInput*>(count, &input));
  return bytes;
}

TEST(PeerMessageLimits, ALongerOneThanAnybodySendsIsNothing) {
  std::size_t most = 0;
  for (std::size_t count = 1; count < 255; ++count) {
    const Bytes bytes = message_of(count);
    EXPECT_EQ(read_message(bytes).has_value(), bytes.size() <= k_longest_message) << bytes.size();
    most = std::max(most, bytes.size());
  }
  EXPECT_GT(most, k_longest_message);
}

// A message has what is new and what is sent again, and nothing else.
TEST(PeerMessageLimits, AThirdBlockMakesItNothing) {
  for (std::size_t blocks = 0; blocks < 5; ++blocks) {
    Bytes bytes = write_inputs_message({}, {});
    bytes.back() = static_cast<std::byte>(blocks);
    ByteWriter out(bytes);
    for (std::size_t i = 0; i < blocks; ++i) {
      out.signed_varint(0);
      out.varint(0);  // inputs
    }
    EXPECT_EQ(read_message(bytes).has_value(), blocks <= 2) << blocks;
  }
}

// Or what waits for it would wait for ever.
TEST(PeerMessageLimits, AllThatAMemberMayDoInATickFitsIntoOne) {
  HandInput hand;
  hand.present = true;
  hand.action = HandInput::Action::grasp;
  hand.body = hand.buttons = 0xffffffff;
  hand.pose = {{-4094.9, -4094.9, -4094.9}, {-0.5, -0.5, -0.5, -0.5}};
  PeerInput input{MemberHands(hand), {}};
  for (std::uint8_t number = 9; number < 16; ++number) input.further.push_back({number, hand});
  static_cast<MemberHands&>(input) = sendable(input);
  ASSERT_EQ(input.further.size(), k_most_further);
  input.events.push_back({SessionEvent::Kind::admit, 19, 1LL << 48, 0xffffffff, {}, std::string(k_longest_event, 'x')});
  InputsMessage head;
  head.timing.has_echo = true;
  head.timing.held = 0xffffffff;
  head.timing.their_tick = 1LL << 47;
  head.hash.emplace();
  head.decided.round = 0xffffffff;
  const PeerInput* const inputs[] = {&input};
  const std::optional<PeerMessage> message =
      read_message(write_inputs_message(head, std::vector{InputRun{head.timing.their_tick, {inputs[0]}}}));
  ASSERT_TRUE(message);
  const auto& blocks = std::get<InputsMessage>(*message).blocks;
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].inputs, std::vector{input});
  // As much is new as is sent again: that comes first.
  const std::vector<InputRun> runs(2, InputRun{head.timing.their_tick, {inputs[0]}});
  std::size_t sent_again = 0;
  const std::optional<PeerMessage> both = read_message(write_inputs_message(head, runs, &sent_again));
  ASSERT_TRUE(both);
  EXPECT_EQ(sent_again, 1U);
  EXPECT_TRUE(std::get<InputsMessage>(*both).blocks.at(0).inputs.empty());
  EXPECT_EQ(std::get<InputsMessage>(*both).blocks.at(1).inputs, std::vector{input});
}

// Of runs of all lengths and sizes: what is new from its end on, what is sent again from its beginning on.
TEST(PeerMessageLimits, WhateverDoesNotFitIsLeftOutAndCounted) {
  Random random(7);
  std::vector<PeerInput> inputs(60);
  for (std::size_t further = 0; further <= k_most_further; ++further)
    for (int trial = 0; trial < 60; ++trial) {
      for (PeerInput& input : inputs) {
        const auto draw = [&] {
          HandInput hand;
          hand.present = true;
          hand.pose.position = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
          return sendable(hand);
        };
        input.hand = draw();
        input.further.clear();
        for (std::size_t i = 0; i < further; ++i) input.further.push_back({static_cast<std::uint8_t>(i), draw()});
      }
      std::vector<InputRun> runs(2);
      runs[0].first = 1000;
      runs[1].first = 900;
      for (std::size_t i = 0; i < 1 + random.below(10); ++i) runs[0].inputs.push_back(&inputs[50 + i]);
      for (std::size_t i = 0; i < 1 + random.below(48); ++i) runs[1].inputs.push_back(&inputs[i]);
      std::size_t sent_again = 0;
      const std::vector<std::byte> bytes = write_inputs_message({}, runs, &sent_again);
      ASSERT_LE(bytes.size(), k_longest_message);
      const std::optional<PeerMessage> message = read_message(bytes);
      ASSERT_TRUE(message);
      const auto& blocks = std::get<InputsMessage>(*message).blocks;
      ASSERT_EQ(blocks.size(), 2U);
      const std::size_t news = blocks[0].inputs.size(), skipped = runs[0].inputs.size() - news;
      EXPECT_EQ(blocks[0].first, 1000 + static_cast<Tick>(skipped));
      for (std::size_t i = 0; i < news; ++i) EXPECT_EQ(blocks[0].inputs[i], *runs[0].inputs[skipped + i]);
      EXPECT_EQ(blocks[1].first, 900);
      EXPECT_EQ(blocks[1].inputs.size(), sent_again);
      for (std::size_t i = 0; i < sent_again; ++i) EXPECT_EQ(blocks[1].inputs[i], *runs[1].inputs[i]);
      EXPECT_GE(sent_again, 1U);
      EXPECT_GE(news, 1U);
      const bool all = skipped == 0 && sent_again == runs[1].inputs.size();
      EXPECT_TRUE(all || bytes.size() > k_longest_message - 400) << bytes.size();
    }
}

// The longest message that a stranger can write of a head as short as it gets at that tick, these inputs so many ticks
// ahead, and one more with as long events as there is room for. That one, as it was read.
PeerInput longest_of(Tick tick, Tick ahead, const PeerInput* before, PeerInput last) {
  std::optional<PeerInput> longest;
  last.events.resize(2);
  for (const std::size_t first_text : {std::size_t{0}, k_longest_event})
    for (std::size_t text = 0; text <= k_longest_event; ++text) {
      last.events[0].text.assign(first_text, 'x');
      last.events[1].text.assign(text, 'x');
      InputsMessage head;
      head.timing.their_tick = head.objective = head.have = tick;
      Bytes bytes = write_inputs_message(head, {});
      bytes.back() = std::byte{1};  // number of blocks
      ByteWriter out(bytes);
      std::vector<const PeerInput*> inputs{&last};
      if (before != nullptr) inputs.insert(inputs.begin(), before);
      out.signed_varint(-ahead);
      out.varint(inputs.size());
      write_inputs(out, inputs);
      EXPECT_EQ(read_message(bytes).has_value(), bytes.size() <= k_longest_message);
      if (bytes.size() == k_longest_message)
        longest = std::get<InputsMessage>(*read_message(bytes)).blocks.at(0).inputs.back();
    }
  EXPECT_TRUE(longest);
  return longest.value_or(PeerInput{});
}

// A member that was dropped could leave an input that no other can hand on, and all would wait for it.
TEST(PeerMessageLimits, AnyInputThatCanBeReadCanBeFilledIn) {
  HandInput hand;
  hand.present = true;
  hand.action = HandInput::Action::grasp;
  hand.body = hand.buttons = 0xffffffff;
  hand.pose = {{-4094.9, -4094.9, -4094.9}, {-0.5, -0.5, -0.5, -0.5}};
  PeerInput all{MemberHands(hand), {}};
  for (std::uint8_t number = 9; number < 16; ++number) all.further.push_back({number, hand});
  static_cast<MemberHands&>(all) = sendable(all);
  const PeerInput none;
  struct Run {
    const PeerInput* before;
    const PeerInput* last;
  };
  // Alone, with all hands, and with all hands where they were in the tick before, which is then not said again.
  const Run runs[] = {{nullptr, &none}, {nullptr, &all}, {&all, &all}};
  for (const Run& run : runs)
    for (const int bits : {0, 7, 14, 21, 28, 35, 42, 47})
      for (const Tick ahead : {0, 1, 64}) {  // as far as one byte says
        const Tick tick = (Tick{1} << bits) - 1;
        const PeerInput input = longest_of(tick, ahead, run.before, *run.last);
        std::size_t written = 0;
        const Bytes fill = write_fill(3, InputRun{tick + ahead, {&input}}, &written);
        EXPECT_EQ(written, 1U) << bits << " " << ahead;
        const std::optional<PeerMessage> message = read_message(fill);
        ASSERT_TRUE(message) << bits << " " << ahead;
        EXPECT_EQ(std::get<FillMessage>(*message).block.first, tick + ahead);
        EXPECT_EQ(std::get<FillMessage>(*message).block.inputs, std::vector{input});
      }
}

TEST(PeerMessageLimits, FlagsThatMeanNothingMakeItNothing) {
  Bytes bytes = message_of(1);
  ASSERT_TRUE(read_message(bytes));
  for (const int flag : {4, 8, 16, 32, 64, 128}) {
    bytes[1] = static_cast<std::byte>(flag);
    EXPECT_FALSE(read_message(bytes)) << flag;
  }
}

}  // namespace
}  // namespace cotouch::this_file
