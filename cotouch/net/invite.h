// The text that lets somebody into a session: the host's identity, a secret and where to find the host
// (docs/protocol.md, "Invite").
#pragma once

#include <cotouch/net/address.h>
#include <cotouch/net/crypto.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct Invite {
  static constexpr std::size_t k_most_addresses = 8;

  PublicKey host;
  InviteSecret secret;
  std::uint32_t expires = 0;  // seconds since 1970; 0: never
  std::vector<NetAddress> addresses;

  bool expired(std::uint64_t unix_seconds) const { return expires != 0 && unix_seconds >= expires; }
  // The session's number, which is no secret.
  SessionId session() const noexcept;
};

// With a new secret. Throws Error if there is no address, too many, or one to which nothing can be sent.
Invite make_invite(const PublicKey& host, std::vector<NetAddress> addresses, std::uint32_t expires);

// "cotouch:..."
std::string format_invite(const Invite& invite);

// Throws Error with a sentence for whoever has pasted it: not an invite, mistyped or cut off, of a newer version, or
// expired.
Invite parse_invite(std::string_view text, std::uint64_t unix_seconds);

}  // namespace cotouch
