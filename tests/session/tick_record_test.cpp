#include <cotouch/session/tick_record.h>

#include <cotouch/base/error.h>
#include <cotouch/base/random.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace cotouch::this_file {
namespace {

HandInput random_hand(Random& random) {
  HandInput hand;
  hand.present = random.below(2) == 1;
  hand.action = static_cast<HandInput::Action>(random.below(3));
  hand.body = random.below(4) == 0 ? static_cast<std::uint32_t>(random.below(1ULL << 32U)) : 0;
  hand.buttons = random.below(4) == 0 ? static_cast<std::uint32_t>(random.below(1ULL << 32U)) : 0;
  const auto number = [&] { return (random.uniform() - 0.5) * 3; };
  hand.pose = {{number(), number(), number()}, {number(), number(), number(), number()}};
  return hand;
}

bool same_bits(const HandInput& a, const HandInput& b) {
  return a == b && std::memcmp(&a.pose, &b.pose, sizeof a.pose) == 0;
}

TEST(TickRecord, BringsBackQuantisedInputsExactlyInFewBytes) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<HandInput> inputs(random.below(17));
    for (HandInput& input : inputs)
      if (random.below(3) > 0) input = quantised(random_hand(random));
    const std::vector<std::byte> bytes = encode_tick(inputs);
    // Numbers below 1.5 have 21 bits in units of 2^-20 and a sign: four bytes each.
    EXPECT_LE(bytes.size(), 1 + 3 + inputs.size() * (1 + 5 + 5 + 7 * 4));
    std::vector<HandInput> back;
    ASSERT_TRUE(decode_tick(bytes, back));
    ASSERT_EQ(back.size(), inputs.size());
    for (std::size_t i = 0; i < back.size(); ++i) ASSERT_TRUE(same_bits(back[i], inputs[i])) << round;
  }
}

TEST(TickRecord, OfAnEmptyRoomIsTwoBytes) {
  EXPECT_EQ(encode_tick(std::vector<HandInput>(16)).size(), 2U);
}

TEST(TickRecord, BringsBackEveryOtherNumberExactlyAsWell) {
  Random random(2);
  for (const double odd : {1e-9, -0.0, 0x1p33, 1e300, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::denorm_min(), std::nan("")}) {
    HandInput input = quantised(random_hand(random));
    input.pose.position.y = odd;
    std::vector<HandInput> back;
    ASSERT_TRUE(decode_tick(encode_tick({&input, 1}), back)) << odd;
    EXPECT_EQ(std::memcmp(&back[0].pose, &input.pose, sizeof input.pose), 0) << odd;
  }
}

TEST(TickRecord, RefusesMoreThanSixteenHands) {
  EXPECT_THROW(encode_tick(std::vector<HandInput>(17)), Error);
  std::vector<HandInput> inputs;
  EXPECT_FALSE(decode_tick(std::vector<std::byte>{std::byte{17}, std::byte{0}}, inputs));
}

// Whatever the bytes are, they are refused or are just what their meaning is written as.
TEST(TickRecord, RefusesWhatItWouldNotHaveWritten) {
  Random random(3);
  std::vector<HandInput> inputs(3), back;
  for (HandInput& input : inputs) input = quantised(random_hand(random));
  const std::vector<std::byte> whole = encode_tick(inputs);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_tick(std::span(whole).first(size), back)) << size;
    EXPECT_TRUE(back.empty());
  }
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_tick(longer, back));
  int taken = 0;
  for (int round = 0; round < 50000; ++round) {
    std::vector<std::byte> bytes = whole;
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left)
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
    if (!decode_tick(bytes, back)) continue;
    ++taken;
    ASSERT_LE(back.size(), 16U);
    std::vector<HandInput> again;
    ASSERT_TRUE(decode_tick(encode_tick(back), again));
    for (std::size_t i = 0; i < back.size(); ++i)
      ASSERT_EQ(std::memcmp(&again[i].pose, &back[i].pose, sizeof(Pose)), 0);
  }
  EXPECT_GT(taken, 1000);
}

}  // namespace
}  // namespace cotouch::this_file
