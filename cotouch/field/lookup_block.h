// What the kinds of lookups share. A block of points goes through three loops, whose buffers stay in the first-level
// cache:
// 1. Map every point to its cell. Only arithmetic, a lane for each point.
// 2. Find every cell's brick and begin to fetch its samples. Short, so that many bricks are on their way at once.
// 3. Interpolate, a lane for each point.
// The first and the last differ between processors. Points outside the box or in a coarse brick are listed by the
// second loop and looked up one by one at the end.
#pragma once

#include <cotouch/field/field.h>

#include <cstdint>
#include <cstring>

namespace cotouch::detail {

constexpr int k_dy = FieldData::k_brick_side, k_dz = k_dy * k_dy;

struct LookUpBlock {
  static constexpr std::uint32_t k_size = 128;
  static constexpr std::uint32_t k_outside = 0xffffffff;

  alignas(32) float x[k_size], y[k_size], z[k_size];  // cells from the box's low corner
  alignas(32) std::uint32_t brick[k_size];            // its place in `brick_index`, 0 outside the box
  alignas(32) std::uint32_t local[k_size];            // the cell's low corner in its brick, k_outside outside the box
  alignas(32) const std::int16_t* sample[k_size];     // the cell's low corner
  std::uint32_t coarse[k_size], outside[k_size];      // points without fine samples
  std::uint32_t coarse_count, outside_count;
};

// Four bytes as they are: a position's coordinate, or two samples that follow each other.
inline std::uint32_t bits_at(const void* place) {
  std::uint32_t bits;
  std::memcpy(&bits, place, sizeof bits);
  return bits;
}

// LookUpKind::find_cells and interpolate for each kind of processor.
#if defined(__aarch64__)
void find_cells_neon(const Index3& bricks, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                     std::uint32_t count, LookUpBlock& block) noexcept;
void interpolate_neon(float quantum, std::uint32_t count, const LookUpBlock& block, float* distance) noexcept;
#elif defined(__x86_64__)
void find_cells_sse2(const Index3& bricks, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                     std::uint32_t count, LookUpBlock& block) noexcept;
void interpolate_sse2(float quantum, std::uint32_t count, const LookUpBlock& block, float* distance) noexcept;
void find_cells_avx2(const Index3& bricks, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                     std::uint32_t count, LookUpBlock& block) noexcept;
void interpolate_avx2(float quantum, std::uint32_t count, const LookUpBlock& block, float* distance) noexcept;
#endif

}  // namespace cotouch::detail
