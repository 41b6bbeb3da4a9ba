#include <cotouch/net/handshake_messages.h>

#include <cotouch/net/bytes.h>

#include <algorithm>

namespace cotouch {
namespace {

// Fills a span from its beginning; what is not written stays zero.
class Filler {
 public:
  explicit Filler(std::span<std::byte> out) : rest_(out) { std::ranges::fill(out, std::byte{0}); }
  void raw(std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, rest_.begin());
    rest_ = rest_.subspan(bytes.size());
  }
  template <class T>
  void number(T value) {
    raw(std::as_bytes(std::span(&value, 1)));
  }

 private:
  std::span<std::byte> rest_;
};

Filler begin(std::span<std::byte> out, DatagramType type, const ExchangeKey& ephemeral) {
  Filler filler(out);
  filler.number(type);
  filler.number(k_protocol_version);
  filler.raw(ephemeral.bytes);
  return filler;
}

template <class Array>
Array array_at(std::span<const std::byte> message, std::size_t offset) {
  Array out;
  std::ranges::copy(message.subspan(offset, out.size()), out.begin());
  return out;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// u16 length, the payload, zeros to the end.
void write_payload(Filler& filler, const PayloadBuffer& payload) {
  filler.number(static_cast<std::uint16_t>(payload.bytes().size()));
  filler.raw(payload.bytes());
}

bool read_payload(ByteReader& in, PayloadBuffer& payload) {
  const std::span<const std::byte> bytes = in.raw(in.number<std::uint16_t>());
  return in.ok() && payload.assign(bytes) && all_zero(in.rest());
}

// The parts of a Request or Answer between its head and its mac.
template <class Byte>
std::span<Byte> box_of(std::span<Byte> message, std::size_t head_bytes) {
  return message.subspan(head_bytes, message.size() - head_bytes - k_mac_bytes);
}

Digest hash_of_head(const Meeting& meeting, std::span<const std::byte> head) {
  return hash_of("cotouch handshake 1", {meeting.host.bytes, meeting.session, head});
}

SharedSecret request_key(const Meeting& meeting, const Digest& head_hash, const SharedSecret& static_secret) {
  return derive(meeting.secret.bytes(), "request", {head_hash, static_secret.bytes()});
}

Digest signed_digest(const Digest& head_hash, std::span<const std::byte> credential, const PayloadBuffer& payload) {
  return hash_of("cotouch request", {head_hash, credential, payload.bytes()});
}

SharedSecret root_of(const InviteSecret& secret, const Digest& request_hash, std::span<const std::byte> head,
                     const AnswerSecrets& secrets) {
  const Digest answer_hash = hash_of("cotouch answer", {request_hash, head});
  return derive(
      secret.bytes(), "root",
      {answer_hash, secrets.static_secret.bytes(), secrets.ephemeral_secret.bytes(), secrets.join_secret.bytes()});
}

}  // namespace

bool PayloadBuffer::assign(std::span<const std::byte> bytes) noexcept {
  size_ = bytes.size() <= bytes_.size() ? bytes.size() : 0;
  std::ranges::copy(bytes.first(size_), bytes_.begin());
  return size_ == bytes.size();
}

MacKey::MacKey(const InviteSecret& secret) noexcept : key_(derive(secret.bytes(), "cotouch mac", {})) {
}

Mac MacKey::mac_of(std::span<const std::byte> before) const noexcept {
  return array_at<Mac>(derive(key_.bytes(), "mac", {before}).bytes(), 0);
}

void MacKey::sign(std::span<std::byte> message) const noexcept {
  const Mac mac = mac_of(message.first(message.size() - k_mac_bytes));
  std::ranges::copy(mac, message.last(k_mac_bytes).begin());
}

bool MacKey::verify(std::span<const std::byte> message) const noexcept {
  if (message.size() < k_mac_bytes) return false;
  return equal_in_constant_time(mac_of(message.first(message.size() - k_mac_bytes)), message.last(k_mac_bytes));
}

std::optional<AttemptHead> read_head(std::span<const std::byte> message) noexcept {
  if (message.size() < k_attempt_head_bytes + k_mac_bytes) return std::nullopt;
  AttemptHead head;
  head.type = static_cast<DatagramType>(message[0]);
  head.version = static_cast<std::uint8_t>(message[1]);
  head.ephemeral.bytes = array_at<std::array<std::byte, 32>>(message, 2);
  return head;
}

void write_hello(const MacKey& key, const ExchangeKey& ephemeral, std::span<std::byte, k_hello_bytes> out) noexcept {
  begin(out, DatagramType::hello, ephemeral);
  key.sign(out);
}

bool is_exact_hello(std::span<const std::byte> message) noexcept {
  return message.size() == k_hello_bytes &&
         all_zero(message.subspan(k_attempt_head_bytes, k_hello_bytes - k_attempt_head_bytes - k_mac_bytes));
}

void write_challenge(const MacKey& key, const ExchangeKey& ephemeral, const Cookie& cookie,
                     std::span<std::byte, k_challenge_bytes> out) noexcept {
  begin(out, DatagramType::challenge, ephemeral).raw(cookie);
  key.sign(out);
}

Cookie challenge_cookie(std::span<const std::byte, k_challenge_bytes> message) noexcept {
  return array_at<Cookie>(message, k_attempt_head_bytes);
}

Cookie cookie_for(const Secret<32>& cookie_secret, const NetAddress& address, const ExchangeKey& ephemeral) noexcept {
  const std::uint8_t kind = address.is_v6() ? 6 : 4;
  const std::uint16_t port = address.port();
  return array_at<Cookie>(derive(cookie_secret.bytes(), "cookie",
                                 {std::as_bytes(std::span(&kind, 1)), std::as_bytes(address.bytes()),
                                  std::as_bytes(std::span(&port, 1)), ephemeral.bytes})
                              .bytes(),
                          0);
}

void write_refusal(const MacKey& key, const ExchangeKey& ephemeral, RefusalReason reason,
                   std::span<std::byte, k_refusal_bytes> out) noexcept {
  Filler filler = begin(out, DatagramType::refusal, ephemeral);
  filler.number(reason);
  filler.number(k_protocol_version);
  key.sign(out);
}

RefusalMessage read_refusal(std::span<const std::byte, k_refusal_bytes> message) noexcept {
  return {static_cast<RefusalReason>(message[k_attempt_head_bytes]),
          static_cast<std::uint8_t>(message[k_attempt_head_bytes + 1])};
}

Digest write_request(const Meeting& meeting, const MacKey& key, const ExchangeKey& ephemeral, const Cookie& cookie,
                     const SharedSecret& static_secret, const Identity& joiner, const RequestContent& content,
                     std::span<std::byte, k_request_bytes> out) noexcept {
  begin(out, DatagramType::request, ephemeral).raw(cookie);
  const std::span<const std::byte> head = out.first(k_request_head_bytes);
  const Digest head_hash = hash_of_head(meeting, head);

  Secret<k_request_text_bytes> text;
  Filler filler(text.bytes());
  filler.raw(content.credential.identity.bytes);
  filler.raw(content.credential.join_key.bytes);
  filler.raw(content.credential.signature);
  const std::span<const std::byte> credential = text.bytes().first(Credential::k_bytes);
  filler.raw(joiner.sign(signed_digest(head_hash, credential, content.payload)));
  write_payload(filler, content.payload);

  const std::span<std::byte> box = box_of(std::span<std::byte>(out), k_request_head_bytes);
  seal_box(request_key(meeting, head_hash, static_secret), 0, head, text.bytes(), box);
  key.sign(out);
  return hash_of("cotouch box", {head_hash, box});
}

Cookie request_cookie(std::span<const std::byte, k_request_bytes> message) noexcept {
  return array_at<Cookie>(message, k_attempt_head_bytes);
}

std::optional<Digest> open_request(const Meeting& meeting, const SharedSecret& static_secret,
                                   std::span<const std::byte, k_request_bytes> message,
                                   RequestContent& content) noexcept {
  const std::span<const std::byte> head = message.first(k_request_head_bytes);
  const std::span<const std::byte> box = box_of(std::span<const std::byte>(message), k_request_head_bytes);
  const Digest head_hash = hash_of_head(meeting, head);
  Secret<k_request_text_bytes> text;
  if (!open_box(request_key(meeting, head_hash, static_secret), 0, head, box, text.bytes())) return std::nullopt;

  ByteReader in(text.bytes());
  content.credential = Credential::read(in);
  const auto signature = array_at<Signature>(in.raw(sizeof(Signature)), 0);
  if (!read_payload(in, content.payload)) return std::nullopt;
  const std::span<const std::byte> credential = text.bytes().first(Credential::k_bytes);
  if (!content.credential.valid_in(meeting.session) ||
      !verify(content.credential.identity, signed_digest(head_hash, credential, content.payload), signature))
    return std::nullopt;
  return hash_of("cotouch box", {head_hash, box});
}

ChannelKeys write_answer(const InviteSecret& secret, const MacKey& key, const Digest& request_hash,
                         const ExchangeKey& ephemeral, const ExchangeKey& host_ephemeral, const AnswerSecrets& secrets,
                         const AnswerContent& content, std::span<std::byte, k_answer_bytes> out) noexcept {
  begin(out, DatagramType::answer, ephemeral).raw(host_ephemeral.bytes);
  const std::span<const std::byte> head = out.first(k_answer_head_bytes);
  const SharedSecret root = root_of(secret, request_hash, head, secrets);

  Secret<k_answer_text_bytes> text;
  Filler filler(text.bytes());
  filler.number<std::uint8_t>(content.accepted ? 1 : 0);
  write_payload(filler, content.payload);
  const std::span<std::byte> box = box_of(std::span<std::byte>(out), k_answer_head_bytes);
  seal_box(derive(root.bytes(), "answer", {}), 0, head, text.bytes(), box);
  key.sign(out);
  return {derive(root.bytes(), "host to joiner", {box}), derive(root.bytes(), "joiner to host", {box})};
}

ExchangeKey answer_ephemeral(std::span<const std::byte, k_answer_bytes> message) noexcept {
  return {array_at<std::array<std::byte, 32>>(message, k_attempt_head_bytes)};
}

std::optional<ChannelKeys> open_answer(const InviteSecret& secret, const Digest& request_hash,
                                       const AnswerSecrets& secrets, std::span<const std::byte, k_answer_bytes> message,
                                       AnswerContent& content) noexcept {
  const std::span<const std::byte> head = message.first(k_answer_head_bytes);
  const std::span<const std::byte> box = box_of(std::span<const std::byte>(message), k_answer_head_bytes);
  const SharedSecret root = root_of(secret, request_hash, head, secrets);
  Secret<k_answer_text_bytes> text;
  if (!open_box(derive(root.bytes(), "answer", {}), 0, head, box, text.bytes())) return std::nullopt;
  ByteReader in(text.bytes());
  const auto accepted = in.number<std::uint8_t>();
  if (accepted > 1 || !read_payload(in, content.payload)) return std::nullopt;
  content.accepted = accepted == 1;
  return ChannelKeys{derive(root.bytes(), "joiner to host", {box}), derive(root.bytes(), "host to joiner", {box})};
}

}  // namespace cotouch
