// Whole-number places on a lattice, and where they stand in an array with x fastest.
#pragma once

#include <cotouch/base/vec.h>

#include <cstddef>
#include <cstdint>

namespace cotouch {

using Index3 = Vec3<std::int32_t>;

// In an array of `size` entries along each axis; `at` must lie within.
constexpr std::size_t flat_index(const Index3& at, const Index3& size) {
  const auto wide = [](std::int32_t v) { return static_cast<std::size_t>(v); };
  return (wide(at.z) * wide(size.y) + wide(at.y)) * wide(size.x) + wide(at.x);
}

constexpr Index3 unflatten(std::size_t index, const Index3& size) {
  const auto i = static_cast<std::int64_t>(index);
  return {static_cast<std::int32_t>(i % size.x), static_cast<std::int32_t>(i / size.x % size.y),
          static_cast<std::int32_t>(i / size.x / size.y)};
}

// One of a cube's eight corners, x in the lowest bit.
constexpr Index3 cube_corner(std::int32_t i) {
  return {i & 1, i >> 1 & 1, i >> 2};
}

}  // namespace cotouch
