// Lookups of four points at a time with NEON, which every arm64 processor has.
//
// A block of points goes through three loops, whose buffers stay in the first-level cache:
// 1. Map every point to its cell. Only arithmetic.
// 2. Find every cell's brick and begin to fetch its samples. Short, so that many bricks are on their way at once.
// 3. Interpolate.
// Points outside the box or in a coarse brick go through the second loop without a branch; they are listed and looked
// up one by one at the end.
#if defined(__aarch64__)
#include <cotouch/field/field.h>
#include <cotouch/field/lookup.h>

#include <arm_neon.h>

#include <algorithm>
#include <cstring>

namespace cotouch::detail {
namespace {

constexpr std::uint32_t k_lanes = 4;
constexpr std::uint32_t k_block = 128;
constexpr int k_dy = FieldData::k_brick_side, k_dz = k_dy * k_dy;

struct Block {
  alignas(16) float x[k_block], y[k_block], z[k_block];  // within the cell, 0..1
  alignas(16) std::uint32_t brick[k_block];              // its place in `brick_index`
  alignas(16) std::int32_t local[k_block];               // the cell's low corner in its brick, -1 outside
  const std::int16_t* sample[k_block];                   // the cell's low corner
  std::uint32_t listed[k_block + 1];                     // points without fine samples
};

struct Points {
  float32x4_t x, y, z;
};

Points load(const Vec3f* positions, const std::uint32_t* index) {
  const float* const p0 = &positions[index[0]].x;
  const float* const p1 = &positions[index[1]].x;
  const float* const p2 = &positions[index[2]].x;
  const float* const p3 = &positions[index[3]].x;
  const float32x4_t xy01 = vcombine_f32(vld1_f32(p0), vld1_f32(p1));
  const float32x4_t xy23 = vcombine_f32(vld1_f32(p2), vld1_f32(p3));
  float32x4_t z = vld1q_dup_f32(p0 + 2);
  z = vld1q_lane_f32(p1 + 2, z, 1);
  z = vld1q_lane_f32(p2 + 2, z, 2);
  z = vld1q_lane_f32(p3 + 2, z, 3);
  return {vuzp1q_f32(xy01, xy23), vuzp2q_f32(xy01, xy23), z};
}

// One row of the map, added from left to right.
float32x4_t mapped(const Points& p, float a, float b, float c, float d) {
  const float32x4_t sum = vaddq_f32(vmulq_n_f32(p.x, a), vmulq_n_f32(p.y, b));
  return vaddq_f32(vaddq_f32(sum, vmulq_n_f32(p.z, c)), vdupq_n_f32(d));
}

void find_cells(const FieldData& data, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                std::uint32_t count, Block& block) {
  const Index3 bricks = data.bricks;
  const float32x4_t zero = vdupq_n_f32(0);
  const float32x4_t size_x = vdupq_n_f32(static_cast<float>(bricks.x * FieldData::k_brick_cells));
  const float32x4_t size_y = vdupq_n_f32(static_cast<float>(bricks.y * FieldData::k_brick_cells));
  const float32x4_t size_z = vdupq_n_f32(static_cast<float>(bricks.z * FieldData::k_brick_cells));
  const int32x4_t seven = vdupq_n_s32(7), side = vdupq_n_s32(k_dy);
  const int32x4_t row = vdupq_n_s32(bricks.x), layer = vdupq_n_s32(bricks.x * bricks.y);
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const Points p = load(positions, index + i);
    const float32x4_t x = mapped(p, map.xx, map.xy, map.xz, map.x);
    const float32x4_t y = mapped(p, map.yx, map.yy, map.yz, map.y);
    const float32x4_t z = mapped(p, map.zx, map.zy, map.zz, map.z);
    // The least of three is not a number if one of them is not.
    const uint32x4_t low = vcgeq_f32(vminq_f32(vminq_f32(x, y), z), zero);
    const uint32x4_t high = vandq_u32(vandq_u32(vcltq_f32(x, size_x), vcltq_f32(y, size_y)), vcltq_f32(z, size_z));
    const uint32x4_t inside = vandq_u32(low, high);
    const int32x4_t ix = vcvtq_s32_f32(x), iy = vcvtq_s32_f32(y), iz = vcvtq_s32_f32(z);
    vst1q_f32(block.x + i, vsubq_f32(x, vcvtq_f32_s32(ix)));
    vst1q_f32(block.y + i, vsubq_f32(y, vcvtq_f32_s32(iy)));
    vst1q_f32(block.z + i, vsubq_f32(z, vcvtq_f32_s32(iz)));
    const int32x4_t brick =
        vmlaq_s32(vmlaq_s32(vshrq_n_s32(ix, 3), vshrq_n_s32(iy, 3), row), vshrq_n_s32(iz, 3), layer);
    const int32x4_t local =
        vmlaq_s32(vandq_s32(ix, seven), vmlaq_s32(vandq_s32(iy, seven), vandq_s32(iz, seven), side), side);
    vst1q_u32(block.brick + i, vandq_u32(vreinterpretq_u32_s32(brick), inside));
    vst1q_s32(block.local + i, vreinterpretq_s32_u32(vornq_u32(vreinterpretq_u32_s32(local), inside)));
  }
}

// Returns how many points have no fine samples.
std::uint32_t find_samples(const FieldData& data, std::uint32_t count, Block& block) {
  const std::uint32_t* const brick_index = data.brick_index.data();
  const std::int16_t* const samples = data.samples.data();
  std::uint32_t listed = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t slot = brick_index[block.brick[i]];
    const std::int32_t local = block.local[i];
    const bool none = (slot == FieldData::k_coarse) | (local < 0);
    const std::int64_t offset = static_cast<std::int64_t>(std::uint64_t{slot} * FieldData::k_brick_samples) + local;
    const std::int16_t* const sample = samples + (none ? 0 : offset);
    block.sample[i] = sample;
    Field::fetch({sample, {}});
    block.listed[listed] = i;
    listed += none;
  }
  return listed;
}

