#include <cotouch/net/bytes.h>

namespace cotouch {

// Not inline: GCC 12 sees ghosts in vector::insert once it is.
void ByteWriter::raw(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::uint64_t ByteReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = number<std::uint8_t>();
    if (shift == 63 && byte > 1) break;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return ok_ ? value : 0;
  }
  fail();
  return 0;
}

std::string ByteReader::text(std::size_t longest) {
  const std::span<const std::byte> bytes = raw(varint(longest));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace cotouch
