// The yardstick for field lookups: 256^3 floats of the distance to a ball of radius one, clamped at the border. Looked
// up one by one, or many at once with the same care as the field: in blocks, fetched before they are needed, as many
// lanes.
#pragma once

#include <cotouch/field/cell_map.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cotouch {

class DenseGrid {
 public:
  static constexpr int k_side = 256;
  static constexpr int k_dy = k_side, k_dz = k_side * k_side;
  static constexpr float k_cells_per_metre = (k_side - 1) / 2.2F;

  DenseGrid() : values_(std::size_t{k_side} * k_side * k_side) {
    std::size_t i = 0;
    for (int z = 0; z < k_side; ++z)
      for (int y = 0; y < k_side; ++y)
        for (int x = 0; x < k_side; ++x)
          values_[i++] = static_cast<float>(
              norm(Vec3d{double(x), double(y), double(z)} * (2.2 / (k_side - 1)) - Vec3d{1.1, 1.1, 1.1}) - 1);
  }

  float distance_in_cells(const Vec3f& cell) const noexcept {
    const Vec3f c = min(max(cell, Vec3f{}), Vec3f{k_top, k_top, k_top});
    const int ix = static_cast<int>(c.x), iy = static_cast<int>(c.y), iz = static_cast<int>(c.z);
    const float fx = c.x - static_cast<float>(ix);
    const float fy = c.y - static_cast<float>(iy);
    const float fz = c.z - static_cast<float>(iz);
    const float* s = values_.data() + iz * k_dz + iy * k_dy + ix;
    const auto along_x = [s, fx](int i) { return s[i] + fx * (s[i + 1] - s[i]); };
    const float a = along_x(0), b = along_x(k_dy), c1 = along_x(k_dz), d = along_x(k_dy + k_dz);
    const float low = a + fy * (b - a), high = c1 + fy * (d - c1);
    return low + fz * (high - low);
  }

  // As Field::distances; `count` is a multiple of eight.
  void distances(const CellMap& map, const Vec3f* positions, const std::uint32_t* index, std::uint32_t count,
                 float* distance) const noexcept {
    Block block;
    for (std::uint32_t begin = 0; begin < count; begin += k_block) {
      const std::uint32_t size = std::min(k_block, count - begin);
      find_cells(map, positions, index + begin, size, block);
      for (std::uint32_t i = 0; i < size; ++i) {
        const float* const s = values_.data() + block.offset[i];
        for (const int row : {0, k_dy, k_dz, k_dy + k_dz}) __builtin_prefetch(s + row);
      }
      interpolate(size, block, distance + begin);
    }
  }
  std::size_t memory_bytes() const { return values_.size() * sizeof(float); }

