#include <cotouch/session/peer_input.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_farthest = 4096;       // metres that a hand may be from the origin
constexpr double k_largest_part = 2;      // of a quaternion
constexpr std::size_t k_most_events = 8;  // of one tick

// A pose in units of 2^-20: whole numbers, so that differences are exact.
using Steps = std::array<std::int64_t, 7>;
constexpr std::int64_t k_most_steps = static_cast<std::int64_t>(k_farthest) << 20;
constexpr std::int64_t k_most_turned = static_cast<std::int64_t>(k_largest_part) << 20;

Steps steps_of(const Pose& pose) {
  const double numbers[7] = {pose.position.x, pose.position.y, pose.position.z, pose.rotation.w,
                             pose.rotation.x, pose.rotation.y, pose.rotation.z};
  Steps steps;
  for (std::size_t i = 0; i < 7; ++i) steps[i] = static_cast<std::int64_t>(numbers[i] * 0x1p20);
  return steps;
}

Pose pose_of(const Steps& steps) {
  const auto number = [&](std::size_t i) { return static_cast<double>(steps[i]) * 0x1p-20; };
  return {{number(0), number(1), number(2)}, {number(3), number(4), number(5), number(6)}};
}

// What a hand's next pose is taken to be: the same speed as before.
struct Trend {
  Steps last{}, before{};
  int known = 0;

  std::int64_t guess(std::size_t i) const { return known == 0 ? 0 : known == 1 ? last[i] : 2 * last[i] - before[i]; }
  void follow(const Steps& steps) {
    before = last;
    last = steps;
    known = std::min(known + 1, 2);
  }
};

// How each of a member's hands goes on: that of its own number, and others by theirs.
struct Trends {
  Trend own;
  std::array<Trend, k_shared_hands> further;
};

enum Flags : std::uint8_t {
  k_present = 1,
  k_action_shift = 1,  // two bits
  k_still = 8,         // the pose is the one before
  k_buttons = 16,
  k_events = 32,
  k_further = 64,
};
constexpr unsigned k_of_a_hand = 32;  // flags below this one

void write_event(ByteWriter& out, const SessionEvent& event) {
  out.number(event.kind);
  out.number(event.member);
  out.signed_varint(event.number);
  out.varint(event.body);
  out.number(event.point.x), out.number(event.point.y), out.number(event.point.z);
  out.text(event.text);
}

SessionEvent read_event(ByteReader& in) {
  SessionEvent event;
  const auto kind = in.number<std::uint8_t>();
  if (kind > static_cast<std::uint8_t>(SessionEvent::k_last_kind)) in.fail();
  event.kind = static_cast<SessionEvent::Kind>(kind);
  event.member = in.number<std::uint8_t>();
  if (event.member >= k_most_members) in.fail();
  event.number = in.signed_varint();
  event.body = static_cast<std::uint32_t>(in.varint(0xffffffff));
  event.point = {in.number<float>(), in.number<float>(), in.number<float>()};
  if (!(std::isfinite(event.point.x) && std::isfinite(event.point.y) && std::isfinite(event.point.z))) in.fail();
  event.text = in.text(k_longest_event);
  return event;
}

void write_hand(ByteWriter& out, const HandInput& hand, Trend& trend, unsigned more_flags) {
  const Steps steps = steps_of(hand.pose);
  const bool still = hand.present && trend.known > 0 && steps == trend.last;
  unsigned flags = more_flags | static_cast<unsigned>(hand.action) << k_action_shift;
  if (hand.present) flags |= k_present;
  if (still) flags |= k_still;
  if (hand.buttons != 0) flags |= k_buttons;
  out.number(static_cast<std::uint8_t>(flags));
  if (hand.action == HandInput::Action::grasp) out.varint(hand.body);
  if (hand.buttons != 0) out.varint(hand.buttons);
  if (hand.present && !still)
    for (std::size_t i = 0; i < 7; ++i) out.signed_varint(steps[i] - trend.guess(i));
  if (hand.present) trend.follow(steps);
}

void write_input(ByteWriter& out, const PeerInput& input, Trends& trends) {
  unsigned flags = 0;
  if (!input.further.empty()) flags |= k_further;
  if (!input.events.empty()) flags |= k_events;
  write_hand(out, input.hand, trends.own, flags);
  if (!input.further.empty()) out.varint(input.further.size());
  for (const FurtherHand& further : input.further) {
    out.number(further.number);
    write_hand(out, further.hand, trends.further[further.number], 0);
  }
  if (input.events.empty()) return;
  out.varint(input.events.size());
  for (const SessionEvent& event : input.events) write_event(out, event);
}

