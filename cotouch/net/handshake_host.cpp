#include <cotouch/net/handshake.h>

#include <cotouch/base/error.h>

#include <algorithm>

namespace cotouch {

HostHandshake::HostHandshake(const Identity& identity, const Invite& invite)
    : identity_(identity), invite_(invite), session_(invite.session()), mac_key_(invite.secret), kept_(k_kept_answers) {
}

HostHandshake::Outcome HostHandshake::receive(std::span<const std::byte> datagram, const NetAddress& from,
                                              const Moment& now) {
  asked_ = false;
  reply_bytes_ = 0;
  const std::optional<AttemptHead> head = read_head(datagram);
  const bool is_hello = head && head->type == DatagramType::hello && datagram.size() >= k_hello_bytes &&
                        datagram.size() <= k_largest_datagram;
  const bool is_request = head && head->type == DatagramType::request && head->version == k_protocol_version &&
                          datagram.size() == k_request_bytes;
  if (!is_hello && !is_request) return drop(counts_.malformed);
  if (!mac_key_.verify(datagram)) return drop(counts_.strangers);

  if (head->version != k_protocol_version) return send_refusal(head->ephemeral, RefusalReason::version);
  if (is_hello && !is_exact_hello(datagram)) return drop(counts_.malformed);
  if (invite_.expired(now.unix_seconds)) return send_refusal(head->ephemeral, RefusalReason::expired);
  draw_cookie_secrets(now.steady);
  return is_hello ? challenge(head->ephemeral, from)
                  : take_request(datagram.first<k_request_bytes>(), head->ephemeral, from, now.steady);
}

HostHandshake::Outcome HostHandshake::drop(std::uint64_t& counter) {
  ++counter;
  return Outcome::dropped;
}

HostHandshake::Outcome HostHandshake::send(std::size_t bytes, std::uint64_t& counter) {
  ++counter;
  reply_bytes_ = bytes;
  return Outcome::reply;
}

// A new secret after k_cookie_seconds; two if twice as many have passed, so that no cookie lives longer than that. A
// clock that was set back is treated as if much time had passed: joiners begin again and nobody waits.
void HostHandshake::draw_cookie_secrets(double steady) {
  const double age = steady - drawn_at_;
  if (generation_ != 0 && age >= 0 && age < k_cookie_seconds) return;
  const bool both = generation_ == 0 || age < 0 || age >= 2 * k_cookie_seconds;
  previous_cookie_secret_ = cookie_secret_;
  random_bytes(cookie_secret_.bytes());
  if (both) random_bytes(previous_cookie_secret_.bytes());
  generation_ += both ? 2 : 1;
  // Not when the draw was noticed, or cookies would live longer on a host to whom few come.
  drawn_at_ = both ? steady : drawn_at_ + k_cookie_seconds;
}

HostHandshake::Outcome HostHandshake::challenge(const ExchangeKey& ephemeral, const NetAddress& from) {
  write_challenge(mac_key_, ephemeral, cookie_for(cookie_secret_, from, ephemeral),
                  std::span(reply_).first<k_challenge_bytes>());
  return send(k_challenge_bytes, counts_.challenges);
}

HostHandshake::Outcome HostHandshake::send_refusal(const ExchangeKey& ephemeral, RefusalReason reason) {
  write_refusal(mac_key_, ephemeral, reason, std::span(reply_).first<k_refusal_bytes>());
  return send(k_refusal_bytes, counts_.refusals);
}

bool HostHandshake::cookie_is_ours(const Cookie& cookie, const NetAddress& from,
                                   const ExchangeKey& ephemeral) const noexcept {
  return equal_in_constant_time(cookie, cookie_for(cookie_secret_, from, ephemeral)) ||
         equal_in_constant_time(cookie, cookie_for(previous_cookie_secret_, from, ephemeral));
}

HostHandshake::Outcome HostHandshake::take_request(std::span<const std::byte, k_request_bytes> message,
                                                   const ExchangeKey& ephemeral, const NetAddress& from,
                                                   double steady) {
  if (!cookie_is_ours(request_cookie(message), from, ephemeral)) return drop(counts_.cookies);
  const auto mac = message.last<k_mac_bytes>();
  if (const KeptAnswer* kept = find_kept(ephemeral)) {
    if (!std::ranges::equal(kept->request_mac, mac)) return drop(counts_.forged);
    reply_ = kept->answer;
    return send(k_answer_bytes, counts_.repeated_answers);
  }
  if (free_place() == nullptr || !take_token(steady)) return drop(counts_.busy);
  std::ranges::copy(mac, request_mac_.begin());
  return examine(message, ephemeral, from);
}

HostHandshake::Outcome HostHandshake::examine(std::span<const std::byte, k_request_bytes> message,
                                              const ExchangeKey& ephemeral, const NetAddress& from) {
  const std::optional<SharedSecret> static_secret = identity_.exchange().shared_with(ephemeral);
  if (!static_secret) return drop(counts_.forged);
  const auto hash = open_request({invite_.host, session_, invite_.secret}, *static_secret, message, request_.content);
  if (!hash) return drop(counts_.forged);
  const ExchangePair host_pair = ExchangePair::make();
  const auto ephemeral_secret = host_pair.shared_with(ephemeral);
  const auto join_secret = host_pair.shared_with(request_.content.credential.join_key);
  if (!ephemeral_secret || !join_secret) return drop(counts_.forged);
  request_.from = from;
  request_ephemeral_ = ephemeral;
  host_ephemeral_ = host_pair.public_key();
  request_hash_ = *hash;
  static_secret_ = *static_secret;
  ephemeral_secret_ = *ephemeral_secret;
  join_secret_ = *join_secret;
  asked_ = true;
  return Outcome::asked;
}

bool HostHandshake::take_token(double steady) {
  const double passed = std::max(0.0, steady - refilled_at_);
  tokens_ = std::min(k_request_burst, tokens_ + passed * k_requests_per_second);
  refilled_at_ = steady;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

// Two draws after an answer was made, every cookie that could have brought its request is dead.
bool HostHandshake::is_free(const KeptAnswer& kept) const noexcept {
  return kept.generation == 0 || kept.generation + 2 <= generation_;
}

const HostHandshake::KeptAnswer* HostHandshake::find_kept(const ExchangeKey& ephemeral) const noexcept {
  const auto found = std::ranges::find_if(
      kept_, [&](const KeptAnswer& kept) { return !is_free(kept) && kept.ephemeral == ephemeral; });
  return found == kept_.end() ? nullptr : &*found;
}

HostHandshake::KeptAnswer* HostHandshake::free_place() noexcept {
  const auto found = std::ranges::find_if(kept_, [&](const KeptAnswer& kept) { return is_free(kept); });
  return found == kept_.end() ? nullptr : &*found;
}

ChannelKeys HostHandshake::accept(std::span<const std::byte> payload) {
  return answer(true, payload);
}

void HostHandshake::refuse(std::span<const std::byte> payload) {
  answer(false, payload);
}

ChannelKeys HostHandshake::answer(bool accepted, std::span<const std::byte> payload) {
  AnswerContent content;
  content.accepted = accepted;
  KeptAnswer* const place = free_place();
  if (!asked_ || place == nullptr || !content.payload.assign(payload))
    throw Error("A request to join was answered twice, too late, or at too great length.", ErrorCode::invalid_argument);
  asked_ = false;
  const ChannelKeys keys = write_answer(invite_.secret, mac_key_, request_hash_, request_ephemeral_, host_ephemeral_,
                                        {static_secret_, ephemeral_secret_, join_secret_}, content, reply_);
  *place = {request_ephemeral_, request_mac_, generation_, reply_};
  for (SharedSecret* secret : {&static_secret_, &ephemeral_secret_, &join_secret_}) secret->wipe();
  send(k_answer_bytes, counts_.answers);
  return keys;
}

}  // namespace cotouch
