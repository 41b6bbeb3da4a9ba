// Typed cryptography on libsodium: keys that cannot be mistaken for one another, and a keyed hash whose parts cannot
// run into each other. docs/protocol.md says how the pieces are put together. Nothing here throws because of what
// strangers send; an Error means that the machine gives no random numbers or a file cannot be used.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cotouch {

// Bytes that are overwritten when they are no longer needed.
template <std::size_t Size>
class Secret {
 public:
  Secret() = default;
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret() { wipe(); }

  std::span<std::byte, Size> bytes() { return bytes_; }
  std::span<const std::byte, Size> bytes() const { return bytes_; }
  void wipe();

 private:
  std::array<std::byte, Size> bytes_{};
};
void wipe_bytes(std::span<std::byte> bytes) noexcept;
template <std::size_t Size>
void Secret<Size>::wipe() {
  wipe_bytes(bytes_);
}

using Digest = std::array<std::byte, 32>;
using SessionId = std::array<std::byte, 16>;
using Signature = std::array<std::byte, 64>;
using InviteSecret = Secret<16>;
using SharedSecret = Secret<32>;

void random_bytes(std::span<std::byte> out);
bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;

// BLAKE2b of the label and the parts, each with its length before it, so that different lists are different bytes.
using HashParts = std::initializer_list<std::span<const std::byte>>;
Digest hash_of(std::string_view label, HashParts parts) noexcept;                                       // H
SharedSecret derive(std::span<const std::byte> key, std::string_view label, HashParts parts) noexcept;  // K

// ChaCha20-Poly1305 with `number` as the nonce, which must never come twice with the same key. The box is k_tag_bytes
// longer than the text, and opens only with the same header.
constexpr std::size_t k_tag_bytes = 16;
void seal_box(const SharedSecret& key, std::uint64_t number, std::span<const std::byte> header,
              std::span<const std::byte> text, std::span<std::byte> box) noexcept;
bool open_box(const SharedSecret& key, std::uint64_t number, std::span<const std::byte> header,
              std::span<const std::byte> box, std::span<std::byte> text) noexcept;

// Ed25519: who somebody is.
struct PublicKey {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};
bool verify(const PublicKey& signer, std::span<const std::byte> message, const Signature& signature) noexcept;
// What people read to each other to make sure that they know the same key: eight groups of four hexadecimal digits.
std::string fingerprint(const PublicKey& key);
// Two hexadecimal digits a byte.
std::string hex_of(std::span<const std::byte> bytes);

// X25519: what two sides agree on a secret with.
struct ExchangeKey {
  std::array<std::byte, 32> bytes{};
  friend auto operator<=>(const ExchangeKey&, const ExchangeKey&) = default;
};
// The same person's key on the other curve; none if it is not a sound key.
std::optional<ExchangeKey> exchange_key_of(const PublicKey& key) noexcept;

class ExchangePair {
 public:
  static ExchangePair make();  // a new one

  const ExchangeKey& public_key() const { return public_; }
  // None if the other side's key is one of the few that make every secret the same.
  std::optional<SharedSecret> shared_with(const ExchangeKey& other) const noexcept;

 private:
  friend class Identity;
  Secret<32> secret_;
  ExchangeKey public_;
};

// A person's Ed25519 key pair, kept in a file.
class Identity {
 public:
  static Identity make();
  // The one in the file; a new one is made and saved there if there is no file. Only its owner may read the file: if
  // others could, Error says so. Two programs that start at once end up with the same identity.
  static Identity load_or_make(const std::filesystem::path& file);

  const PublicKey& public_key() const { return public_; }
  // The same key pair on the other curve.
  const ExchangePair& exchange() const { return exchange_; }
  Signature sign(std::span<const std::byte> message) const noexcept;

 private:
  explicit Identity(const Secret<32>& seed);
  static std::optional<Identity> load(const std::filesystem::path& file);

  Secret<64> secret_;
  PublicKey public_;
  ExchangePair exchange_;
};

}  // namespace cotouch
