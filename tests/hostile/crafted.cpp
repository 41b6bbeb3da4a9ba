#include "hostile/crafted.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

namespace cotouch::hostile {
namespace {

using asset::Header;
using asset::TableEntry;

std::size_t place_of_entry(std::size_t section) {
  return sizeof(Header) + section * sizeof(TableEntry);
}

// As many as there is room for, whatever the header says.
std::size_t count_of_sections(const Bytes& bytes) {
  if (bytes.size() < sizeof(Header)) return 0;
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return std::min<std::size_t>(header.sections, (bytes.size() - sizeof(Header)) / sizeof(TableEntry));
}

TableEntry entry_at(const Bytes& bytes, std::size_t section) {
  TableEntry entry;
  std::memcpy(&entry, bytes.data() + place_of_entry(section), sizeof entry);
  return entry;
}

// Where the section of that name stands in the table; past its end if it is not there.
std::size_t section_of(const Bytes& bytes, asset::Kind kind) {
  const std::string_view name = asset::k_kind_names[static_cast<std::size_t>(kind)];
  std::size_t section = 0;
  while (section < count_of_sections(bytes) && entry_at(bytes, section).title() != name) ++section;
  return section;
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
  const std::size_t section = section_of(bytes_, kind);
  return section < count_of_sections(bytes_) ? entry_at(bytes_, section) : TableEntry{};
}

CraftedPart& CraftedPart::put_entry(asset::Kind kind, const TableEntry& entry) {
  const std::size_t section = section_of(bytes_, kind);
  if (section >= count_of_sections(bytes_)) throw std::runtime_error("a section to be changed is not there");
  std::memcpy(bytes_.data() + place_of_entry(section), &entry, sizeof entry);
  return *this;
}

CraftedPart& CraftedPart::replace(asset::Kind kind, const Bytes& content) {
  const std::size_t count = count_of_sections(bytes_), replaced = section_of(bytes_, kind);
  if (replaced >= count) throw std::runtime_error("a section to be replaced is not there");
  std::vector<TableEntry> entries(count);
  std::vector<Bytes> sections(count);
  for (std::size_t i = 0; i < count; ++i) {
    entries[i] = entry_at(bytes_, i);
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(entries[i].offset);
    sections[i] = i == replaced ? content : Bytes(begin, begin + static_cast<std::ptrdiff_t>(entries[i].size));
  }
  bytes_.resize(place_of_entry(count));
  for (std::size_t i = 0; i < count; ++i) {
    bytes_.resize(asset::aligned(bytes_.size()));
    entries[i].offset = bytes_.size();
    entries[i].size = sections[i].size();
    std::memcpy(bytes_.data() + place_of_entry(i), &entries[i], sizeof entries[i]);
    bytes_.insert(bytes_.end(), sections[i].begin(), sections[i].end());
  }
  const std::uint64_t size = bytes_.size();
  std::memcpy(bytes_.data() + offsetof(Header, file_size), &size, sizeof size);
  return *this;
}

Bytes CraftedPart::take() const {
  Bytes out = bytes_;
  if (out.size() < sizeof(Header)) return out;
  const std::size_t count = count_of_sections(out);
  for (std::size_t i = 0; i < count; ++i) {
    TableEntry entry = entry_at(out, i);
    if (entry.offset > out.size() || entry.size > out.size() - entry.offset) continue;
    entry.hash = hash_bytes(std::span(out).subspan(entry.offset, entry.size));
    std::memcpy(out.data() + place_of_entry(i), &entry, sizeof entry);
  }
  Header header;
  std::memcpy(&header, out.data(), sizeof header);
  header.hash = asset::header_hash(header, std::span(out).subspan(sizeof(Header), count * sizeof(TableEntry)));
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
