#include <cotouch/session/peer_input.h>

#include <cotouch/base/trig.h>

#include <gtest/gtest.h>

#include <limits>

namespace cotouch::this_file {
namespace {

std::vector<std::byte> written(const std::vector<PeerInput>& inputs) {
  std::vector<const PeerInput*> all;
  for (const PeerInput& input : inputs) all.push_back(&input);
  std::vector<std::byte> bytes;
  ByteWriter out(bytes);
  write_inputs(out, all);
  return bytes;
}

PeerInput placed(const Vec3d& position) {
  PeerInput input;
  input.hand.present = true;
  input.hand.pose.position = position;
  input.hand = sendable(input.hand);
  return input;
}

TEST(PeerInput, OfAHandThatMovesSmoothlyTakesNineBytes) {
  std::vector<PeerInput> inputs;
  for (int tick = 0; tick < 100; ++tick) {
    const SinCos turn = sin_cos(0.01 * tick);
    inputs.push_back(placed({0.1 * turn.cos, 0.1 * turn.sin, 0.2}));
  }
  const std::vector<std::byte> bytes = written(inputs);
  EXPECT_LE(bytes.size(), 100 * 10 + 40U);
  ByteReader in(bytes);
  EXPECT_EQ(read_inputs(in, inputs.size()), inputs);
  EXPECT_TRUE(in.at_end());
}

TEST(PeerInput, OfAHandThatRestsTakesOneByte) {
  const std::vector<PeerInput> inputs(11, placed({0.1, 0.2, 0.3}));
  EXPECT_EQ(written(inputs).size(), written({inputs[0]}).size() + 10);
}

TEST(PeerInput, CarriesActionsButtonsAndEvents) {
  PeerInput input = placed({1, 2, 3});
  input.hand.action = HandInput::Action::grasp;
  input.hand.body = 70'000;
  input.hand.buttons = 5;
  input.events.push_back({SessionEvent::Kind::mark, 3, -9, 4, {1, 2, 3}, "text"});
  const std::vector<PeerInput> inputs = {input, PeerInput{}, placed({1, 2, 3.5})};
  const std::vector<std::byte> bytes = written(inputs);
  ByteReader in(bytes);
  EXPECT_EQ(read_inputs(in, 3), inputs);
}

TEST(PeerInput, OfAHandThatIsNowhereIsAbsent) {
  for (const double x : {5000.0, -1e300, std::numeric_limits<double>::quiet_NaN()}) {
    HandInput hand;
    hand.present = true;
    hand.pose.position.y = x;
    EXPECT_EQ(sendable(hand), HandInput{});
  }
}

TEST(PeerInput, BeyondWhatCanBeSentIsRefused) {
  const auto can_be_read = [](const PeerInput& input) {
    const std::vector<std::byte> bytes = written({input});
    ByteReader in(bytes);
    read_inputs(in, 1);
    return in.ok();
  };
  PeerInput input = placed({1, 2, 3});
  EXPECT_TRUE(can_be_read(input));
  input.hand.pose.position.x = 4097;
  EXPECT_FALSE(can_be_read(input));
  input.hand.pose.position.x = 0;
  input.hand.pose.rotation.w = 3;  // no part of a rotation
  EXPECT_FALSE(can_be_read(input));
  input = placed({1, 2, 3});
  input.events.assign(9, {});
  EXPECT_FALSE(can_be_read(input));
  input.events.assign(1, {});
  input.events[0].text.assign(k_longest_event + 1, 'x');
  EXPECT_FALSE(can_be_read(input));
  input.events[0].text.clear();
  input.events[0].member = k_most_members;
  EXPECT_FALSE(can_be_read(input));
  input.events[0].member = 0;
  input.events[0].point.x = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(can_be_read(input));
}

}  // namespace
}  // namespace cotouch::this_file
