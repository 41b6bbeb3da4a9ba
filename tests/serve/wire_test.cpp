// Every byte against docs/viewer-protocol.md, laid out by hand.
#include <cotouch/serve/wire.h>
#include <cotouch/serve/wire_layout.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace cotouch::this_file {
namespace {

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

constexpr FrameStamp k_stamp{.sequence = 7, .viewers = 2};

SessionView one_of_each() {
  SessionView view;
  view.generation = 3;
  view.time = 1.5;
  view.running = view.recording = true;
  view.cycle_median_us = 40;
  view.cycle_longest_us = 90;
  view.cycles = 1500;
  view.missed = 4;
  view.stalls = 6;
  view.contact.clearance = 0.25F;
  view.visited = 200;
  view.in_contact = 30;
  HandView hand;
  hand.id = HandId{6};
  hand.holder = ParticipantId{11};
  hand.holder_kind = ParticipantKind::program;
  hand.force_limited = hand.detail_limited = true;
  hand.level = 5;
  hand.body = 9;
  hand.pose = {{1, 2, 3}, {0.5, 0.5, 0.5, 0.5}};
  hand.grip = {{4, 5, 6}, {1, 0, 0, 0}};
  hand.felt = {{7, 8, 9}, {10, 11, 12}};
  hand.visited = 100;
  hand.in_contact = 20;
  hand.deepest = 0.5F;
  hand.input_sequence = 77;
  view.hands = {hand};
  BodyView body;
  body.id = 9;
  body.held = body.resting = true;
  body.pose = {{-1, -2, -3}, {0, 1, 0, 0}};
  body.speed = 0.75F;
  view.bodies = {body};
  TaskView task;
  task.state = TaskView::State::running;
  task.body = 9;
  task.position_error = 0.01F;
  task.angle_error = 0.02F;
  task.position_tolerance = 0.04F;
  task.angle_tolerance = 0.125F;
  task.seconds = 12;
  task.target = {{3, 2, 1}, {0, 0, 0, 1}};
  view.task = task;
  view.contact.contacts = {{{1, 0, 0}, 0.125F}};
  view.contact.traversed = {{{0, 1, 0}, 2}, {{0, 0, 1}, 3}};
  return view;
}

std::string whole(const EncodedState& encoded) {
  return encoded.head + *encoded.rest;
}

void expect_section(const std::string& bytes, std::size_t offset, int type, int entry_bytes, std::uint32_t count) {
  EXPECT_EQ(at<std::uint16_t>(bytes, offset), type) << offset;
  EXPECT_EQ(at<std::uint16_t>(bytes, offset + 2), entry_bytes) << offset;
  EXPECT_EQ(at<std::uint32_t>(bytes, offset + 4), count) << offset;
}

// head 16; clock 8 + 52; hands 8 + 112; bodies 8 + 40; task 8 + 56; contacts 8 + 16; traversed 8 + 32
constexpr std::size_t k_clock = 24, k_hands = 84, k_bodies = 204, k_task = 252, k_contacts = 316, k_traversed = 340;

TEST(Wire, StateFrameHasTheLayoutOfTheSpecification) {
  const std::string bytes = whole(encode_state(one_of_each(), k_stamp, true));
  ASSERT_EQ(bytes.size(), 372U);
  EXPECT_EQ(bytes.substr(0, 2), "CT");
  EXPECT_EQ(at<std::uint8_t>(bytes, 2), 2);
  EXPECT_EQ(at<std::uint8_t>(bytes, 3), 1);
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), bytes.size());
  EXPECT_EQ(at<std::uint32_t>(bytes, 8), 7U);
  EXPECT_EQ(at<std::uint32_t>(bytes, 12), 3U);

  expect_section(bytes, 16, 1, 52, 1);
  EXPECT_EQ(at<double>(bytes, k_clock), 1.5);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 8), 3U);  // running, recording
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 12), 2U);
  EXPECT_EQ(at<float>(bytes, k_clock + 16), 40.0F);
  EXPECT_EQ(at<float>(bytes, k_clock + 20), 90.0F);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 24), 1500U);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 28), 4U);
  EXPECT_EQ(at<float>(bytes, k_clock + 32), 0.25F);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 36), 0U);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 40), 200U);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 44), 30U);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 48), 6U);

  expect_section(bytes, k_hands - 8, 2, 112, 1);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_hands), 6U);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_hands + 4), 11U);
  EXPECT_EQ(at<std::uint8_t>(bytes, k_hands + 8), 3);  // a script
  EXPECT_EQ(at<std::uint8_t>(bytes, k_hands + 9), 3);  // force and detail limited
  EXPECT_EQ(at<std::uint8_t>(bytes, k_hands + 10), 5);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_hands + 12), 9U);
  EXPECT_EQ(at<float>(bytes, k_hands + 16 + 8), 3.0F);
  EXPECT_EQ(at<float>(bytes, k_hands + 28), 0.5F);
  EXPECT_EQ(at<float>(bytes, k_hands + 44), 4.0F);
  EXPECT_EQ(at<float>(bytes, k_hands + 56), 1.0F);
  EXPECT_EQ(at<float>(bytes, k_hands + 72), 7.0F);
  EXPECT_EQ(at<float>(bytes, k_hands + 84 + 8), 12.0F);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_hands + 96), 100U);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_hands + 100), 20U);
  EXPECT_EQ(at<float>(bytes, k_hands + 104), 0.5F);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_hands + 108), 77U);

  expect_section(bytes, k_bodies - 8, 3, 40, 1);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_bodies), 9U);
  EXPECT_EQ(at<std::uint8_t>(bytes, k_bodies + 4), 2);  // free
  EXPECT_EQ(at<std::uint8_t>(bytes, k_bodies + 5), 5);  // held, at rest
  EXPECT_EQ(at<float>(bytes, k_bodies + 8), -1.0F);
  EXPECT_EQ(at<float>(bytes, k_bodies + 20 + 4), 1.0F);
  EXPECT_EQ(at<float>(bytes, k_bodies + 36), 0.75F);

  expect_section(bytes, k_task - 8, 6, 56, 1);
  EXPECT_EQ(at<std::uint8_t>(bytes, k_task), 2);  // running
  EXPECT_EQ(at<std::uint32_t>(bytes, k_task + 4), 9U);
  EXPECT_EQ(at<float>(bytes, k_task + 8), 0.01F);
  EXPECT_EQ(at<float>(bytes, k_task + 12), 0.02F);
  EXPECT_EQ(at<float>(bytes, k_task + 16), 0.04F);
  EXPECT_EQ(at<float>(bytes, k_task + 20), 0.125F);
  EXPECT_EQ(at<float>(bytes, k_task + 24), 12.0F);
  EXPECT_EQ(at<float>(bytes, k_task + 28), 3.0F);
  EXPECT_EQ(at<float>(bytes, k_task + 52), 1.0F);

  expect_section(bytes, k_contacts - 8, 4, 16, 1);
  EXPECT_EQ(at<float>(bytes, k_contacts), 1.0F);
  EXPECT_EQ(at<float>(bytes, k_contacts + 12), 0.125F);
  expect_section(bytes, k_traversed - 8, 5, 16, 2);
  EXPECT_EQ(at<float>(bytes, k_traversed + 12), 2.0F);
  EXPECT_EQ(at<float>(bytes, k_traversed + 16 + 12), 3.0F);
}