 private:
  static constexpr float k_top = k_side - 1.001F;
  static constexpr std::uint32_t k_block = 128;
  struct Block {
    alignas(32) float x[k_block], y[k_block], z[k_block];
    alignas(32) std::int32_t offset[k_block];
  };

#if defined(__aarch64__)
  static void find_cells(const CellMap& m, const Vec3f* positions, const std::uint32_t* index, std::uint32_t count,
                         Block& block) {
    const auto row = [](float32x4_t x, float32x4_t y, float32x4_t z, float a, float b, float c, float d) {
      const float32x4_t sum = vaddq_f32(vmulq_n_f32(x, a), vmulq_n_f32(y, b));
      const float32x4_t cell = vaddq_f32(vaddq_f32(sum, vmulq_n_f32(z, c)), vdupq_n_f32(d));
      return vminq_f32(vmaxq_f32(cell, vdupq_n_f32(0)), vdupq_n_f32(k_top));
    };
    for (std::uint32_t i = 0; i < count; i += 4) {
      const float* p[4];
      for (std::uint32_t k = 0; k < 4; ++k) p[k] = &positions[index[i + k]].x;
      const float32x4_t xy01 = vcombine_f32(vld1_f32(p[0]), vld1_f32(p[1]));
      const float32x4_t xy23 = vcombine_f32(vld1_f32(p[2]), vld1_f32(p[3]));
      const float32x2_t z01 = vzip1_f32(float32x2_t{p[0][2], 0}, float32x2_t{p[1][2], 0});
      const float32x2_t z23 = vzip1_f32(float32x2_t{p[2][2], 0}, float32x2_t{p[3][2], 0});
      const float32x4_t pz = vcombine_f32(z01, z23);
      const float32x4_t px = vuzp1q_f32(xy01, xy23), py = vuzp2q_f32(xy01, xy23);
      const float32x4_t x = row(px, py, pz, m.xx, m.xy, m.xz, m.x);
      const float32x4_t y = row(px, py, pz, m.yx, m.yy, m.yz, m.y);
      const float32x4_t z = row(px, py, pz, m.zx, m.zy, m.zz, m.z);
      const int32x4_t ix = vcvtq_s32_f32(x), iy = vcvtq_s32_f32(y), iz = vcvtq_s32_f32(z);
      vst1q_f32(block.x + i, vsubq_f32(x, vcvtq_f32_s32(ix)));
      vst1q_f32(block.y + i, vsubq_f32(y, vcvtq_f32_s32(iy)));
      vst1q_f32(block.z + i, vsubq_f32(z, vcvtq_f32_s32(iz)));
      vst1q_s32(block.offset + i, vaddq_s32(ix, vaddq_s32(vshlq_n_s32(iy, 8), vshlq_n_s32(iz, 16))));
    }
  }
  void interpolate(std::uint32_t count, const Block& block, float* distance) const {
    const auto between = [](float32x4_t a, float32x4_t b, float32x4_t t) {
      return vaddq_f32(a, vmulq_f32(t, vsubq_f32(b, a)));
    };
    for (std::uint32_t i = 0; i < count; i += 4) {
      const float* s[4];
      for (std::uint32_t k = 0; k < 4; ++k) s[k] = values_.data() + block.offset[i + k];
      const float32x4_t x = vld1q_f32(block.x + i), y = vld1q_f32(block.y + i), z = vld1q_f32(block.z + i);
      const auto along_x = [&](int row) {
        const float32x4_t a = vcombine_f32(vld1_f32(s[0] + row), vld1_f32(s[1] + row));
        const float32x4_t b = vcombine_f32(vld1_f32(s[2] + row), vld1_f32(s[3] + row));
        return between(vuzp1q_f32(a, b), vuzp2q_f32(a, b), x);
      };
      const float32x4_t low = between(along_x(0), along_x(k_dy), y);
      const float32x4_t high = between(along_x(k_dz), along_x(k_dy + k_dz), y);
      vst1q_f32(distance + i, between(low, high, z));
    }
  }
#elif defined(__x86_64__)
  // Only for processors that have AVX2.
  __attribute__((target("avx2"))) static __m256 row(__m256 x, __m256 y, __m256 z, float a, float b, float c, float d) {
    const __m256 sum = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(a), x), _mm256_mul_ps(_mm256_set1_ps(b), y));
    const __m256 cell = _mm256_add_ps(_mm256_add_ps(sum, _mm256_mul_ps(_mm256_set1_ps(c), z)), _mm256_set1_ps(d));
    return _mm256_min_ps(_mm256_max_ps(cell, _mm256_setzero_ps()), _mm256_set1_ps(k_top));
  }
  __attribute__((target("avx2"))) static __m256 between(__m256 a, __m256 b, __m256 t) {
    return _mm256_add_ps(a, _mm256_mul_ps(t, _mm256_sub_ps(b, a)));
  }
  __attribute__((target("avx2"))) static void find_cells(const CellMap& m, const Vec3f* positions,
                                                         const std::uint32_t* index, std::uint32_t count,
                                                         Block& block) {
    for (std::uint32_t i = 0; i < count; i += 8) {
      const Vec3f* p[8];
      for (std::uint32_t k = 0; k < 8; ++k) p[k] = positions + index[i + k];
      const __m256 px = _mm256_setr_ps(p[0]->x, p[1]->x, p[2]->x, p[3]->x, p[4]->x, p[5]->x, p[6]->x, p[7]->x);
      const __m256 py = _mm256_setr_ps(p[0]->y, p[1]->y, p[2]->y, p[3]->y, p[4]->y, p[5]->y, p[6]->y, p[7]->y);
      const __m256 pz = _mm256_setr_ps(p[0]->z, p[1]->z, p[2]->z, p[3]->z, p[4]->z, p[5]->z, p[6]->z, p[7]->z);
      const __m256 x = row(px, py, pz, m.xx, m.xy, m.xz, m.x);
      const __m256 y = row(px, py, pz, m.yx, m.yy, m.yz, m.y);
      const __m256 z = row(px, py, pz, m.zx, m.zy, m.zz, m.z);
      const __m256i ix = _mm256_cvttps_epi32(x), iy = _mm256_cvttps_epi32(y), iz = _mm256_cvttps_epi32(z);
      _mm256_store_ps(block.x + i, _mm256_sub_ps(x, _mm256_cvtepi32_ps(ix)));
      _mm256_store_ps(block.y + i, _mm256_sub_ps(y, _mm256_cvtepi32_ps(iy)));
      _mm256_store_ps(block.z + i, _mm256_sub_ps(z, _mm256_cvtepi32_ps(iz)));
      const __m256i offset =
          _mm256_add_epi32(ix, _mm256_add_epi32(_mm256_slli_epi32(iy, 8), _mm256_slli_epi32(iz, 16)));
      _mm256_store_si256(reinterpret_cast<__m256i*>(block.offset + i), offset);
    }
  }
  // Two values that follow each other, of points a and b.
  __attribute__((target("avx2"))) static __m128 two(const float* a, const float* b) {
    const __m128 low = _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(a));
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(b));
  }
  __attribute__((target("avx2"))) __m256 along_x(int offset, const std::int32_t* at, __m256 x) const {
    const float* const s = values_.data() + offset;
    const __m256 a = _mm256_set_m128(two(s + at[4], s + at[5]), two(s + at[0], s + at[1]));
    const __m256 b = _mm256_set_m128(two(s + at[6], s + at[7]), two(s + at[2], s + at[3]));
    return between(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd), x);
  }
  __attribute__((target("avx2"))) void interpolate(std::uint32_t count, const Block& block, float* distance) const {
    for (std::uint32_t i = 0; i < count; i += 8) {
      const std::int32_t* const at = block.offset + i;
      const __m256 x = _mm256_load_ps(block.x + i), y = _mm256_load_ps(block.y + i), z = _mm256_load_ps(block.z + i);
      const __m256 low = between(along_x(0, at, x), along_x(k_dy, at, x), y);
      const __m256 high = between(along_x(k_dz, at, x), along_x(k_dy + k_dz, at, x), y);
      _mm256_storeu_ps(distance + i, between(low, high, z));
    }
  }
#endif

  std::vector<float> values_;
};

}  // namespace cotouch
