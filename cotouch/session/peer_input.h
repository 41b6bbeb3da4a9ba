// What one member of a shared session does in one tick, and how a run of such inputs is written for the network.
#pragma once

#include <cotouch/net/bytes.h>
#include <cotouch/session/tick.h>
#include <cotouch/world/input.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_shared_hands = 16;    // of the world; those of members 0 to 15 have their numbers
inline constexpr std::size_t k_most_members = 20;    // members 16 to 19 only observe
inline constexpr std::size_t k_most_further = 7;     // hands of one member besides that of its own number
inline constexpr std::size_t k_longest_event = 640;  // bytes of one event's text

using MemberId = std::uint8_t;  // a member's number
inline constexpr MemberId k_nobody = 0xff;

// What happens besides the hand. All of it travels in the stream of inputs, so everybody learns of it at the same tick.
struct SessionEvent {
  enum class Kind : std::uint8_t {
    admit,        // by the keeper: `member` takes part from tick `number` on; `text` introduces it (introduction.h)
    leave,        // this is the sender's last tick
    reset,        // the world from its start
    say,          // `text`
    mark,         // mark `number` at `point` of body `body`
    unmark,       // mark `number`
    synchronise,  // `number` 1: late inputs roll the view back; 0: views drift apart, as an experiment
  };
  static constexpr Kind k_last_kind = Kind::synchronise;

  Kind kind = Kind::say;
  MemberId member = 0;
  std::int64_t number = 0;
  std::uint32_t body = 0;
  Vec3f point;  // in the body's frame, metres
  std::string text;

  friend bool operator==(const SessionEvent&, const SessionEvent&) = default;
};

// One more hand of a member: it is there, and it is led by them in this tick if nobody comes before them (TickInputs).
struct FurtherHand {
  std::uint8_t number = 0;  // of the world's hands
  HandInput hand;

  friend bool operator==(const FurtherHand&, const FurtherHand&) = default;
};

// What all hands of a member do.
struct MemberHands {
  MemberHands() = default;
  MemberHands(const HandInput& own) : hand(own) {}  // NOLINT(google-explicit-constructor): most have one

  HandInput hand;                    // that of the member's own number
  std::vector<FurtherHand> further;  // by ascending number, all present

  void forget_actions();
  void take_actions(const MemberHands& earlier);  // those that any of the same hands did
  friend bool operator==(const MemberHands&, const MemberHands&) = default;
};

struct PeerInput : MemberHands {
  std::vector<SessionEvent> events;

  bool has(SessionEvent::Kind kind) const;
  friend bool operator==(const PeerInput&, const PeerInput&) = default;
};

// Rounded (quantised) and within what can be written; a hand that is nowhere is not there.
HandInput sendable(const HandInput& hand) noexcept;
// The same for all of them, without those that are not there, twice or too many.
MemberHands sendable(const MemberHands& hands);

// Appends inputs of ticks that follow each other: the first whole, the others as what they differ from going on at the
// same speed. A hand that moves smoothly takes about nine bytes a tick. Inputs must be sendable. Stops before the first
// that does not fit into so many bytes, and returns how many did.
std::size_t write_inputs(ByteWriter& out, std::span<const PeerInput* const> inputs,
                         std::size_t most_bytes = std::numeric_limits<std::size_t>::max());
// Reads `count` inputs; the reader fails if there are none such.
std::vector<PeerInput> read_inputs(ByteReader& in, std::size_t count);

}  // namespace cotouch
