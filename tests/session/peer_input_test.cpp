#include <cotouch/session/peer_input.h>

#include <cotouch/base/trig.h>

#include <gtest/gtest.h>

#include <algorithm>
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

PeerInput with_further(std::initializer_list<std::uint8_t> numbers) {
  PeerInput input = placed({1, 2, 3});
  for (const std::uint8_t number : numbers) input.further.push_back({number, placed({0.1 * number, 2, 3}).hand});
  return input;
}

TEST(PeerInput, CarriesAllHandsOfAMember) {
  std::vector<PeerInput> inputs = {with_further({2, 14}), with_further({14, 15}), {}, with_further({2, 15})};
  inputs[1].further[0].hand.action = HandInput::Action::grasp;
  inputs[1].further[0].hand.body = 70'000;
  inputs[2].events.assign(2, {});
  const std::vector<std::byte> bytes = written(inputs);
  ByteReader in(bytes);
  EXPECT_EQ(read_inputs(in, inputs.size()), inputs);
  EXPECT_TRUE(in.at_end());
  // One that rests takes a byte beside its number.
  const std::vector<PeerInput> resting(11, with_further({15}));
  EXPECT_EQ(written(resting).size(), written({resting[0]}).size() + std::size_t{10 * 4});
}

TEST(PeerInput, ActionsGoToTheHandsThatDidThem) {
  MemberHands earlier = with_further({3, 9}), newest = with_further({9, 12});
  earlier.further[1].hand.action = HandInput::Action::grasp;
  earlier.further[1].hand.body = 7;
  newest.take_actions(earlier);
  EXPECT_EQ(newest.further[0].hand.action, HandInput::Action::grasp);
  EXPECT_EQ(newest.further[0].hand.body, 7U);
  EXPECT_EQ(newest.further[1].hand.action, HandInput::Action::none);
  EXPECT_EQ(newest.hand.action, HandInput::Action::none);
  newest.forget_actions();
  EXPECT_EQ(newest, MemberHands(with_further({9, 12})));
}

TEST(PeerInput, OfHandsThatCannotBeIsRefused) {
  const auto can_be_read = [](const PeerInput& input) {
    const std::vector<std::byte> bytes = written({input});
    ByteReader in(bytes);
    read_inputs(in, 1);
    return in.ok();
  };
  EXPECT_TRUE(can_be_read(with_further({0, 1, 2, 3, 4, 5, 15})));
  EXPECT_FALSE(can_be_read(with_further({0, 1, 2, 3, 4, 5, 14, 15})));
  EXPECT_FALSE(can_be_read(with_further({3, 3})));
  EXPECT_FALSE(can_be_read(with_further({3, 2})));
  PeerInput absent = with_further({3});
  absent.further[0].hand = {};
  EXPECT_FALSE(can_be_read(absent));
  std::vector<std::byte> bytes = written({with_further({11})});
  const auto number = std::find(bytes.begin(), bytes.end(), std::byte{11});
  for (const unsigned wrong : {16U, 200U}) {
    *number = std::byte(wrong);
    ByteReader in(bytes);
    read_inputs(in, 1);
    EXPECT_FALSE(in.ok()) << wrong;
  }
  // What goes out has none of these.
  MemberHands hands = with_further({5, 5, 4, 6, 7, 8, 9, 10, 11, 12});
  hands.further[3].hand.pose.position.x = 1e9;
  const MemberHands sent = sendable(hands);
  std::vector<int> numbers;
  for (const FurtherHand& further : sent.further) numbers.push_back(further.number);
  EXPECT_EQ(numbers, (std::vector<int>{5, 7, 8, 9, 10, 11, 12}));
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
