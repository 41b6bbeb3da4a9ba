// Sealed datagrams between two peers (docs/protocol.md, part 2): nobody else can read, alter, repeat or invent one.
#pragma once

#include <cotouch/net/crypto.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cotouch {

constexpr std::size_t k_largest_datagram = 1200;           // passes every IPv6 path in one piece
constexpr std::size_t k_sealed_overhead = 1 + 4 + 4 + 16;  // type, channel, counter, tag
constexpr std::size_t k_relay_overhead =
    1 + 1 + k_sealed_overhead;  // the message's kind, the peer, and the seal around
// Fits into a datagram whether it goes directly or through the host.
constexpr std::size_t k_largest_message = k_largest_datagram - k_sealed_overhead - k_relay_overhead;

// One key for each direction. Never used for two channels, because counters begin at zero.
struct ChannelKeys {
  SharedSecret send, receive;
};

enum class OpenStatus : std::uint8_t {
  opened,
  not_sealed,     // too short, too long, or of another type
  other_channel,  // sealed for another channel
  too_old,        // older than what the window remembers
  repeated,       // seen before
  forged,         // altered, or sealed with another key
};
constexpr std::size_t k_open_statuses = 6;

// What a sealed datagram says in the clear: for which of the receiver's channels it is. None if it is not one. Two
// channels may have the same number, so whoever looks it up tries all that have it.
std::optional<std::uint32_t> channel_of(std::span<const std::byte> datagram) noexcept;

class SealedChannel {
 public:
  static constexpr std::uint64_t k_window = 4096;
  static constexpr std::uint64_t k_counter_end = 1ULL << 48;

  // `first_counter` is for tests of the end.
  explicit SealedChannel(const ChannelKeys& keys, std::uint64_t first_counter = 0) noexcept;

  // A copy would use the same nonces again.
  SealedChannel(const SealedChannel&) = delete;
  SealedChannel& operator=(const SealedChannel&) = delete;
  SealedChannel(SealedChannel&&) = default;
  SealedChannel& operator=(SealedChannel&&) = default;

  // The datagram replaces what is in `out`. False, and nothing is in it, if the message is longer than fits into
  // k_largest_datagram or the counter has reached its end, after which the channel can only receive.
  bool seal(std::span<const std::byte> message, std::vector<std::byte>& out);
  // The message replaces what is in `out`, which is empty if it was not opened. Allocates only to make `out` as large
  // as a datagram once.
  OpenStatus open(std::span<const std::byte> datagram, std::vector<std::byte>& out);
  // Was what was opened last sealed after all that were opened before? If not, it was overtaken on the way, or held
  // back by somebody: where it comes from says nothing of where its sender is now.
  bool opened_newest() const { return opened_newest_; }

  bool exhausted() const { return next_ >= k_counter_end; }
  std::uint32_t send_number() const { return send_number_; }
  std::uint32_t receive_number() const { return receive_number_; }
  std::uint64_t sealed() const { return sealed_; }
  std::uint64_t count(OpenStatus status) const { return counts_[static_cast<std::size_t>(status)]; }

 private:
  OpenStatus try_open(std::span<const std::byte> datagram, std::vector<std::byte>& out);
  std::uint64_t complete(std::uint32_t low) const;
  OpenStatus seen(std::uint64_t counter) const;
  void mark(std::uint64_t counter);

  ChannelKeys keys_;
  std::uint32_t send_number_ = 0, receive_number_ = 0;
  std::uint64_t next_ = 0;      // counter of the next datagram sent
  std::uint64_t expected_ = 0;  // one more than the highest counter received
  bool opened_newest_ = false;
  std::bitset<k_window> seen_;  // counter c, if it is in the window, at c modulo its size
  std::uint64_t sealed_ = 0;
  std::array<std::uint64_t, k_open_statuses> counts_{};
};

// What a message that the host is to pass on, or has passed on, holds after its kind.
struct RelayEnvelope {
  std::uint8_t peer = 0;                // to the host: for whom; from the host: from whom
  std::span<const std::byte> datagram;  // sealed between these two
};
void write_relay(std::vector<std::byte>& out, const RelayEnvelope& envelope);
// None if what it holds cannot be a sealed datagram.
std::optional<RelayEnvelope> read_relay(std::span<const std::byte> bytes) noexcept;

}  // namespace cotouch
