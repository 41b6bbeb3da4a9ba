// A 64-bit hash (XXH3) of bytes, the same on every machine: asset checksums, cache keys and golden hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace cotouch {

std::uint64_t hash_bytes(std::span<const std::byte> bytes) noexcept;

// Hashes values one after another. Only types without padding: padding bytes are not part of a value.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void add_bytes(std::span<const std::byte> bytes) noexcept;
  void add(std::string_view text) noexcept;
  template <class T>
  void add(const T& value) noexcept {
    // A floating-point type may have two patterns for one value (0 and -0), which is just what a golden hash must see.
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
    add_bytes(std::as_bytes(std::span(&value, 1)));
  }
  std::uint64_t digest() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Sixteen hexadecimal digits.
std::string hex(std::uint64_t value);

}  // namespace cotouch