TEST(Wire, WhatIsReadBackIsWhatWasWritten) {
  const std::string bytes = whole(encode_state(one_of_each(), k_stamp, true));
  wire::HandEntry hand;
  wire::get(bytes, k_hands, hand);
  EXPECT_EQ(hand.pose, one_of_each().hands[0].pose);
  EXPECT_EQ(hand.torque, (Vec3d{10, 11, 12}));
  std::string again;
  wire::put(again, hand);
  EXPECT_EQ(again, bytes.substr(k_hands, 112));
  wire::TaskEntry task;
  wire::get(bytes, k_task, task);
  again.clear();
  wire::put(again, task);
  EXPECT_EQ(again, bytes.substr(k_task, 56));
}

TEST(Wire, WhoHoldsAHandIsToldByTheirKind) {
  const auto holder = [](ParticipantId who, ParticipantKind kind) {
    SessionView view = one_of_each();
    view.hands[0].holder = who;
    view.hands[0].holder_kind = kind;
    return at<std::uint8_t>(whole(encode_state(view, k_stamp, false)), k_hands + 8);
  };
  EXPECT_EQ(holder(ParticipantId::nobody, ParticipantKind::page), 0);
  EXPECT_EQ(holder(ParticipantId{1}, ParticipantKind::page), 1);
  EXPECT_EQ(holder(ParticipantId{1}, ParticipantKind::peer), 1);
  EXPECT_EQ(holder(ParticipantId{1}, ParticipantKind::device), 2);
  EXPECT_EQ(holder(ParticipantId{1}, ParticipantKind::program), 3);
}

