#include <cotouch/net/crypto.h>

#include <cotouch/base/error.h>

#include <sodium.h>

#include <cstring>

namespace cotouch {
namespace {

static_assert(crypto_generichash_BYTES == sizeof(Digest) && crypto_sign_BYTES == sizeof(Signature));
static_assert(crypto_sign_PUBLICKEYBYTES == sizeof(PublicKey) && crypto_scalarmult_BYTES == sizeof(ExchangeKey));
static_assert(crypto_aead_chacha20poly1305_ietf_ABYTES == k_tag_bytes);

void start_once() {
  static const int started = sodium_init();  // chooses the fastest code for this machine and opens the random device
  if (started < 0)
    throw Error("The operating system gives no random numbers, so nothing can be encrypted.", ErrorCode::io);
}

// libsodium's kind of bytes.
unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}
const unsigned char* raw(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
template <class Range>
auto* raw(Range&& bytes) {
  return raw(bytes.data());
}

void blake2b(std::span<const std::byte> key, std::string_view label, HashParts parts, std::span<std::byte> out) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, key.empty() ? nullptr : raw(key), key.size(), out.size());
  const auto label_size = static_cast<std::uint8_t>(label.size());
  crypto_generichash_update(&state, &label_size, 1);
  crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(label.data()), label.size());
  for (const std::span<const std::byte> part : parts) {
    const unsigned char size[2] = {static_cast<unsigned char>(part.size()),
                                   static_cast<unsigned char>(part.size() >> 8)};
    crypto_generichash_update(&state, size, sizeof size);
    crypto_generichash_update(&state, raw(part), part.size());
  }
  crypto_generichash_final(&state, raw(out), out.size());
  sodium_memzero(&state, sizeof state);
}

using Nonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

Nonce nonce_of(std::uint64_t number) {
  Nonce nonce{};
  std::memcpy(nonce.data() + 4, &number, sizeof number);
  return nonce;
}

}  // namespace

void wipe_bytes(std::span<std::byte> bytes) noexcept {
  sodium_memzero(bytes.data(), bytes.size());
}

void random_bytes(std::span<std::byte> out) {
  start_once();
  randombytes_buf(out.data(), out.size());
}

bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Digest hash_of(std::string_view label, HashParts parts) noexcept {
  Digest digest;
  blake2b({}, label, parts, digest);
  return digest;
}

SharedSecret derive(std::span<const std::byte> key, std::string_view label, HashParts parts) noexcept {
  SharedSecret secret;
  blake2b(key, label, parts, secret.bytes());
  return secret;
}

void seal_box(const SharedSecret& key, std::uint64_t number, std::span<const std::byte> header,
              std::span<const std::byte> text, std::span<std::byte> box) noexcept {
  crypto_aead_chacha20poly1305_ietf_encrypt(raw(box), nullptr, raw(text), text.size(), raw(header), header.size(),
                                            nullptr, nonce_of(number).data(), raw(key.bytes()));
}

bool open_box(const SharedSecret& key, std::uint64_t number, std::span<const std::byte> header,
              std::span<const std::byte> box, std::span<std::byte> text) noexcept {
  return crypto_aead_chacha20poly1305_ietf_decrypt(raw(text), nullptr, nullptr, raw(box), box.size(), raw(header),
                                                   header.size(), nonce_of(number).data(), raw(key.bytes())) == 0;
}

bool verify(const PublicKey& signer, std::span<const std::byte> message, const Signature& signature) noexcept {
  return crypto_sign_verify_detached(raw(signature), raw(message), message.size(), raw(signer.bytes)) == 0;
}

std::string fingerprint(const PublicKey& key) {
  const Digest digest = hash_of("cotouch fingerprint", {key.bytes});
  std::string text;
  for (std::size_t i = 0; i < 16; i += 2) {
    if (i > 0) text += ' ';
    text += hex_of(std::span(digest).subspan(i, 2));
  }
  return text;
}

std::string hex_of(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

std::optional<ExchangeKey> exchange_key_of(const PublicKey& key) noexcept {
  ExchangeKey exchange;
  if (crypto_sign_ed25519_pk_to_curve25519(raw(exchange.bytes), raw(key.bytes)) != 0) return std::nullopt;
  return exchange;
}

ExchangePair ExchangePair::make() {
  ExchangePair pair;
  random_bytes(pair.secret_.bytes());
  crypto_scalarmult_base(raw(pair.public_.bytes), raw(pair.secret_.bytes()));
  return pair;
}

std::optional<SharedSecret> ExchangePair::shared_with(const ExchangeKey& other) const noexcept {
  SharedSecret shared;
  if (crypto_scalarmult(raw(shared.bytes()), raw(secret_.bytes()), raw(other.bytes)) != 0) return std::nullopt;
  return shared;
}

Identity::Identity(const Secret<32>& seed) {
  start_once();
  crypto_sign_seed_keypair(raw(public_.bytes), raw(secret_.bytes()), raw(seed.bytes()));
  crypto_sign_ed25519_sk_to_curve25519(raw(exchange_.secret_.bytes()), raw(secret_.bytes()));
  crypto_scalarmult_base(raw(exchange_.public_.bytes), raw(exchange_.secret_.bytes()));
}

Identity Identity::make() {
  Secret<32> seed;
  random_bytes(seed.bytes());
  return Identity(seed);
}

Signature Identity::sign(std::span<const std::byte> message) const noexcept {
  Signature signature;
  crypto_sign_detached(raw(signature), nullptr, raw(message), message.size(), raw(secret_.bytes()));
  return signature;
}

}  // namespace cotouch
