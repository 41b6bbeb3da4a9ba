// The bytes of the handshake and the keys that are made on the way (docs/protocol.md, "Handshake"); what they mean to
// either side is in handshake.h. All messages have a fixed length, so nothing is allocated and little can go wrong.
#pragma once

#include <cotouch/net/address.h>
#include <cotouch/net/channel.h>
#include <cotouch/net/credential.h>
#include <cotouch/net/crypto.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cotouch {

constexpr std::uint8_t k_protocol_version = 1;
enum class DatagramType : std::uint8_t {
  hello = 0x01,
  challenge = 0x02,
  request = 0x03,
  answer = 0x04,
  refusal = 0x05,
  sealed = 0x10
};
enum class RefusalReason : std::uint8_t { none = 0, version = 1, expired = 2 };

constexpr std::size_t k_largest_payload = 512;
constexpr std::size_t k_mac_bytes = 16;
constexpr std::size_t k_attempt_head_bytes = 1 + 1 + 32;  // type, version, E
constexpr std::size_t k_hello_bytes = 256;
constexpr std::size_t k_challenge_bytes = k_attempt_head_bytes + 16 + k_mac_bytes;
constexpr std::size_t k_request_head_bytes = k_attempt_head_bytes + 16;
constexpr std::size_t k_request_text_bytes = Credential::k_bytes + 64 + 2 + k_largest_payload;
constexpr std::size_t k_request_bytes = k_request_head_bytes + k_request_text_bytes + k_tag_bytes + k_mac_bytes;
constexpr std::size_t k_answer_head_bytes = k_attempt_head_bytes + 32;
constexpr std::size_t k_answer_text_bytes = 1 + 2 + k_largest_payload;
constexpr std::size_t k_answer_bytes = k_answer_head_bytes + k_answer_text_bytes + k_tag_bytes + k_mac_bytes;
constexpr std::size_t k_refusal_bytes = k_attempt_head_bytes + 2 + k_mac_bytes;

using Mac = std::array<std::byte, k_mac_bytes>;
using Cookie = std::array<std::byte, 16>;

// At most k_largest_payload bytes.
class PayloadBuffer {
 public:
  // False, and empty, if there are too many.
  bool assign(std::span<const std::byte> bytes) noexcept;
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }

 private:
  std::array<std::byte, k_largest_payload> bytes_{};
  std::size_t size_ = 0;
};

// Shows that the sender of a handshake message knows the invite. Its key is the same in every version of the protocol.
class MacKey {
 public:
  explicit MacKey(const InviteSecret& secret) noexcept;
  // Writes the mac into the last bytes of the message.
  void sign(std::span<std::byte> message) const noexcept;
  bool verify(std::span<const std::byte> message) const noexcept;

 private:
  Mac mac_of(std::span<const std::byte> before) const noexcept;
  SharedSecret key_;
};

// The head of a handshake message of any version. None if it is too short for one.
struct AttemptHead {
  DatagramType type{};
  std::uint8_t version = 0;
  ExchangeKey ephemeral;  // E, the joiner's for this attempt
};
std::optional<AttemptHead> read_head(std::span<const std::byte> message) noexcept;

void write_hello(const MacKey& key, const ExchangeKey& ephemeral, std::span<std::byte, k_hello_bytes> out) noexcept;

// Whether a Hello of this version is as long as it should be and has nothing but zeros after its head.
bool is_exact_hello(std::span<const std::byte> message) noexcept;

void write_challenge(const MacKey& key, const ExchangeKey& ephemeral, const Cookie& cookie,
                     std::span<std::byte, k_challenge_bytes> out) noexcept;
Cookie challenge_cookie(std::span<const std::byte, k_challenge_bytes> message) noexcept;
Cookie cookie_for(const Secret<32>& cookie_secret, const NetAddress& address, const ExchangeKey& ephemeral) noexcept;

void write_refusal(const MacKey& key, const ExchangeKey& ephemeral, RefusalReason reason,
                   std::span<std::byte, k_refusal_bytes> out) noexcept;
struct RefusalMessage {
  RefusalReason reason{};
  std::uint8_t newest_version = 0;
};
RefusalMessage read_refusal(std::span<const std::byte, k_refusal_bytes> message) noexcept;

// What both sides know before the Request: the invite's part of the keys.
struct Meeting {
  const PublicKey& host;
  const SessionId& session;
  const InviteSecret& secret;
};

// The Request. Both functions give h2.
struct RequestContent {
  Credential credential;
  PayloadBuffer payload;
};
Digest write_request(const Meeting& meeting, const MacKey& key, const ExchangeKey& ephemeral, const Cookie& cookie,
                     const SharedSecret& static_secret, const Identity& joiner, const RequestContent& content,
                     std::span<std::byte, k_request_bytes> out) noexcept;
Cookie request_cookie(std::span<const std::byte, k_request_bytes> message) noexcept;
// None if the box does not open, or if what is in it is not signed or not well formed.
std::optional<Digest> open_request(const Meeting& meeting, const SharedSecret& static_secret,
                                   std::span<const std::byte, k_request_bytes> message,
                                   RequestContent& content) noexcept;

// The Answer and the keys of the channel. The three secrets are es, ee and se.
struct AnswerSecrets {
  const SharedSecret& static_secret;
  const SharedSecret& ephemeral_secret;
  const SharedSecret& join_secret;
};
struct AnswerContent {
  bool accepted = false;
  PayloadBuffer payload;
};
// The host's keys.
ChannelKeys write_answer(const InviteSecret& secret, const MacKey& key, const Digest& request_hash,
                         const ExchangeKey& ephemeral, const ExchangeKey& host_ephemeral, const AnswerSecrets& secrets,
                         const AnswerContent& content, std::span<std::byte, k_answer_bytes> out) noexcept;
ExchangeKey answer_ephemeral(std::span<const std::byte, k_answer_bytes> message) noexcept;
// The joiner's keys. None if the box does not open or what is in it is not well formed.
std::optional<ChannelKeys> open_answer(const InviteSecret& secret, const Digest& request_hash,
                                       const AnswerSecrets& secrets, std::span<const std::byte, k_answer_bytes> message,
                                       AnswerContent& content) noexcept;

}  // namespace cotouch
