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

enum Flags : std::uint8_t {
  k_present = 1,
  k_action_shift = 1,  // two bits
  k_still = 8,         // the pose is the one before
  k_buttons = 16,
  k_events = 32,
};

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

void write_input(ByteWriter& out, const PeerInput& input, Trend& trend) {
  const HandInput& hand = input.hand;
  const Steps steps = steps_of(hand.pose);
  const bool still = hand.present && trend.known > 0 && steps == trend.last;
  std::uint8_t flags = hand.present ? k_present : 0;
  flags = static_cast<std::uint8_t>(flags | static_cast<unsigned>(hand.action) << k_action_shift);
  if (still) flags |= k_still;
  if (hand.buttons != 0) flags |= k_buttons;
  if (!input.events.empty()) flags |= k_events;
  out.number(flags);
  if (hand.action == HandInput::Action::grasp) out.varint(hand.body);
  if (hand.buttons != 0) out.varint(hand.buttons);
  if (hand.present && !still)
    for (std::size_t i = 0; i < 7; ++i) out.signed_varint(steps[i] - trend.guess(i));
  if (hand.present) trend.follow(steps);
  if (input.events.empty()) return;
  out.varint(input.events.size());
  for (const SessionEvent& event : input.events) write_event(out, event);
}

PeerInput read_input(ByteReader& in, Trend& trend) {
  PeerInput input;
  const auto flags = in.number<std::uint8_t>();
  const unsigned action = flags >> k_action_shift & 3U;
  if (action > static_cast<unsigned>(HandInput::Action::release) || flags >= 64) in.fail();
  HandInput& hand = input.hand;
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
    if (!in.ok()) return input;
    hand.pose = pose_of(steps);
    trend.follow(steps);
  }
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

void write_inputs(ByteWriter& out, std::span<const PeerInput* const> inputs) {
  Trend trend;
  for (const PeerInput* input : inputs) write_input(out, *input, trend);
}

std::vector<PeerInput> read_inputs(ByteReader& in, std::size_t count) {
  std::vector<PeerInput> inputs;
  Trend trend;
  while (inputs.size() < count && in.ok()) inputs.push_back(read_input(in, trend));
  return inputs;
}

}  // namespace cotouch
