// Objects of a real host, damaged so that every checksum in them is right.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/part/asset_format.h>
#include <cotouch/session/transfer.h>

#include <cstring>
#include <string>
#include <string_view>

namespace cotouch::hostile {

using cotouch::Bytes;

std::string text_of(const Bytes& bytes);
Bytes bytes_of(std::string_view text);
// With the first `what` replaced; throws if there is none, so that no case loses its meaning.
Bytes replaced(const Bytes& text, std::string_view what, std::string_view with);

// A prepared part whose sections can be written to. Its checksums are made right when it is taken.
class CraftedPart {
 public:
  explicit CraftedPart(Bytes bytes) : bytes_(std::move(bytes)) {}

  bool has(asset::Kind kind) const { return entry(kind).size > 0; }
  std::size_t size_of(asset::Kind kind) const { return entry(kind).size; }
  template <class T>
  T get(asset::Kind kind, std::size_t at_byte) const {
    T value;
    std::memcpy(&value, bytes_.data() + entry(kind).offset + at_byte, sizeof value);
    return value;
  }
  template <class T>
  CraftedPart& put(asset::Kind kind, std::size_t at_byte, T value) {
    std::memcpy(bytes_.data() + entry(kind).offset + at_byte, &value, sizeof value);
    return *this;
  }
  CraftedPart& put_entry(asset::Kind kind, const asset::TableEntry& entry);
  asset::TableEntry entry(asset::Kind kind) const;
  // Another content for a section, with all that follows moved.
  CraftedPart& replace(asset::Kind kind, const Bytes& content);
  Bytes& raw() { return bytes_; }
  Bytes take() const;

 private:
  Bytes bytes_;
};

// A few random changes: bytes, runs, lengths, numbers that are none. Checksums are right if it is a part.
Bytes mutated(Bytes bytes, bool is_part, Random& random);

}  // namespace cotouch::hostile