TEST(Wire, EmptySectionsAreLeftOut) {
  const SessionView empty;
  EXPECT_EQ(whole(encode_state(empty, k_stamp, true)).size(), 16U + 8 + 52);
  const std::string bytes = whole(encode_state(one_of_each(), k_stamp, false));
  EXPECT_EQ(bytes.size(), k_traversed - 8);
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), bytes.size());
  SessionView no_task = one_of_each();
  no_task.task.reset();
  EXPECT_EQ(whole(encode_state(no_task, k_stamp, false)).size(), state_bytes(1, 1, 1));
  EXPECT_EQ(bytes.size(), state_bytes(1, 1, 1) + task_bytes());
}

TEST(Wire, WhatIsBeyondTheLimitsIsCutAndFlagged) {
  SessionView frame = one_of_each();
  frame.contact.contacts.resize(k_max_contacts_sent + 1);
  frame.contact.traversed.resize(k_max_traversed_sent + 1);
  const std::string bytes = whole(encode_state(frame, k_stamp, true));
  expect_section(bytes, k_contacts - 8, 4, 16, k_max_contacts_sent);
  expect_section(bytes, k_contacts + 16 * k_max_contacts_sent, 5, 16, k_max_traversed_sent);
  EXPECT_EQ(at<std::uint32_t>(bytes, k_clock + 8), 3U + 16 + 32);
  EXPECT_EQ(bytes.size(), k_contacts + 16 * (k_max_contacts_sent + k_max_traversed_sent) + 8);
}

TEST(Wire, FramesLeftOutReachTheirPlace) {
  EncodedState encoded = encode_state(one_of_each(), k_stamp, false);
  set_frames_left_out(encoded.head, 12);
  EXPECT_EQ(at<std::uint32_t>(encoded.head, k_clock + 36), 12U);
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

TEST(Wire, RecordingHeadHasTheLayoutOfTheSpecification) {
  const std::string bytes = encode_recording_head(5, 2.5);
  ASSERT_EQ(bytes.size(), 16U);
  EXPECT_EQ(bytes.substr(0, 4), "CTR1");
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), 5U);
  EXPECT_EQ(at<double>(bytes, 8), 2.5);
}

std::string hand_input() {
  std::string bytes = "CT";
  bytes += '\x02';
  bytes += '\x10';
  const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(std::uint32_t{52});
  put(std::uint32_t{5});
  put(std::uint32_t{3});
  put(std::uint32_t{258});
  bytes += std::string("\1\0\0\0", 4);
  for (const float f : {0.1F, 0.2F, 0.3F, 1.005F, 0.0F, 0.0F, 0.0F}) put(f);
  return bytes;
}

std::string with_length(std::string bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(bytes.data() + 4, &length, sizeof length);
  return bytes;
}

TEST(Wire, HandInputIsRead) {
  const DecodedInput decoded = decode_input(hand_input());
  ASSERT_TRUE(decoded.broken_rule.empty());
  ASSERT_TRUE(decoded.known);
  EXPECT_EQ(decoded.input.sequence, 5U);
  EXPECT_EQ(decoded.input.generation, 3U);
  EXPECT_EQ(decoded.input.hand, HandId{258});
  EXPECT_EQ(decoded.input.buttons, 1);
  EXPECT_FLOAT_EQ(static_cast<float>(decoded.input.pose.position.y), 0.2F);
  EXPECT_EQ(decoded.input.pose.rotation.w, 1.0);  // made a unit quaternion
}

