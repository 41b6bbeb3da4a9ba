// What the lookups with vectors share. A block of points goes through three loops, whose buffers stay in the
// first-level cache:
// 1. Map every point to its cell. Only arithmetic, a lane for each point.
// 2. Find every cell's brick and begin to fetch its samples. Short, so that many bricks are on their way at once.
// 3. Interpolate, a lane for each point.
// The first and the last differ between processors. Points outside the box or in a coarse brick are listed by the
// second loop and looked up one by one at the end.
#pragma once

#include <cotouch/field/field.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cotouch::detail {

constexpr std::uint32_t k_block = 128;
constexpr int k_dy = FieldData::k_brick_side, k_dz = k_dy * k_dy;

struct Block {
  alignas(32) float x[k_block], y[k_block], z[k_block];  // within the cell, 0..1
  alignas(32) std::uint32_t brick[k_block];              // its place in `brick_index`, 0 outside the box
  alignas(32) std::uint32_t local[k_block];         // the cell's low corner in its brick, k_outside outside the box
  alignas(32) const std::int16_t* sample[k_block];  // the cell's low corner
  std::uint32_t listed[k_block];                    // points without fine samples

  static constexpr std::uint32_t k_outside = 0xffffffff;
};

// Four bytes as they are: a position's coordinate, or two samples that follow each other.
inline std::uint32_t bits_at(const void* place) {
  std::uint32_t bits;
  std::memcpy(&bits, place, sizeof bits);
  return bits;
}

// Returns how many points have no fine samples. They read the first sample instead, to no effect.
inline std::uint32_t find_samples(const FieldData& data, std::uint32_t count, Block& block) {
  const std::uint32_t* const brick_index = data.brick_index.data();
  const std::int16_t* const samples = data.samples.data();
  // The upper bit tells both k_coarse and k_outside from all others.
  const auto is_fine = [](std::uint32_t bits) { return static_cast<std::int32_t>(bits) >= 0; };
  const auto fetched = [samples](std::uint32_t slot, std::uint32_t local) {
    const std::int16_t* const sample = samples + std::size_t{slot} * FieldData::k_brick_samples + local;
    __builtin_prefetch(sample);
    __builtin_prefetch(sample + k_dz + k_dy + 1);
    return sample;
  };
  std::uint32_t listed = 0;
  for (std::uint32_t i = 0; i < count; i += 4) {  // one branch for four points
    const std::uint32_t* const local = block.local + i;
    std::uint32_t slot[4], all = 0;
    for (std::uint32_t k = 0; k < 4; ++k) {
      slot[k] = brick_index[block.brick[i + k]];
      all |= slot[k] | local[k];
    }
    if (is_fine(all)) [[likely]] {
      for (std::uint32_t k = 0; k < 4; ++k) block.sample[i + k] = fetched(slot[k], local[k]);
    } else {
      for (std::uint32_t k = 0; k < 4; ++k) {
        const bool fine = is_fine(slot[k] | local[k]);
        block.sample[i + k] = fine ? fetched(slot[k], local[k]) : samples;
        if (!fine) block.listed[listed++] = i + k;
      }
    }
  }
  return listed;
}

// `find_cells` fills a block up to its `brick` and `local`, `interpolate` writes distances; both take whole vectors.
template <std::uint32_t lanes, class FindCells, class Interpolate>
void look_up_blocks(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                    std::uint32_t count, float* distance, FindCells find_cells, Interpolate interpolate) noexcept {
  const auto one_by_one = [&](std::uint32_t i) { distance[i] = field.distance_in_cells(map(positions[index[i]])); };
  const FieldData& data = field.data();
  Block block;
  const std::uint32_t whole = count / lanes * lanes;
  for (std::uint32_t begin = 0; begin < whole; begin += k_block) {
    const std::uint32_t size = std::min(k_block, whole - begin);
    find_cells(data.bricks, map, positions, index + begin, size, block);
    const std::uint32_t listed = find_samples(data, size, block);
    if (listed < size) interpolate(data.quantum, size, block, distance + begin);
    for (std::uint32_t k = 0; k < listed; ++k) one_by_one(begin + block.listed[k]);
  }
  for (std::uint32_t i = whole; i < count; ++i) one_by_one(i);
}

}  // namespace cotouch::detail
