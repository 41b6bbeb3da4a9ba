#include "hostile/crafted.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace cotouch::hostile {
namespace {

using asset::Header;
using asset::TableEntry;

std::size_t place_of_entry(asset::Kind kind) {
  return sizeof(Header) + (static_cast<std::size_t>(kind) - 1) * sizeof(TableEntry);
}

}  // namespace

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes replaced(const Bytes& bytes, std::string_view what, std::string_view with) {
  std::string text = text_of(bytes);
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("no '" + std::string(what) + "' in: " + text);
  return bytes_of(text.replace(at, what.size(), with));
}

TableEntry CraftedPart::entry(asset::Kind kind) const {
  TableEntry entry;
  std::memcpy(&entry, bytes_.data() + place_of_entry(kind), sizeof entry);
  return entry;
}

CraftedPart& CraftedPart::put_entry(asset::Kind kind, const TableEntry& entry) {
  std::memcpy(bytes_.data() + place_of_entry(kind), &entry, sizeof entry);
  return *this;
}

CraftedPart& CraftedPart::replace(asset::Kind kind, const Bytes& content) {
  const auto index = static_cast<std::size_t>(kind);
  std::array<Bytes, asset::k_kinds + 1> sections;
  for (std::size_t i = 1; i <= asset::k_kinds; ++i) {
    const TableEntry old = entry(static_cast<asset::Kind>(i));
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(old.offset);
    sections[i] = i == index ? content : Bytes(begin, begin + static_cast<std::ptrdiff_t>(old.size));
  }
  bytes_.resize(sizeof(Header) + asset::k_kinds * sizeof(TableEntry));
  for (std::size_t i = 1; i <= asset::k_kinds; ++i) {
    bytes_.resize(asset::aligned(bytes_.size()));
    put_entry(static_cast<asset::Kind>(i), {static_cast<asset::Kind>(i), 0, bytes_.size(), sections[i].size(), 0});
    bytes_.insert(bytes_.end(), sections[i].begin(), sections[i].end());
  }
  const std::uint64_t size = bytes_.size();
  std::memcpy(bytes_.data() + offsetof(Header, file_size), &size, sizeof size);
  return *this;
}

Bytes CraftedPart::take() const {
  Bytes out = bytes_;
  if (out.size() < sizeof(Header) + asset::k_kinds * sizeof(TableEntry)) return out;
  for (std::size_t i = 1; i <= asset::k_kinds; ++i) {
    const auto kind = static_cast<asset::Kind>(i);
    TableEntry entry;
    std::memcpy(&entry, out.data() + place_of_entry(kind), sizeof entry);
    if (entry.offset > out.size() || entry.size > out.size() - entry.offset) continue;
    entry.hash = hash_bytes(std::span(out).subspan(entry.offset, entry.size));
    std::memcpy(out.data() + place_of_entry(kind), &entry, sizeof entry);
  }
  Header header;
  std::memcpy(&header, out.data(), sizeof header);
  header.hash = asset::header_hash(header, std::span(out).subspan(sizeof(Header), asset::k_kinds * sizeof(TableEntry)));
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

Bytes mutated(Bytes bytes, bool is_part, Random& random) {
  static constexpr std::array<std::uint64_t, 8> k_numbers{0,
                                                          1,
                                                          0x7fffffff,
                                                          0xffffffff,
                                                          0xffffffffffffffff,
                                                          0x7ff8000000000000,   // no number
                                                          0x7fefffffffffffff,   // the largest double
                                                          0x7f8000007f800000};  // infinite, as two floats
  // Half of the changes go to what is small and says most: the header, the table, the small sections.
  const auto place = [&](std::size_t room) {
    const std::size_t small = std::min<std::size_t>(room, 4096);
    return static_cast<std::size_t>(random.below(random.below(2) == 0 ? small : room));
  };
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && bytes.size() > 16; --changes) {
    const std::size_t at = place(bytes.size() - 8);
    switch (random.below(8)) {
      case 0: bytes.resize(at + 1); break;
      case 1: bytes.insert(bytes.end(), random.below(4096), std::byte{7}); break;
      case 2:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min<std::size_t>(bytes.size() - at, random.below(256)), std::byte{0xff});
        break;
      case 3:
      case 4: bytes[at] ^= static_cast<std::byte>(1U << random.below(8)); break;
      case 5: {
        const std::size_t from = place(bytes.size() - 8);
        std::memmove(bytes.data() + at, bytes.data() + from, 8);
        break;
      }
      default: {
        const std::uint64_t number = k_numbers[random.below(k_numbers.size())];
        std::memcpy(bytes.data() + at / 4 * 4, &number, random.below(2) == 0 ? 4 : 8);
      }
    }
  }
  if (!is_part || bytes.size() < sizeof(Header)) return bytes;
  const std::uint64_t size = bytes.size();
  if (random.below(4) != 0) std::memcpy(bytes.data() + offsetof(Header, file_size), &size, sizeof size);
  return CraftedPart(std::move(bytes)).take();
}

}  // namespace cotouch::hostile