std::uint32_t pair(const std::int16_t* s) {
  std::uint32_t both;
  std::memcpy(&both, s, sizeof both);
  return both;
}

// Of four points, the value on one edge of the cell along x: low + x * (high - low).
float32x4_t along_x(const std::int16_t* const* s, int offset, float32x4_t x) {
  uint32x4_t pairs = vdupq_n_u32(pair(s[0] + offset));
  pairs = vsetq_lane_u32(pair(s[1] + offset), pairs, 1);
  pairs = vsetq_lane_u32(pair(s[2] + offset), pairs, 2);
  pairs = vsetq_lane_u32(pair(s[3] + offset), pairs, 3);
  // A sample s, below the upper half of 2^23 as a float, is the float 2^23 + 2^15 + s. This conversion is exact, as is
  // the difference of two, and cheaper than the instruction for it.
  const uint16x8_t raised = veorq_u16(vreinterpretq_u16_u32(pairs), vdupq_n_u16(0x8000));
  const uint16x8_t upper_half = vdupq_n_u16(0x4b00);
  const float32x4_t low = vreinterpretq_f32_u16(vtrn1q_u16(raised, upper_half));
  const float32x4_t high = vreinterpretq_f32_u16(vtrn2q_u16(raised, upper_half));
  return vaddq_f32(vsubq_f32(low, vdupq_n_f32(0x1p23F + 0x1p15F)), vmulq_f32(x, vsubq_f32(high, low)));
}

float32x4_t between(float32x4_t a, float32x4_t b, float32x4_t t) {
  return vaddq_f32(a, vmulq_f32(t, vsubq_f32(b, a)));
}

void interpolate(const FieldData& data, std::uint32_t count, const Block& block, float* distance) {
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const std::int16_t* const* const s = block.sample + i;
    const float32x4_t x = vld1q_f32(block.x + i), y = vld1q_f32(block.y + i), z = vld1q_f32(block.z + i);
    const float32x4_t low = between(along_x(s, 0, x), along_x(s, k_dy, x), y);
    const float32x4_t high = between(along_x(s, k_dz, x), along_x(s, k_dy + k_dz, x), y);
    vst1q_f32(distance + i, vmulq_n_f32(between(low, high, z), data.quantum));
  }
}

}  // namespace

void look_up_neon(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                  std::uint32_t count, float* distance) noexcept {
  const FieldData& data = field.data();
  Block block;
  const std::uint32_t whole = count / k_lanes * k_lanes;
  for (std::uint32_t begin = 0; begin < whole; begin += k_block) {
    const std::uint32_t size = std::min(k_block, whole - begin);
    find_cells(data, map, positions, index + begin, size, block);
    const std::uint32_t listed = find_samples(data, size, block);
    if (listed < size) interpolate(data, size, block, distance + begin);
    for (std::uint32_t k = 0; k < listed; ++k) {
      const std::uint32_t i = begin + block.listed[k];
      distance[i] = field.distance_in_cells(map(positions[index[i]]));
    }
  }
  look_up_scalar(field, map, positions, index + whole, count - whole, distance + whole);
}

}  // namespace cotouch::detail
#endif
