#include <cotouch/base/hash.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cotouch {

struct Hasher::State {
  XXH3_state_t xxh;
};

std::uint64_t hash_bytes(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
Hasher::~Hasher() = default;

void Hasher::add_bytes(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

void Hasher::add(std::string_view text) noexcept {
  add(static_cast<std::uint64_t>(text.size()));
  add_bytes(std::as_bytes(std::span(text)));
}

std::uint64_t Hasher::digest() const noexcept {
  return XXH3_64bits_digest(&state_->xxh);
}

std::string hex(std::uint64_t value) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

}  // namespace cotouch
