// Lookups of four points at a time with NEON, which every arm64 processor has.
#if defined(__aarch64__)
#include <cotouch/field/lookup_block.h>

#include <arm_neon.h>

#include <algorithm>

namespace cotouch::detail {
namespace {

constexpr std::uint32_t k_lanes = 4;

struct Points {
  float32x4_t x, y, z;
};

// Four numbers from four places, joined in pairs: faster than one after another.
uint32x4_t four(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  const uint32x2_t ab = vzip1_u32(uint32x2_t{a, 0}, uint32x2_t{b, 0});
  const uint32x2_t cd = vzip1_u32(uint32x2_t{c, 0}, uint32x2_t{d, 0});
  return vcombine_u32(ab, cd);
}

Points load(const Vec3f* positions, const std::uint32_t* index) {
  const std::uint32_t first = index[0];
  if ((index[1] == first + 1) & (index[2] == first + 2) & (index[3] == first + 3)) {
    const float32x4x3_t p = vld3q_f32(&positions[first].x);
    return {p.val[0], p.val[1], p.val[2]};
  }
  const Vec3f &p0 = positions[index[0]], &p1 = positions[index[1]];
  const Vec3f &p2 = positions[index[2]], &p3 = positions[index[3]];
  const float32x4_t xy01 = vcombine_f32(vld1_f32(&p0.x), vld1_f32(&p1.x));
  const float32x4_t xy23 = vcombine_f32(vld1_f32(&p2.x), vld1_f32(&p3.x));
  return {vuzp1q_f32(xy01, xy23), vuzp2q_f32(xy01, xy23),
          vreinterpretq_f32_u32(four(bits_at(&p0.z), bits_at(&p1.z), bits_at(&p2.z), bits_at(&p3.z)))};
}

// One row of the map, added from left to right. Its three factors are lanes of `row`.
float32x4_t mapped(const Points& p, float32x4_t row, float32x4_t constant) {
  const float32x4_t sum = vaddq_f32(vmulq_laneq_f32(p.x, row, 0), vmulq_laneq_f32(p.y, row, 1));
  return vaddq_f32(vaddq_f32(sum, vmulq_laneq_f32(p.z, row, 2)), constant);
}

// Of four points, the samples at the two ends of the cell's four edges along x.
struct Edges {
  uint32x4_t near, far, above, beyond;
};
Edges edges(const std::int16_t* const* s) {
  const auto at = [s](int offset) {
    return four(bits_at(s[0] + offset), bits_at(s[1] + offset), bits_at(s[2] + offset), bits_at(s[3] + offset));
  };
  return {at(0), at(k_dy), at(k_dz), at(k_dy + k_dz)};
}

// The value on one of them: low + x * (high - low).
float32x4_t along_x(uint32x4_t pairs, float32x4_t x) {
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

// 9 a + b % 8
int32x4_t nine_times(int32x4_t a, int32x4_t b) {
  static_assert(k_dy == 9);
  return vaddq_s32(vsliq_n_s32(b, a, 3), a);
}

float32x4_t fraction(const float* coordinate) {
  const float32x4_t v = vld1q_f32(coordinate);
  return vsubq_f32(v, vrndq_f32(v));
}

}  // namespace

void find_cells_neon(const Index3& bricks, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                     std::uint32_t count, LookUpBlock& block) noexcept {
  // Two loops, because a processor looks only so far ahead: what waits for the longest chain of results keeps what
  // comes after it from being begun.
  const float32x4_t row_x{map.xx, map.xy, map.xz, 0}, row_y{map.yx, map.yy, map.yz, 0},
      row_z{map.zx, map.zy, map.zz, 0};
  const float32x4_t map_x = vdupq_n_f32(map.x), map_y = vdupq_n_f32(map.y), map_z = vdupq_n_f32(map.z);
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const Points p = load(positions, index + i);
    vst1q_f32(block.x + i, mapped(p, row_x, map_x));
    vst1q_f32(block.y + i, mapped(p, row_y, map_y));
    vst1q_f32(block.z + i, mapped(p, row_z, map_z));
  }
  const float32x4_t zero = vdupq_n_f32(0);
  const float32x4_t size_x = vdupq_n_f32(static_cast<float>(bricks.x * FieldData::k_brick_cells));
  const float32x4_t size_y = vdupq_n_f32(static_cast<float>(bricks.y * FieldData::k_brick_cells));
  const float32x4_t size_z = vdupq_n_f32(static_cast<float>(bricks.z * FieldData::k_brick_cells));
  const int32x4_t seven = vdupq_n_s32(7);
  const int32x4_t row = vdupq_n_s32(bricks.x), layer = vdupq_n_s32(bricks.x * bricks.y);
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const float32x4_t x = vld1q_f32(block.x + i), y = vld1q_f32(block.y + i), z = vld1q_f32(block.z + i);
    // What is not a number fails the second.
    const uint32x4_t low = vcgeq_f32(vminq_f32(vminq_f32(x, y), z), zero);
    const uint32x4_t high = vandq_u32(vandq_u32(vcltq_f32(x, size_x), vcltq_f32(y, size_y)), vcltq_f32(z, size_z));
    const uint32x4_t inside = vandq_u32(low, high);
    const int32x4_t ix = vcvtq_s32_f32(x), iy = vcvtq_s32_f32(y), iz = vcvtq_s32_f32(z);
    const int32x4_t brick =
        vmlaq_s32(vmlaq_s32(vshrq_n_s32(ix, 3), vshrq_n_s32(iy, 3), row), vshrq_n_s32(iz, 3), layer);
    const int32x4_t local = nine_times(nine_times(vandq_s32(iz, seven), iy), ix);
    vst1q_u32(block.brick + i, vandq_u32(vreinterpretq_u32_s32(brick), inside));
    vst1q_u32(block.local + i, vornq_u32(vreinterpretq_u32_s32(local), inside));
  }
}

void interpolate_neon(float quantum, std::uint32_t count, const LookUpBlock& block, float* distance) noexcept {
  // Each turn begins to load what the next one needs, so that none waits for memory and for arithmetic.
  Edges next = edges(block.sample);
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const Edges e = next;
    next = edges(block.sample + std::min(i + k_lanes, count - k_lanes));
    const float32x4_t x = fraction(block.x + i), y = fraction(block.y + i), z = fraction(block.z + i);
    const float32x4_t low = between(along_x(e.near, x), along_x(e.far, x), y);
    const float32x4_t high = between(along_x(e.above, x), along_x(e.beyond, x), y);
    vst1q_f32(distance + i, vmulq_n_f32(between(low, high, z), quantum));
  }
}

}  // namespace cotouch::detail
#endif
