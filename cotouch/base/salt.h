// For tables that hold what strangers made: where something is looked for first depends on a number that is another one
// in each run. With a known one, a file could be made of which everything meets in one place of the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace cotouch {

inline std::uint64_t table_salt() {
  static const std::uint64_t k_salt = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
  }();
  return k_salt;
}

// One step of such a hash, from the salt on.
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t key) {
  hash = (hash ^ key) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 29U;
}

struct SaltedHash {
  std::size_t operator()(std::uint64_t key) const { return mixed(table_salt(), key); }
};

}  // namespace cotouch
