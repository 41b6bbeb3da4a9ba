// Every byte against docs/viewer-protocol.md, laid out by hand.
#include <cotouch/serve/wire.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace cotouch {
namespace {

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

StateFrame one_hand() {
  StateFrame frame;
  frame.sequence = 7;
  frame.generation = 3;
  frame.time = 1.5;
  frame.running = frame.recording = true;
  frame.viewers = 2;
  frame.cycle_median_us = 40;
  frame.cycle_longest_us = 90;
  frame.cycles = 1500;
  frame.missed = 4;
  frame.clearance = 0.25F;
  HandState hand;
  hand.force_limited = hand.detail_limited = true;
  hand.level = 5;
  hand.part = 9;
  hand.hand = {{1, 2, 3}, {0.5, 0.5, 0.5, 0.5}};
  hand.object = {{4, 5, 6}, {1, 0, 0, 0}};
  hand.felt = {{7, 8, 9}, {10, 11, 12}};
  hand.visited = 100;
  hand.in_contact = 20;
  hand.deepest = 0.5F;
  hand.input_sequence = 77;
  frame.hands = {hand};
  frame.contacts = {{{1, 0, 0}, 0.125F}};
  frame.traversed = {{{0, 1, 0}, 2}, {{0, 0, 1}, 3}};
  return frame;
}

TEST(Wire, StateFrameHasTheLayoutOfTheSpecification) {
  const EncodedState encoded = encode_state(one_hand(), true);
  const std::string bytes = encoded.head + *encoded.points;
  ASSERT_EQ(bytes.size(), 64U + 104 + 16 + 32);
  EXPECT_EQ(bytes.substr(0, 2), "CT");
  EXPECT_EQ(at<std::uint8_t>(bytes, 2), 1);
  EXPECT_EQ(at<std::uint8_t>(bytes, 3), 1);
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), bytes.size());
  EXPECT_EQ(at<std::uint32_t>(bytes, 8), 7U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 12), 3U);
  EXPECT_EQ(at<double>(bytes, 16), 1.5);
  EXPECT_EQ(at<std::uint32_t>(bytes, 24), 3U);  // running, recording
  EXPECT_EQ(at<std::uint8_t>(bytes, 28), 1);
  EXPECT_EQ(at<std::uint8_t>(bytes, 29), 0);
  EXPECT_EQ(at<std::uint16_t>(bytes, 30), 2);
  EXPECT_EQ(at<float>(bytes, 32), 40.0F);
  EXPECT_EQ(at<float>(bytes, 36), 90.0F);
  EXPECT_EQ(at<std::uint32_t>(bytes, 40), 1500U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 44), 4U);
  EXPECT_EQ(at<float>(bytes, 48), 0.25F);
  EXPECT_EQ(at<std::uint32_t>(bytes, 52), 1U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 56), 2U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 60), 0U);
  const std::size_t hand = 64;
  EXPECT_EQ(at<std::uint8_t>(bytes, hand), 0);
  EXPECT_EQ(at<std::uint8_t>(bytes, hand + 1), 0);
  EXPECT_EQ(at<std::uint8_t>(bytes, hand + 2), 3);  // force and detail limited
  EXPECT_EQ(at<std::uint8_t>(bytes, hand + 3), 5);
  EXPECT_EQ(at<std::uint32_t>(bytes, hand + 4), 9U);
  EXPECT_EQ(at<float>(bytes, hand + 8 + 8), 3.0F);
  EXPECT_EQ(at<float>(bytes, hand + 20), 0.5F);
  EXPECT_EQ(at<float>(bytes, hand + 36), 4.0F);
  EXPECT_EQ(at<float>(bytes, hand + 48), 1.0F);
  EXPECT_EQ(at<float>(bytes, hand + 64), 7.0F);
  EXPECT_EQ(at<float>(bytes, hand + 76 + 8), 12.0F);
  EXPECT_EQ(at<std::uint32_t>(bytes, hand + 88), 100U);
  EXPECT_EQ(at<std::uint32_t>(bytes, hand + 92), 20U);
  EXPECT_EQ(at<float>(bytes, hand + 96), 0.5F);
  EXPECT_EQ(at<std::uint32_t>(bytes, hand + 100), 77U);
  EXPECT_EQ(at<float>(bytes, 168), 1.0F);
  EXPECT_EQ(at<float>(bytes, 168 + 12), 0.125F);
  EXPECT_EQ(at<float>(bytes, 184 + 12), 2.0F);
}

TEST(Wire, WithoutTraversedPointsTheLengthSaysSo) {
  const EncodedState encoded = encode_state(one_hand(), false);
  EXPECT_EQ(encoded.head.size() + encoded.points->size(), 64U + 104 + 16);
  EXPECT_EQ(at<std::uint32_t>(encoded.head, 4), 64U + 104 + 16);
  EXPECT_EQ(at<std::uint32_t>(encoded.head, 56), 0U);
}