TEST(Wire, ALongerHandInputIsReadAsFarAsItIsKnown) {
  const DecodedInput decoded = decode_input(with_length(hand_input() + std::string(100, '\xff')));
  ASSERT_TRUE(decoded.broken_rule.empty());
  ASSERT_TRUE(decoded.known);
  EXPECT_EQ(decoded.input.hand, HandId{258});
  EXPECT_TRUE(decode_input(with_length(hand_input() + std::string(4096 - 52, 'x'))).known);
  EXPECT_FALSE(decode_input(with_length(hand_input() + std::string(4097 - 52, 'x'))).broken_rule.empty());
}

TEST(Wire, GarbageInputsAreRefusedWithTheRuleTheyBreak) {
  const auto broken = [](std::size_t offset, const std::string& with) {
    std::string bytes = hand_input();
    bytes.replace(offset, with.size(), with);
    return !decode_input(bytes).broken_rule.empty();
  };
  EXPECT_TRUE(broken(0, "XT"));
  EXPECT_TRUE(broken(2, "\x01"));
  EXPECT_TRUE(broken(2, "\x03"));
  EXPECT_TRUE(broken(4, "\x33"));
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(broken(24, {reinterpret_cast<const char*>(&nan), 4}));
  EXPECT_TRUE(broken(40, {reinterpret_cast<const char*>(&infinite), 4}));
  const float long_one = 1.02F;
  EXPECT_TRUE(broken(36, {reinterpret_cast<const char*>(&long_one), 4}));
  for (std::size_t length = 0; length < 52; ++length) {
    EXPECT_FALSE(decode_input(hand_input().substr(0, length)).broken_rule.empty()) << length;
    const std::string cut = with_length(hand_input().substr(0, std::max<std::size_t>(length, 8)));
    EXPECT_FALSE(decode_input(cut).broken_rule.empty()) << length;
  }
  EXPECT_FALSE(decode_input(hand_input() + "x").broken_rule.empty());
}

TEST(Wire, TypesOfALaterVersionAreIgnoredWhateverTheirLength) {
  for (const std::size_t length : {std::size_t{16}, std::size_t{17}, std::size_t{52}, std::size_t{4096}}) {
    std::string bytes = with_length(hand_input().substr(0, 16) + std::string(length - 16, 'x'));
    bytes[3] = 99;
    const DecodedInput decoded = decode_input(bytes);
    EXPECT_TRUE(decoded.broken_rule.empty()) << length;
    EXPECT_FALSE(decoded.known);
  }
}

TEST(Wire, TellsHowBodiesAreBent) {
  SessionView view;
  const std::size_t plain = whole(encode_state(view, k_stamp, false)).size();
  view.bending = {{9, {0.5F, -2}}, {4, {}}, {7, {3}}};
  const std::string bytes = whole(encode_state(view, k_stamp, false));
  ASSERT_EQ(bytes.size(), plain + 8 + 3 * 8 + 8 + 3 * 4);
  EXPECT_EQ(at<std::uint32_t>(bytes, 4), bytes.size());
  EXPECT_EQ(bending_bytes(3, 3), 8 + 3 * 8 + 8 + 3 * 4U);
  expect_section(bytes, plain, 7, 8, 3);
  EXPECT_EQ(at<std::uint32_t>(bytes, plain + 8), 9U);
  EXPECT_EQ(at<std::uint32_t>(bytes, plain + 12), 2U);
  EXPECT_EQ(at<std::uint32_t>(bytes, plain + 16), 4U);
  EXPECT_EQ(at<std::uint32_t>(bytes, plain + 20), 0U);
  EXPECT_EQ(at<std::uint32_t>(bytes, plain + 24), 7U);
  expect_section(bytes, plain + 32, 8, 4, 3);
  EXPECT_EQ(at<float>(bytes, plain + 40), 0.5F);
  EXPECT_EQ(at<float>(bytes, plain + 44), -2.0F);
  EXPECT_EQ(at<float>(bytes, plain + 48), 3.0F);
}

}  // namespace
}  // namespace cotouch::this_file
