#include <cotouch/net/channel.h>

#include <cotouch/net/bytes.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr std::size_t k_header_bytes = k_sealed_overhead - k_tag_bytes;
constexpr std::uint8_t k_sealed_type = 0x10;

std::uint32_t number_of(const SharedSecret& key) {
  const SharedSecret derived = derive(key.bytes(), "channel", {});
  return ByteReader(derived.bytes()).number<std::uint32_t>();
}

}  // namespace

std::optional<std::uint32_t> channel_of(std::span<const std::byte> datagram) noexcept {
  if (datagram.size() < k_sealed_overhead || datagram.size() > k_largest_datagram) return std::nullopt;
  ByteReader in(datagram);
  if (in.number<std::uint8_t>() != k_sealed_type) return std::nullopt;
  return in.number<std::uint32_t>();
}

SealedChannel::SealedChannel(const ChannelKeys& keys, std::uint64_t first_counter) noexcept
    : keys_(keys), send_number_(number_of(keys.send)), receive_number_(number_of(keys.receive)), next_(first_counter) {
}

bool SealedChannel::seal(std::span<const std::byte> message, std::vector<std::byte>& out) {
  out.clear();
  if (exhausted() || message.size() > k_largest_datagram - k_sealed_overhead) return false;
  ByteWriter header(out);
  header.number(k_sealed_type);
  header.number(send_number_);
  header.number(static_cast<std::uint32_t>(next_));
  out.resize(k_sealed_overhead + message.size());
  const std::span<std::byte> whole(out);
  seal_box(keys_.send, next_, whole.first(k_header_bytes), message, whole.subspan(k_header_bytes));
  ++next_;
  ++sealed_;
  return true;
}

OpenStatus SealedChannel::open(std::span<const std::byte> datagram, std::vector<std::byte>& out) {
  out.clear();
  const OpenStatus status = try_open(datagram, out);
  if (status != OpenStatus::opened) out.clear();
  ++counts_[static_cast<std::size_t>(status)];
  return status;
}

OpenStatus SealedChannel::try_open(std::span<const std::byte> datagram, std::vector<std::byte>& out) {
  const std::optional<std::uint32_t> number = channel_of(datagram);
  if (!number) return OpenStatus::not_sealed;
  if (*number != receive_number_) return OpenStatus::other_channel;
  const std::uint64_t counter = complete(ByteReader(datagram.subspan(5)).number<std::uint32_t>());
  if (const OpenStatus status = seen(counter); status != OpenStatus::opened) return status;
  out.reserve(k_largest_datagram);
  out.resize(datagram.size() - k_sealed_overhead);
  if (!open_box(keys_.receive, counter, datagram.first(k_header_bytes), datagram.subspan(k_header_bytes), out))
    return OpenStatus::forged;
  mark(counter);
  return OpenStatus::opened;
}

// The counter with these lowest bits that is nearest to the expected one.
std::uint64_t SealedChannel::complete(std::uint32_t low) const {
  constexpr std::uint64_t k_period = 1ULL << 32;
  const std::uint64_t guess = (expected_ & ~(k_period - 1)) | low;
  if (guess + k_period / 2 < expected_) return guess + k_period;
  if (guess > expected_ + k_period / 2 && guess >= k_period) return guess - k_period;
  return guess;
}

OpenStatus SealedChannel::seen(std::uint64_t counter) const {
  if (counter >= expected_) return OpenStatus::opened;
  if (expected_ - counter > k_window) return OpenStatus::too_old;
  return seen_[counter % k_window] ? OpenStatus::repeated : OpenStatus::opened;
}

void SealedChannel::mark(std::uint64_t counter) {
  opened_newest_ = counter >= expected_;
  if (opened_newest_) {
    // The places of what lies between are those of counters that have left the window.
    if (counter - expected_ >= k_window)
      seen_.reset();
    else
      for (std::uint64_t c = expected_; c <= counter; ++c) seen_.reset(c % k_window);
    expected_ = counter + 1;
  }
  seen_.set(counter % k_window);
}

void write_relay(std::vector<std::byte>& out, const RelayEnvelope& envelope) {
  ByteWriter writer(out);
  writer.number(envelope.peer);
  writer.raw(envelope.datagram);
}

std::optional<RelayEnvelope> read_relay(std::span<const std::byte> bytes) noexcept {
  ByteReader in(bytes);
  const auto peer = in.number<std::uint8_t>();
  if (!in.ok() || !channel_of(in.rest())) return std::nullopt;
  return RelayEnvelope{peer, in.rest()};
}

}  // namespace cotouch
