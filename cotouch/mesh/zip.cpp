#include <cotouch/mesh/zip.h>

#include <array>
#include <cstdint>
#include <vector>

namespace cotouch {
namespace {

// Thrown when the packed data ends or makes no sense; what was unpacked until then stays.
struct Damaged {};

std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size) throw Damaged{};
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

std::string_view part(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size()) throw Damaged{};
  return bytes.substr(at, size);
}

// Unpacks DEFLATE (RFC 1951), bit by bit: slow, but a kilobyte is all anyone asks of it.
class Inflater {
 public:
  Inflater(std::string_view packed, std::size_t most, std::string& out) : packed_(packed), most_(most), out_(out) {}

  void run() {
    bool last = false;
    while (!last && out_.size() < most_) {
      last = bits(1) != 0;
      const std::uint32_t kind = bits(2);
      if (kind == 0)
        stored();
      else if (kind == 1)
        compressed(fixed_literals(), fixed_distances());
      else if (kind == 2)
        dynamic();
      else
        throw Damaged{};
    }
  }

 private:
  static constexpr int k_longest = 15;
  // A canonical Huffman code: how many codes have each length, and the symbols in the order of their codes.
  struct Code {
    std::array<int, k_longest + 1> count{};
    std::vector<int> symbols;
  };

  static Code make_code(std::span<const std::uint8_t> lengths) {
    Code code;
    for (const std::uint8_t length : lengths) ++code.count[length];
    code.count[0] = 0;
    for (int length = 1; length <= k_longest; ++length)
      for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
        if (lengths[symbol] == length) code.symbols.push_back(static_cast<int>(symbol));
    return code;
  }
  static Code fixed_literals() {
    std::array<std::uint8_t, 288> lengths{};
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    return make_code(lengths);
  }
  static Code fixed_distances() {
    std::array<std::uint8_t, 30> lengths{};
    lengths.fill(5);
    return make_code(lengths);
  }

  std::uint32_t bits(int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i, ++position_) {
      if (position_ / 8 >= packed_.size()) throw Damaged{};
      const auto byte = static_cast<unsigned char>(packed_[position_ / 8]);
      value |= static_cast<std::uint32_t>(byte >> (position_ % 8) & 1) << i;
    }
    return value;
  }

  // Codes of one length are consecutive numbers; the first of each length follows from the counts of the shorter ones.
  int symbol(const Code& code) {
    int value = 0, first = 0, index = 0;
    for (std::size_t length = 1; length <= k_longest; ++length) {
      value |= static_cast<int>(bits(1));
      const int count = code.count[length];
      if (value - first < count) {
        const auto at = static_cast<std::size_t>(index + value - first);
        if (value < first || at >= code.symbols.size()) throw Damaged{};
        return code.symbols[at];
      }
      index += count;
      first = (first + count) << 1;
      value <<= 1;
    }
    throw Damaged{};
  }

  void stored() {
    position_ = (position_ + 7) / 8 * 8;
    const std::uint32_t length = bits(16);
    bits(16);  // its complement
    for (std::uint32_t i = 0; i < length && out_.size() < most_; ++i) out_.push_back(static_cast<char>(bits(8)));
  }

  void compressed(const Code& literals, const Code& distances) {
    while (out_.size() < most_) {
      const int what = symbol(literals);
      if (what < 256) {
        out_.push_back(static_cast<char>(what));
        continue;
      }
      if (what == 256) return;
      // A copy of earlier output. Lengths and distances come in groups of four and two with one more extra bit each.
      if (what > 285) throw Damaged{};
      const int group = what - 257;
      int length = group + 3;
      if (what == 285)
        length = 258;
      else if (group >= 8)
        length = ((group % 4 + 4) << (group / 4 - 1)) + 3 + static_cast<int>(bits(group / 4 - 1));
      const int code = symbol(distances);
      if (code > 29) throw Damaged{};
      std::size_t distance = static_cast<std::size_t>(code) + 1;
      if (code >= 4) distance = (static_cast<std::size_t>(code % 2 + 2) << (code / 2 - 1)) + 1 + bits(code / 2 - 1);
      if (distance > out_.size()) throw Damaged{};
      for (int i = 0; i < length; ++i) out_.push_back(out_[out_.size() - distance]);
    }
  }

  void dynamic() {
    static constexpr std::array<std::uint8_t, 19> k_order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
    const std::size_t literals = bits(5) + 257, distances = bits(5) + 1, codes = bits(4) + 4;
    std::array<std::uint8_t, 19> code_lengths{};
    for (std::size_t i = 0; i < codes; ++i) code_lengths[k_order[i]] = static_cast<std::uint8_t>(bits(3));
    const Code code = make_code(code_lengths);
    std::vector<std::uint8_t> lengths;
    while (lengths.size() < literals + distances) {
      const int what = symbol(code);
      if (what < 16) {
        lengths.push_back(static_cast<std::uint8_t>(what));
        continue;
      }
      if (what == 16 && lengths.empty()) throw Damaged{};
      const std::uint8_t repeated = what == 16 ? lengths.back() : std::uint8_t{0};
      const std::size_t times = what == 16 ? 3 + bits(2) : what == 17 ? 3 + bits(3) : 11 + bits(7);
      lengths.insert(lengths.end(), times, repeated);
    }
    lengths.resize(literals + distances);
    const std::span<const std::uint8_t> all(lengths);
    compressed(make_code(all.first(literals)), make_code(all.subspan(literals)));
  }

  std::string_view packed_;
  std::size_t most_;
  std::string& out_;
  std::size_t position_ = 0;  // in bits
};

}  // namespace

std::string zip_beginning(std::span<const std::byte> archive, std::string_view ending, std::size_t most) {
  const std::string_view bytes(reinterpret_cast<const char*>(archive.data()), archive.size());
  std::string out;
  try {
    // The directory is found from the end, where its last record says where it begins and how many files there are.
    const std::size_t end = bytes.rfind(std::string_view("PK\5\6", 4));
    if (end == std::string_view::npos) return out;
    const std::uint32_t files = number(bytes, end + 10, 2);
    std::size_t at = number(bytes, end + 16, 4);
    for (std::uint32_t i = 0; i < files; ++i) {
      if (part(bytes, at, 4) != std::string_view("PK\1\2", 4)) return out;
      const std::uint32_t method = number(bytes, at + 10, 2), packed_size = number(bytes, at + 20, 4);
      const std::uint32_t name_size = number(bytes, at + 28, 2);
      if (part(bytes, at + 46, name_size).ends_with(ending)) {
        const std::size_t local = number(bytes, at + 42, 4);
        const std::size_t data = local + 30 + number(bytes, local + 26, 2) + number(bytes, local + 28, 2);
        const std::string_view packed = part(bytes, data, packed_size);
        if (method == 0) out = packed.substr(0, most);
        if (method == 8) Inflater(packed, most, out).run();
        break;
      }
      at += 46 + name_size + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    }
  } catch (const Damaged&) {
    // What could be read is the answer.
  }
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace cotouch
