// Who takes part in a shared session, and a whole objective state as it is handed to those who join.
#pragma once

#include <cotouch/session/peer_input.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

// Decisions about who is dropped are numbered by rounds; within a round the higher proposer wins.
struct Ballot {
  std::uint32_t round = 0;
  MemberId proposer = 0;

  friend auto operator<=>(const Ballot&, const Ballot&) = default;
};

struct Member {
  Tick first = 0;            // tick that it takes part from
  std::string introduction;  // name, keys and addresses (introduction.h); opaque to the core

  friend bool operator==(const Member&, const Member&) = default;
};

// A part of a session that went on without the larger one has a number; the session itself is 0 (docs/protocol.md,
// *What is agreed*).
using BranchId = std::uint64_t;

// Which of two sessions that were one goes on when they meet again: the one that is no branch, then the larger one,
// then the one with the lower member.
struct SessionRank {
  bool branch = false;
  std::uint8_t members = 0;
  MemberId lowest = 0;
  std::string keeper;  // its introduction, so that no two are alike

  bool outranks(const SessionRank& other) const;
  // What kind it is and how many take part, in one byte.
  std::uint8_t size_byte() const { return static_cast<std::uint8_t>(members | (branch ? 0x80U : 0U)); }
  void set_size(std::uint8_t byte) { branch = byte >= 0x80, members = byte & 0x7fU; }
};

// Something a person has pointed at.
struct SessionMark {
  MemberId by = 0;
  std::int64_t number = 0;  // of those that this member made
  std::uint32_t body = 0;
  Vec3f point;  // in the body's frame, metres

  friend bool operator==(const SessionMark&, const SessionMark&) = default;
};

inline constexpr std::size_t k_most_marks = 64;
inline constexpr std::size_t k_most_former = 16;
inline constexpr std::size_t k_largest_state = 1U << 20;                           // of a world, bytes
inline constexpr std::size_t k_largest_snapshot = k_largest_state + (64U << 10U);  // with all that is around it

// The objective state before a tick, with all that is needed to go on from there.
struct ObjectiveSnapshot {
  Tick tick = 0;
  Ballot decided;
  BranchId branch = 0;
  bool synchronised = true;
  std::array<std::optional<Member>, k_most_members> members;
  std::vector<SessionMark> marks;
  std::vector<std::string> former;  // introductions of members that were dropped: perhaps they went on without us
  std::vector<std::byte> state;     // of the world

  friend bool operator==(const ObjectiveSnapshot&, const ObjectiveSnapshot&) = default;
};

std::vector<std::byte> encode_snapshot(const ObjectiveSnapshot& snapshot);
// Nothing if the bytes are no snapshot. The world's state is checked when a world takes it over.
std::optional<ObjectiveSnapshot> decode_snapshot(std::span<const std::byte> bytes);

}  // namespace cotouch
