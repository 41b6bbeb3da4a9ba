#include <cotouch/session/peer_message.h>

#include <gtest/gtest.h>

#include <cstring>

namespace cotouch::this_file {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> numbers) {
  Bytes bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

PeerInput at(double x) {
  PeerInput input;
  input.hand.present = true;
  input.hand.pose.position.x = x;
  return input;
}

Bytes inputs_message() {
  static const PeerInput k_inputs[] = {at(0.5), at(0.75)};
  InputsMessage head;
  head.timing = {0x0201, 0x06050403, true, 0x0a090807, 300, 11, 1000};
  head.objective = 990;
  head.have = 1001;
  head.decided = {3, 1};
  head.hash = StateHash{960, 0x1122334455667788};
  InputRun run;
  run.first = 998;
  run.inputs = {&k_inputs[0], &k_inputs[1]};
  return write_inputs_message(head, std::span(&run, 1));
}

TEST(PeerMessage, IsWrittenAsTheProtocolSays) {
  // docs/protocol.md, part 3: varints have seven bits a byte, the lowest first; 300 is ac 02.
  EXPECT_EQ(write_message(WantMessage{1, 300}), bytes_of({5, 1, 0xac, 0x02}));
  EXPECT_EQ(write_message(DecideMessage{{2, 1}, {{3, 300, true}, {4, 5, false}}}),
            bytes_of({4, 2, 1, 2, 0x83, 0xac, 0x02, 4, 5}));
  EXPECT_EQ(write_message(DecideMessage{{2, 1}, {{4, 5, true}}, 0x0102}),
            bytes_of({4, 2, 1, 1, 0x84, 5, 2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(write_message(ProbeMessage{{2, 1}, {true, 3, 0, ""}}), bytes_of({7, 2, 1, 0x83, 0, 0}));
  EXPECT_EQ(write_message(ProbeMessage{{2, 1}, {false, 3, 0, "ab"}}), bytes_of({7, 2, 1, 3, 0, 2, 'a', 'b'}));
  // Head of the inputs: flags, sequence, stamp, echo, held, loss, tick, 10 before it, 1 after it, ballot, 40 before it.
  const Bytes head = bytes_of({1,    3,    1,  2, 3, 4, 5,  6,    7,    8,    9,    10,   0xac, 0x02, 11,
                               0xe8, 0x07, 20, 1, 3, 1, 80, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11});
  const Bytes written = inputs_message();
  ASSERT_GT(written.size(), head.size());
  EXPECT_EQ(Bytes(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(head.size())), head);
}

TEST(PeerMessage, IsReadAsItWasWritten) {
  const std::optional<PeerMessage> message = read_message(inputs_message());
  ASSERT_TRUE(message);
  const auto* inputs = std::get_if<InputsMessage>(&*message);
  ASSERT_NE(inputs, nullptr);
  EXPECT_EQ(inputs->timing.their_tick, 1000);
  EXPECT_EQ(inputs->objective, 990);
  EXPECT_EQ(inputs->have, 1001);
  EXPECT_EQ(inputs->hash->tick, 960);
  ASSERT_EQ(inputs->blocks.size(), 1U);
  EXPECT_EQ(inputs->blocks[0].first, 998);
  EXPECT_EQ(inputs->blocks[0].inputs, (std::vector<PeerInput>{at(0.5), at(0.75)}));
}

TEST(PeerMessage, IsNothingIfItIsCutOffOrLongerThanItSays) {
  const PeerInput input = at(0.25);
  InputRun run;
  run.first = 7;
  run.inputs = {&input};
  for (const Bytes& whole :
       {inputs_message(), write_fill(2, run), write_message(ProposeMessage{{2, 1}, {{3, 300, true}}}),
        write_message(ProbeMessage{{2, 1}, {false, 3, 0, "ab"}}), write_message(ViewMessage{9, 2, {}})}) {
    ASSERT_TRUE(read_message(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_message(std::span(whole).first(size)));
    Bytes longer = whole;
    longer.push_back({});
    EXPECT_FALSE(read_message(longer));
  }
}

TEST(PeerMessage, OfNumbersThatCannotBeIsNothing) {
  EXPECT_FALSE(read_message(bytes_of({5, 20, 1})));                                      // member 20
  EXPECT_FALSE(read_message(bytes_of({4, 2, 1, 1, 0x94, 1})));                           // end of member 20
  EXPECT_FALSE(read_message(bytes_of({5, 1, 255, 255, 255, 255, 255, 255, 255, 127})));  // a tick beyond 2^48
  EXPECT_FALSE(read_message(write_message(ProbeMessage{{2, 1}, {false, 21, 0, ""}})));   // a session of 21
  EXPECT_TRUE(read_message(write_message(ProbeMessage{{2, 1}, {false, 20, 0, ""}})));
  EXPECT_FALSE(read_message(bytes_of({4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})));  // branch 0
  EXPECT_TRUE(read_message(bytes_of({4, 2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0})));
  EXPECT_FALSE(read_message(bytes_of({9})));
  EXPECT_FALSE(read_message(Bytes{}));
}

TEST(PeerMessage, OfAViewThatIsNowhereIsNothing) {
  ViewMessage view;
  EXPECT_TRUE(read_message(write_message(view)));
  view.pose.position.x = 1e300;  // its distance would not be a number
  EXPECT_FALSE(read_message(write_message(view)));
  view.pose.position.x = 0;
  view.pose.rotation.w = 3;
  EXPECT_FALSE(read_message(write_message(view)));
}

TEST(PeerMessage, IsNeverLongerThanADatagramCarries) {
  PeerInput loud = at(0);
  loud.events.assign(4, {});
  for (SessionEvent& event : loud.events) event.text.assign(150, 'x');
  InputRun run;
  run.inputs.assign(200, &loud);
  const InputRun runs[] = {run, run};
  const Bytes written = write_inputs_message({}, runs);
  EXPECT_LE(written.size(), k_longest_message);
  EXPECT_TRUE(read_message(written));
}

}  // namespace
}  // namespace cotouch::this_file
