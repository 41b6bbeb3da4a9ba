// Getting in (docs/protocol.md, part 1): four messages after which a joiner and the host have a sealed channel. Both
// sides are given bytes, addresses and the time, and answer with bytes; neither knows sockets or clocks, throws because
// of what it receives, or allocates for it.
#pragma once

#include <cotouch/net/address.h>
#include <cotouch/net/channel.h>
#include <cotouch/net/credential.h>
#include <cotouch/net/handshake_messages.h>
#include <cotouch/net/invite.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cotouch {

// The joiner's side. Whoever owns it sends `due()` to all `targets()` whenever it is not empty, and hands it what
// arrives.
class ClientHandshake {
 public:
  enum class State : std::uint8_t {
    looking,     // says Hello to every address
    requesting,  // has a Challenge, waits for the Answer
    accepted,    // keys() and answer() are there
    rejected,    // the host's caller said no: answer() says why
    refused,     // the host's program said no: refusal() says why
    gave_up,     // nobody answered
  };
  static constexpr double k_attempt_seconds = 6, k_patience_seconds = 10;

  // `payload` (at most k_largest_payload bytes, or it throws Error) is what the host's caller is to see.
  // `now` is in seconds of a clock that does not jump; after `patience` seconds without an answer it gives up.
  ClientHandshake(const Invite& invite, const Identity& identity, std::span<const std::byte> payload, double now,
                  double patience = k_patience_seconds);

  // What is to be sent now to each of `targets()`; empty if it is not time yet or all is over. Valid until the next
  // call.
  std::span<const std::byte> due(double now);
  std::span<const NetAddress> targets() const;
  // True if the datagram was part of this handshake and brought it forward.
  bool receive(std::span<const std::byte> datagram, const NetAddress& from, double now);

  State state() const { return state_; }
  bool over() const { return state_ != State::looking && state_ != State::requesting; }
  const NetAddress& host_address() const { return host_address_; }  // where the Challenge came from
  const ChannelKeys& keys() const { return keys_; }                 // if accepted
  // If accepted or rejected: what the host's caller says.
  std::span<const std::byte> answer() const { return answer_.payload.bytes(); }
  const RefusalMessage& refusal() const { return refusal_; }  // if refused
  // Ours for this session, to meet the other members; once accepted it can be moved out.
  JoinKey& join_key() { return join_key_; }
  const Invite& invite() const { return invite_; }

 private:
  void begin_attempt(double now);
  void send_from(double now);
  bool take_challenge(std::span<const std::byte> datagram, const NetAddress& from, double now);
  bool take_answer(std::span<const std::byte> datagram);
  bool take_refusal(std::span<const std::byte> datagram);
  void end(State state);

  Invite invite_;
  Identity identity_;
  SessionId session_;
  JoinKey join_key_;
  MacKey mac_key_;
  ExchangeKey host_exchange_;  // S
  RequestContent content_;
  State state_ = State::looking;
  ExchangePair ephemeral_;
  SharedSecret static_secret_;  // es
  Digest request_hash_{};       // h2
  NetAddress host_address_;
  double began_, patience_, requested_at_ = 0, next_send_ = 0, interval_ = 0;
  std::array<std::byte, k_request_bytes> sent_{};  // the Hello or the Request
  std::size_t sent_bytes_ = 0;
  AnswerContent answer_;
  ChannelKeys keys_;
  RefusalMessage refusal_;
};

// Somebody who has the invite, receives packets at `from`, and has shown that the identity is theirs. The credential of
// somebody who was accepted before means that the answer may never have reached them: their new channel replaces the
// old one as soon as a datagram was opened with it, and not before, or a request that was held back could cut them off.
struct JoinRequest {
  RequestContent content;
  NetAddress from;
};

// The host's side, for all joiners.
class HostHandshake {
 public:
  static constexpr std::size_t k_kept_answers = 64;
  static constexpr double k_cookie_seconds = 10;  // a cookie is good for once to twice as long
  static constexpr double k_requests_per_second = 16, k_request_burst = 32;

