// Writing and reading what goes over a network: little-endian, bounded, no exceptions. Reading past the end or a number
// that is out of its range makes the reader fail for good; whoever reads checks `ok()` once, at the end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cotouch {

static_assert(std::endian::native == std::endian::little, "numbers are sent in the machine's byte order");

class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    raw(std::as_bytes(std::span(&value, 1)));
  }
  // Seven bits a byte, the lowest first: small numbers take one byte.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  // Small numbers of either sign take one byte.
  void signed_varint(std::int64_t value) {
    varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void raw(std::span<const std::byte> bytes);
  // With its length before it.
  void text(std::string_view text) {
    varint(text.size());
    raw(std::as_bytes(std::span(text)));
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte>& bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    const std::span<const std::byte> bytes = raw(sizeof(T));
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::uint64_t varint();
  // Fails if it is larger than `most`.
  std::uint64_t varint(std::uint64_t most) {
    const std::uint64_t value = varint();
    if (value > most) fail();
    return ok_ ? value : 0;
  }
  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  // Empty, and failed, if there are not so many.
  std::span<const std::byte> raw(std::size_t count) {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::string text(std::size_t longest);
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  std::span<const std::byte> rest() const { return rest_; }
  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace cotouch
