// Seeded random numbers, the same on every machine (the standard distributions are not).
#pragma once

#include <cotouch/base/vec.h>

#include <cstdint>

namespace cotouch {

// SplitMix64 (Steele, Lea & Flood 2014): one 64-bit counter, a strong mix, any seed is a good seed.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1).
  constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Uniform in [0, count); the bias of count / 2^64 is far below anything measurable.
  constexpr std::uint64_t below(std::uint64_t count) { return bits() % count; }
  // Uniform on the unit sphere.
  Vec3d direction() {
    for (;;) {
      const Vec3d v{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
      const double length_squared = norm_squared(v);
      if (length_squared > 1e-6 && length_squared <= 1) return v / std::sqrt(length_squared);
    }
  }
  // Any direction, a length from `shortest` to `longest`. (direction() * uniform() would draw in an order that is the
  // compiler's to choose, and so differ from machine to machine.)
  Vec3d vector(double shortest, double longest) {
    const Vec3d along = direction();
    return along * uniform(shortest, longest);
  }

 private:
  std::uint64_t state_;
};

}  // namespace cotouch