  enum class Outcome : std::uint8_t {
    dropped,  // nothing is to be sent; counts() says why
    reply,    // reply() is to be sent to where the datagram came from
    asked,    // somebody wants to join: look at request(), then call accept or refuse before the next receive
  };
  struct Counts {
    std::uint64_t malformed = 0;  // not a handshake message of the right length
    std::uint64_t strangers = 0;  // no knowledge of the invite
    std::uint64_t cookies = 0;    // too old a cookie, or another address's
    std::uint64_t busy = 0;       // more requests than are handled in this time
    std::uint64_t forged = 0;     // the invite, but a wrong key, signature or content
    std::uint64_t challenges = 0, answers = 0, repeated_answers = 0, refusals = 0;
  };
  // When something arrives: `steady` in seconds of a clock that does not jump, and the date for the invite.
  struct Moment {
    double steady = 0;
    std::uint64_t unix_seconds = 0;
  };

  // Throws Error if the invite is another host's.
  HostHandshake(const Identity& identity, const Invite& invite);

  Outcome receive(std::span<const std::byte> datagram, const NetAddress& from, const Moment& now);
  std::span<const std::byte> reply() const { return std::span(reply_).first(reply_bytes_); }

  // Both need a request that was asked and not answered yet, and a payload of at most k_largest_payload bytes; they
  // make the reply. If nobody answers a request it is forgotten, and the joiner's repetition asks again.
  const JoinRequest& request() const { return request_; }
  // The keys of the channel. The joiner has surely received them only when the first datagram of the channel arrives.
  ChannelKeys accept(std::span<const std::byte> payload);
  void refuse(std::span<const std::byte> payload);

  const Counts& counts() const { return counts_; }

 private:
  struct KeptAnswer {
    ExchangeKey ephemeral;
    Mac request_mac{};
    std::uint64_t generation = 0;  // of the cookie secret when it was made; 0: free
    std::array<std::byte, k_answer_bytes> answer{};
  };
  Outcome drop(std::uint64_t& counter);
  Outcome send(std::size_t bytes, std::uint64_t& counter);
  void draw_cookie_secrets(double steady);
  bool take_token(double steady);
  Outcome challenge(const ExchangeKey& ephemeral, const NetAddress& from);
  Outcome send_refusal(const ExchangeKey& ephemeral, RefusalReason reason);
  Outcome take_request(std::span<const std::byte, k_request_bytes> message, const ExchangeKey& ephemeral,
                       const NetAddress& from, double steady);
  Outcome examine(std::span<const std::byte, k_request_bytes> message, const ExchangeKey& ephemeral,
                  const NetAddress& from);
  bool cookie_is_ours(const Cookie& cookie, const NetAddress& from, const ExchangeKey& ephemeral) const noexcept;
  bool is_free(const KeptAnswer& kept) const noexcept;
  const KeptAnswer* find_kept(const ExchangeKey& ephemeral) const noexcept;
  KeptAnswer* free_place() noexcept;
  ChannelKeys answer(bool accepted, std::span<const std::byte> payload);

  Identity identity_;
  Invite invite_;
  SessionId session_;
  MacKey mac_key_;
  Secret<32> cookie_secret_, previous_cookie_secret_;
  std::uint64_t generation_ = 0;  // how many cookie secrets were drawn
  double drawn_at_ = 0, refilled_at_ = 0, tokens_ = k_request_burst;
  std::vector<KeptAnswer> kept_;  // of fixed size

  // The request that was asked and not answered yet.
  bool asked_ = false;
  JoinRequest request_;
  ExchangeKey request_ephemeral_, host_ephemeral_;  // E, F
  Mac request_mac_{};
  Digest request_hash_{};                                        // h2
  SharedSecret static_secret_, ephemeral_secret_, join_secret_;  // es, ee, se

  std::array<std::byte, k_answer_bytes> reply_{};
  std::size_t reply_bytes_ = 0;
  Counts counts_;
};

}  // namespace cotouch
