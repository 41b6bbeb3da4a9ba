// What the fuzzers of the network share: choices taken from the input, altered copies of genuine packets, and random
// numbers that are the same in every run, so that a finding can be repeated.
#pragma once

#include <cotouch/base/random.h>

#include <sodium.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace cotouch::fuzzing {

using Datagram = std::vector<std::byte>;

inline void require(bool holds) {
  if (!holds) std::abort();
}

// Zeros after the end of the input.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  bool done() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  std::size_t below(std::size_t count) { return (byte() | static_cast<std::size_t>(byte()) << 8) % count; }
  Datagram bytes(std::size_t most) {
    Datagram out(below(most + 1));
    for (std::byte& each : out) each = std::byte{byte()};
    return out;
  }
  // A copy of which up to seven bytes are others, and which may be shorter or longer.
  Datagram altered(Datagram datagram) {
    const std::uint8_t how = byte();
    for (int i = how & 7; i > 0 && !datagram.empty(); --i) {
      const std::size_t place = below(datagram.size());
      datagram[place] ^= std::byte{byte()};
    }
    if ((how & 8) != 0) datagram.resize(below(1400));
    return datagram;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

inline Random& drawn() {
  static Random random(1);
  return random;
}

// From here on everything that is drawn is the same as the last time.
inline void draw_the_same_again() {
  drawn() = Random(1);
  static randombytes_implementation source{[] { return "the same"; },
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           [](void* out, std::size_t size) {
                                             auto* bytes = static_cast<std::uint8_t*>(out);
                                             for (std::size_t i = 0; i < size; ++i)
                                               bytes[i] = static_cast<std::uint8_t>(drawn().bits());
                                           },
                                           nullptr};
  static const bool set = sodium_init() >= 0 && randombytes_set_implementation(&source) == 0;
  require(set);
}

}  // namespace cotouch::fuzzing
