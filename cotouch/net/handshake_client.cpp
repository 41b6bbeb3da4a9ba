#include <cotouch/net/handshake.h>

#include <cotouch/base/error.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_first_interval = 0.25, k_longest_interval = 1;  // s

}  // namespace

ClientHandshake::ClientHandshake(const Invite& invite, const Identity& identity, std::span<const std::byte> payload,
                                 double now, double patience)
    : invite_(invite),
      identity_(identity),
      session_(invite.session()),
      join_key_(identity, session_),
      mac_key_(invite.secret),
      began_(now),
      patience_(patience) {
  content_.credential = join_key_.credential();
  if (!content_.payload.assign(payload))
    throw Error("What is sent with a request to join is too long (at most " + std::to_string(k_largest_payload) +
                    " bytes); choose a shorter name.",
                ErrorCode::too_large);
  const std::optional<ExchangeKey> host = exchange_key_of(invite.host);
  if (!host) throw Error("The invite names a host that cannot exist; ask for a new one.", ErrorCode::invalid_argument);
  host_exchange_ = *host;
  begin_attempt(now);
}

std::span<const std::byte> ClientHandshake::due(double now) {
  if (over()) return {};
  if (now - began_ >= patience_) {
    end(State::gave_up);
    return {};
  }
  if (state_ == State::requesting && now - requested_at_ >= k_attempt_seconds) begin_attempt(now);
  if (now < next_send_) return {};
  next_send_ = now + interval_;
  interval_ = std::min(2 * interval_, k_longest_interval);
  return std::span(sent_).first(sent_bytes_);
}

std::span<const NetAddress> ClientHandshake::targets() const {
  if (state_ == State::looking) return invite_.addresses;
  return std::span(&host_address_, 1);
}

bool ClientHandshake::receive(std::span<const std::byte> datagram, const NetAddress& from, double now) {
  if (over()) return false;
  const std::optional<AttemptHead> head = read_head(datagram);
  if (!head || head->ephemeral != ephemeral_.public_key()) return false;
  if (std::ranges::find(targets(), from) == targets().end()) return false;
  // A refusal may come from a host of another version; it is the same in all of them.
  if (head->version != k_protocol_version && head->type != DatagramType::refusal) return false;
  switch (head->type) {
    case DatagramType::challenge: return take_challenge(datagram, from, now);
    case DatagramType::answer: return take_answer(datagram);
    case DatagramType::refusal: return take_refusal(datagram);
    default: return false;
  }
}

void ClientHandshake::begin_attempt(double now) {
  state_ = State::looking;
  ephemeral_ = ExchangePair::make();
  write_hello(mac_key_, ephemeral_.public_key(), std::span(sent_).first<k_hello_bytes>());
  sent_bytes_ = k_hello_bytes;
  send_from(now);
}

void ClientHandshake::send_from(double now) {
  next_send_ = now;
  interval_ = k_first_interval;
}

bool ClientHandshake::take_challenge(std::span<const std::byte> datagram, const NetAddress& from, double now) {
  if (state_ != State::looking || datagram.size() != k_challenge_bytes || !mac_key_.verify(datagram)) return false;
  const std::optional<SharedSecret> static_secret = ephemeral_.shared_with(host_exchange_);
  if (!static_secret) return false;
  static_secret_ = *static_secret;
  const Cookie cookie = challenge_cookie(datagram.first<k_challenge_bytes>());
  request_hash_ = write_request({invite_.host, session_, invite_.secret}, mac_key_, ephemeral_.public_key(), cookie,
                                static_secret_, identity_, content_, sent_);
  sent_bytes_ = k_request_bytes;
  host_address_ = from;
  state_ = State::requesting;
  requested_at_ = now;
  send_from(now);
  return true;
}

bool ClientHandshake::take_answer(std::span<const std::byte> datagram) {
  if (state_ != State::requesting || datagram.size() != k_answer_bytes || !mac_key_.verify(datagram)) return false;
  const auto message = datagram.first<k_answer_bytes>();
  const ExchangeKey host_ephemeral = answer_ephemeral(message);
  const std::optional<SharedSecret> ephemeral_secret = ephemeral_.shared_with(host_ephemeral);
  const std::optional<SharedSecret> join_secret = join_key_.exchange().shared_with(host_ephemeral);
  if (!ephemeral_secret || !join_secret) return false;
  const auto keys =
      open_answer(invite_.secret, request_hash_, {static_secret_, *ephemeral_secret, *join_secret}, message, answer_);
  if (!keys) return false;
  if (answer_.accepted) keys_ = *keys;
  end(answer_.accepted ? State::accepted : State::rejected);
  return true;
}

bool ClientHandshake::take_refusal(std::span<const std::byte> datagram) {
  if (datagram.size() != k_refusal_bytes || !mac_key_.verify(datagram)) return false;
  refusal_ = read_refusal(datagram.first<k_refusal_bytes>());
  end(State::refused);
  return true;
}

void ClientHandshake::end(State state) {
  state_ = state;
  ephemeral_ = {};
  static_secret_.wipe();
}

}  // namespace cotouch
