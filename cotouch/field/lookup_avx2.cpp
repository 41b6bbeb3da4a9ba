// Lookups of eight points at a time with AVX2, for processors that have it: only the functions marked so use it.
// Samples are loaded one lane after another, because gathers are slower than that on many processors.
#if defined(__x86_64__)
#include <cotouch/field/lookup_block.h>

#include <immintrin.h>

// Not "fma": fused operations would change bits.
#define COTOUCH_AVX2 __attribute__((target("avx2")))

namespace cotouch::detail {
namespace {

constexpr std::uint32_t k_lanes = 8;

COTOUCH_AVX2 inline __m256i eight(const void* const (&at)[8]) {
  const auto bits = [](const void* place) { return static_cast<int>(bits_at(place)); };
  return _mm256_setr_epi32(bits(at[0]), bits(at[1]), bits(at[2]), bits(at[3]), bits(at[4]), bits(at[5]), bits(at[6]),
                           bits(at[7]));
}

struct Points {
  __m256 x, y, z;
};

COTOUCH_AVX2 inline Points load(const Vec3f* positions, const std::uint32_t* index) {
  const Vec3f* p[8];
  for (std::uint32_t i = 0; i < 8; ++i) p[i] = positions + index[i];
  const auto coordinate = [&p](float Vec3f::*c) COTOUCH_AVX2 {
    return _mm256_setr_ps(p[0]->*c, p[1]->*c, p[2]->*c, p[3]->*c, p[4]->*c, p[5]->*c, p[6]->*c, p[7]->*c);
  };
  return {coordinate(&Vec3f::x), coordinate(&Vec3f::y), coordinate(&Vec3f::z)};
}

// One row of the map, added from left to right.
COTOUCH_AVX2 inline __m256 mapped(const Points& p, float a, float b, float c, float d) {
  const __m256 sum = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(a), p.x), _mm256_mul_ps(_mm256_set1_ps(b), p.y));
  return _mm256_add_ps(_mm256_add_ps(sum, _mm256_mul_ps(_mm256_set1_ps(c), p.z)), _mm256_set1_ps(d));
}

// All bits of a lane where 0 <= v < size; none if v is not a number.
COTOUCH_AVX2 inline __m256 is_within(__m256 v, float size) {
  return _mm256_and_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_GE_OQ),
                       _mm256_cmp_ps(v, _mm256_set1_ps(size), _CMP_LT_OQ));
}

COTOUCH_AVX2 inline __m256 fraction(const float* coordinate) {
  const __m256 v = _mm256_load_ps(coordinate);
  return _mm256_sub_ps(v, _mm256_cvtepi32_ps(_mm256_cvttps_epi32(v)));
}

COTOUCH_AVX2 inline __m256i multiply_add(__m256i a, std::int32_t b, __m256i c) {
  return _mm256_add_epi32(_mm256_mullo_epi32(a, _mm256_set1_epi32(b)), c);
}

// Of eight points, the value on one edge of the cell along x: low + x * (high - low).
COTOUCH_AVX2 inline __m256 along_x(const std::int16_t* const* s, int offset, __m256 x) {
  const void* const at[8] = {s[0] + offset, s[1] + offset, s[2] + offset, s[3] + offset,
                             s[4] + offset, s[5] + offset, s[6] + offset, s[7] + offset};
  const __m256i pairs = eight(at);
  const __m256i low = _mm256_srai_epi32(_mm256_slli_epi32(pairs, 16), 16), high = _mm256_srai_epi32(pairs, 16);
  const __m256 slope = _mm256_cvtepi32_ps(_mm256_sub_epi32(high, low));
  return _mm256_add_ps(_mm256_cvtepi32_ps(low), _mm256_mul_ps(x, slope));
}

COTOUCH_AVX2 inline __m256 between(__m256 a, __m256 b, __m256 t) {
  return _mm256_add_ps(a, _mm256_mul_ps(t, _mm256_sub_ps(b, a)));
}

}  // namespace

COTOUCH_AVX2 void find_cells_avx2(const Index3& bricks, const CellMap& map, const Vec3f* positions,
                                  const std::uint32_t* index, std::uint32_t count, LookUpBlock& block) noexcept {
  const Vec3f size(bricks * FieldData::k_brick_cells);
  const __m256i seven = _mm256_set1_epi32(7);
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const Points p = load(positions, index + i);
    const __m256 x = mapped(p, map.xx, map.xy, map.xz, map.x);
    const __m256 y = mapped(p, map.yx, map.yy, map.yz, map.y);
    const __m256 z = mapped(p, map.zx, map.zy, map.zz, map.z);
    const __m256i inside = _mm256_castps_si256(
        _mm256_and_ps(_mm256_and_ps(is_within(x, size.x), is_within(y, size.y)), is_within(z, size.z)));
    const __m256i ix = _mm256_cvttps_epi32(x), iy = _mm256_cvttps_epi32(y), iz = _mm256_cvttps_epi32(z);
    _mm256_store_ps(block.x + i, x);
    _mm256_store_ps(block.y + i, y);
    _mm256_store_ps(block.z + i, z);
    const __m256i layer = multiply_add(_mm256_srai_epi32(iz, 3), bricks.y, _mm256_srai_epi32(iy, 3));
    const __m256i brick = multiply_add(layer, bricks.x, _mm256_srai_epi32(ix, 3));
    const __m256i row = multiply_add(_mm256_and_si256(iz, seven), k_dy, _mm256_and_si256(iy, seven));
    const __m256i local = multiply_add(row, k_dy, _mm256_and_si256(ix, seven));
    const __m256i outside = _mm256_xor_si256(inside, _mm256_set1_epi32(-1));
    _mm256_store_si256(reinterpret_cast<__m256i*>(block.brick + i), _mm256_and_si256(brick, inside));
    _mm256_store_si256(reinterpret_cast<__m256i*>(block.local + i), _mm256_or_si256(local, outside));
  }
}

COTOUCH_AVX2 void interpolate_avx2(float quantum, std::uint32_t count, const LookUpBlock& block,
                                   float* distance) noexcept {
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const std::int16_t* const* const s = block.sample + i;
    const __m256 x = fraction(block.x + i), y = fraction(block.y + i), z = fraction(block.z + i);
    const __m256 low = between(along_x(s, 0, x), along_x(s, k_dy, x), y);
    const __m256 high = between(along_x(s, k_dz, x), along_x(s, k_dy + k_dz, x), y);
    _mm256_storeu_ps(distance + i, _mm256_mul_ps(between(low, high, z), _mm256_set1_ps(quantum)));
  }
}

}  // namespace cotouch::detail
#endif
