// What is said at a session's door: the payloads of handshakes, and the first messages between a guest and whoever has
// let it in (docs/protocol.md, "Asking to join" and "Coming back").
#pragma once

#include <cotouch/net/bytes.h>
#include <cotouch/session/peer_network.h>
#include <cotouch/session/roll.h>

#include <cstdint>

namespace cotouch {

inline constexpr std::uint8_t k_door_version = 2;    // of what is said in a session
inline constexpr std::size_t k_longest_told = 480;   // bytes of an introduction in a handshake
inline constexpr std::size_t k_most_told = 4;        // addresses of somebody who asks to join
inline constexpr double k_guest_repeat = 0.3;        // seconds between messages that say the same
inline constexpr std::size_t k_longest_scene = 400;  // bytes of a scene's description

// Numbers are part of the protocol.
enum class DoorRole : std::uint8_t { player = 0, observer = 1, compare = 2 };
enum class DoorRefusal : std::uint8_t { version = 1, full = 2, redirect = 3, not_now = 4, compared = 5 };

// A rank on its way has the hash of the keeper's introduction instead of the introduction itself.
void write_rank(ByteWriter& out, const SessionRank& rank);
SessionRank read_rank(ByteReader& in);
SessionRank with_hashed_keeper(SessionRank rank);  // to be compared with one that was read

// A message that is nothing but its kind.
inline Bytes plain_message(PlainMessage kind) {
  return {static_cast<std::byte>(kind)};
}

}  // namespace cotouch