HandInput read_hand(ByteReader& in, unsigned flags, Trend& trend) {
  const unsigned action = flags >> k_action_shift & 3U;
  if (action > static_cast<unsigned>(HandInput::Action::release)) in.fail();
  HandInput hand;
  hand.present = (flags & k_present) != 0;
  hand.action = static_cast<HandInput::Action>(action);
  if (hand.action == HandInput::Action::grasp) hand.body = static_cast<std::uint32_t>(in.varint(0xffffffff));
  if ((flags & k_buttons) != 0) hand.buttons = static_cast<std::uint32_t>(in.varint(0xffffffff));
  if (hand.present) {
    Steps steps = trend.last;
    if ((flags & k_still) == 0)
      for (std::size_t i = 0; i < 7; ++i) {
        const std::int64_t off = in.signed_varint();
        if (off > 4 * k_most_steps || off < -4 * k_most_steps) in.fail();
        steps[i] = in.ok() ? trend.guess(i) + off : 0;
        const std::int64_t most = i < 3 ? k_most_steps : k_most_turned;
        if (steps[i] > most || steps[i] < -most) in.fail();
      }
    else if (trend.known == 0)
      in.fail();
    if (!in.ok()) return hand;
    hand.pose = pose_of(steps);
    trend.follow(steps);
  }
  return hand;
}

void read_further(ByteReader& in, PeerInput& input, Trends& trends) {
  const std::uint64_t count = in.varint(k_most_further);
  if (count == 0) in.fail();
  int before = -1;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    const auto number = in.number<std::uint8_t>();
    if (number >= k_shared_hands || number <= before) in.fail();
    if (!in.ok()) return;
    before = number;
    const auto flags = in.number<std::uint8_t>();
    if (flags >= k_of_a_hand || (flags & k_present) == 0) in.fail();
    input.further.push_back({number, read_hand(in, flags, trends.further[number])});
  }
}

PeerInput read_input(ByteReader& in, Trends& trends) {
  PeerInput input;
  const auto flags = in.number<std::uint8_t>();
  if (flags >= 128) in.fail();
  input.hand = read_hand(in, flags, trends.own);
  if ((flags & k_further) != 0) read_further(in, input, trends);
  if ((flags & k_events) != 0) {
    const std::uint64_t count = in.varint(k_most_events);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) input.events.push_back(read_event(in));
  }
  return input;
}

}  // namespace

bool PeerInput::has(SessionEvent::Kind kind) const {
  return std::any_of(events.begin(), events.end(), [kind](const SessionEvent& e) { return e.kind == kind; });
}

HandInput sendable(const HandInput& hand) noexcept {
  const Vec3d& p = hand.pose.position;
  const Quat& q = hand.pose.rotation;
  const auto within = [](double x, double most) { return x >= -most && x <= most; };
  const bool somewhere = within(p.x, k_farthest - 1) && within(p.y, k_farthest - 1) && within(p.z, k_farthest - 1) &&
                         within(q.w, k_largest_part) && within(q.x, k_largest_part) && within(q.y, k_largest_part) &&
                         within(q.z, k_largest_part);
  if (!hand.present || !somewhere) return {};
  HandInput out = quantised(hand);
  if (out.action != HandInput::Action::grasp) out.body = 0;
  return out;
}

void MemberHands::forget_actions() {
  const auto forget = [](HandInput& input) {
    input.action = HandInput::Action::none;
    input.body = 0;
  };
  forget(hand);
  for (FurtherHand& one : further) forget(one.hand);
}

void MemberHands::take_actions(const MemberHands& earlier) {
  const auto take = [](HandInput& input, const HandInput& from) {
    if (from.action == HandInput::Action::none) return;
    input.action = from.action;
    input.body = from.body;
  };
  take(hand, earlier.hand);
  for (FurtherHand& one : further)
    for (const FurtherHand& before : earlier.further)
      if (before.number == one.number) take(one.hand, before.hand);
}

MemberHands sendable(const MemberHands& hands) {
  MemberHands out(sendable(hands.hand));
  for (const FurtherHand& further : hands.further) {
    const HandInput hand = sendable(further.hand);
    const int before = out.further.empty() ? -1 : out.further.back().number;
    if (hand.present && further.number < k_shared_hands && further.number > before &&
        out.further.size() < k_most_further)
      out.further.push_back({further.number, hand});
  }
  return out;
}

std::size_t write_inputs(ByteWriter& out, std::span<const PeerInput* const> inputs, std::size_t most_bytes) {
  Trends trends;
  std::vector<std::byte> next;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    next.clear();
    ByteWriter writer(next);
    write_input(writer, *inputs[i], trends);
    if (next.size() > most_bytes) return i;
    most_bytes -= next.size();
    out.raw(next);
  }
  return inputs.size();
}

std::vector<PeerInput> read_inputs(ByteReader& in, std::size_t count) {
  std::vector<PeerInput> inputs;
  Trends trends;
  while (inputs.size() < count && in.ok()) inputs.push_back(read_input(in, trends));
  return inputs;
}

}  // namespace cotouch