TEST(Wire, WhatIsBeyondTheLimitsIsCutAndFlagged) {
  StateFrame frame = one_hand();
  frame.contacts.resize(k_max_contacts_sent + 1);
  frame.traversed.resize(k_max_traversed_sent + 1);
  const EncodedState encoded = encode_state(frame, true);
  EXPECT_EQ(at<std::uint32_t>(encoded.head, 52), k_max_contacts_sent);
  EXPECT_EQ(at<std::uint32_t>(encoded.head, 56), k_max_traversed_sent);
  EXPECT_EQ(at<std::uint32_t>(encoded.head, 24), 3U + 16 + 32);
  EXPECT_EQ(encoded.points->size(), 16 * (k_max_contacts_sent + k_max_traversed_sent));
}

TEST(Wire, PatchesReachTheirPlaces) {
  EncodedState encoded = encode_state(one_hand(), false);
  set_frames_left_out(encoded.head, 12);
  set_holder(encoded.head, 0, Holder::other_viewer);
  EXPECT_EQ(at<std::uint32_t>(encoded.head, 60), 12U);
  EXPECT_EQ(at<std::uint8_t>(encoded.head, 65), 2);
}

TEST(Wire, NearFrameHasTheLayoutOfTheSpecification) {
  const std::vector<std::uint8_t> values{0, 128, 255};
  const std::string bytes = encode_near(4, 3, 2, 0.5F, values);
  ASSERT_EQ(bytes.size(), 35U);
  EXPECT_EQ(at<std::uint8_t>(bytes, 3), 2);
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), 35U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 8), 4U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 12), 3U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 16), 2U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 20), 3U);
  EXPECT_EQ(at<float>(bytes, 24), 0.5F);
  EXPECT_EQ(at<std::uint32_t>(bytes, 28), 0U);
  EXPECT_EQ(at<std::uint8_t>(bytes, 33), 128);
}

TEST(Wire, MeshHasTheLayoutOfTheSpecification) {
  TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}};
  mesh.triangles = {{0, 1, 2}};
  const std::string bytes = encode_mesh(mesh, 6);
  ASSERT_EQ(bytes.size(), 16U + 36 + 12);
  EXPECT_EQ(bytes.substr(0, 4), "CTM1");
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), 3U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 8), 1U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 12), 6U);
  EXPECT_EQ(at<float>(bytes, 16 + 24 + 4), 2.0F);
  EXPECT_EQ(at<std::uint32_t>(bytes, 16 + 36 + 8), 2U);
}

std::string hand_input() {
  std::string bytes = "CT";
  bytes += '\x01';
  bytes += '\x10';
  const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(std::uint32_t{48});
  put(std::uint32_t{5});
  put(std::uint32_t{3});
  bytes += std::string("\0\1\0\0", 4);
  for (const float f : {0.1F, 0.2F, 0.3F, 1.005F, 0.0F, 0.0F, 0.0F}) put(f);
  return bytes;
}

TEST(Wire, HandInputIsRead) {
  const DecodedInput decoded = decode_input(hand_input());
  ASSERT_TRUE(decoded.broken_rule.empty());
  ASSERT_TRUE(decoded.known);
  EXPECT_EQ(decoded.input.sequence, 5U);
  EXPECT_EQ(decoded.input.generation, 3U);
  EXPECT_EQ(decoded.input.hand, 0);
  EXPECT_EQ(decoded.input.buttons, 1);
  EXPECT_FLOAT_EQ(static_cast<float>(decoded.input.pose.position.y), 0.2F);
  EXPECT_EQ(decoded.input.pose.rotation.w, 1.0);  // made a unit quaternion
}

TEST(Wire, GarbageInputsAreRefusedWithTheRuleTheyBreak) {
  const auto broken = [](std::size_t offset, const std::string& with) {
    std::string bytes = hand_input();
    bytes.replace(offset, with.size(), with);
    return !decode_input(bytes).broken_rule.empty();
  };
  EXPECT_TRUE(broken(0, "XT"));
  EXPECT_TRUE(broken(2, "\x02"));
  EXPECT_TRUE(broken(4, "\x31"));
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(broken(20, {reinterpret_cast<const char*>(&nan), 4}));
  EXPECT_TRUE(broken(36, {reinterpret_cast<const char*>(&infinite), 4}));
  const float long_one = 1.02F;
  EXPECT_TRUE(broken(32, {reinterpret_cast<const char*>(&long_one), 4}));
  for (std::size_t length = 0; length < 48; ++length)
    EXPECT_FALSE(decode_input(hand_input().substr(0, length)).broken_rule.empty());
  EXPECT_FALSE(decode_input(hand_input() + "x").broken_rule.empty());
}

TEST(Wire, TypesOfALaterVersionAreIgnored) {
  std::string bytes = hand_input();
  bytes[3] = 99;
  const DecodedInput decoded = decode_input(bytes);
  EXPECT_TRUE(decoded.broken_rule.empty());
  EXPECT_FALSE(decoded.known);
}

}  // namespace
}  // namespace cotouch
