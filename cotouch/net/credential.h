// How two joiners get a channel without another handshake: each has a join key, signed by its identity, and the host
// hands the signed keys out (docs/protocol.md, "Pairs").
#pragma once

#include <cotouch/net/bytes.h>
#include <cotouch/net/channel.h>
#include <cotouch/net/crypto.h>

#include <optional>
#include <set>

namespace cotouch {

// "I am `identity`, and in this session you reach me with `join_key`."
struct Credential {
  static constexpr std::size_t k_bytes = 32 + 32 + 64;

  PublicKey identity;
  ExchangeKey join_key;
  Signature signature{};

  bool valid_in(const SessionId& session) const noexcept;
  void write(ByteWriter& out) const;
  static Credential read(ByteReader& in);  // does not check the signature
  friend bool operator==(const Credential&, const Credential&) = default;
};

// Made for one join, kept in memory only, forgotten with it.
class JoinKey {
 public:
  JoinKey(const Identity& identity, const SessionId& session);
  // A copy would not know whom the original has met.
  JoinKey(const JoinKey&) = delete;
  JoinKey& operator=(const JoinKey&) = delete;
  JoinKey(JoinKey&&) = default;
  JoinKey& operator=(JoinKey&&) = default;

  const Credential& credential() const { return credential_; }
  const ExchangePair& exchange() const { return pair_; }
  // The keys of the channel with another member. None if its credential is not valid in this session, if it is our own,
  // or if it was met before: a second channel with the same keys would use its nonces twice, so whoever is introduced
  // again keeps the channel they have. At most k_most_met others are met in one join.
  std::optional<ChannelKeys> meet(const Credential& other, const InviteSecret& secret);
  static constexpr std::size_t k_most_met = 4096;

 private:
  SessionId session_;
  ExchangePair pair_;
  Credential credential_;
  std::set<ExchangeKey> met_;
};

}  // namespace cotouch
