// Lookups of four points at a time with SSE2, which every x86-64 processor has.
#if defined(__x86_64__)
#include <cotouch/field/lookup_block.h>

#include <emmintrin.h>

namespace cotouch::detail {
namespace {

constexpr std::uint32_t k_lanes = 4;

struct Points {
  __m128 x, y, z;
};

Points load(const Vec3f* positions, const std::uint32_t* index) {
  const Vec3f &a = positions[index[0]], &b = positions[index[1]], &c = positions[index[2]], &d = positions[index[3]];
  return {_mm_setr_ps(a.x, b.x, c.x, d.x), _mm_setr_ps(a.y, b.y, c.y, d.y), _mm_setr_ps(a.z, b.z, c.z, d.z)};
}

// One row of the map, added from left to right.
__m128 mapped(const Points& p, float a, float b, float c, float d) {
  const __m128 sum = _mm_add_ps(_mm_mul_ps(_mm_set1_ps(a), p.x), _mm_mul_ps(_mm_set1_ps(b), p.y));
  return _mm_add_ps(_mm_add_ps(sum, _mm_mul_ps(_mm_set1_ps(c), p.z)), _mm_set1_ps(d));
}

// All bits of a lane where 0 <= v < size; none if v is not a number.
__m128 is_within(__m128 v, float size) {
  return _mm_and_ps(_mm_cmpge_ps(v, _mm_setzero_ps()), _mm_cmplt_ps(v, _mm_set1_ps(size)));
}

__m128 fraction(const float* coordinate) {
  const __m128 v = _mm_load_ps(coordinate);
  return _mm_sub_ps(v, _mm_cvtepi32_ps(_mm_cvttps_epi32(v)));
}

// There is no product of 32-bit lanes. Bricks are fewer than 2^24 (256 along each axis), so floats hold them exactly.
__m128i brick_at(__m128i x, __m128i y, __m128i z, const Index3& bricks) {
  const auto lanes = [](std::int32_t i) { return _mm_set1_ps(static_cast<float>(i)); };
  const __m128 row = _mm_add_ps(_mm_mul_ps(_mm_cvtepi32_ps(z), lanes(bricks.y)), _mm_cvtepi32_ps(y));
  return _mm_cvttps_epi32(_mm_add_ps(_mm_mul_ps(row, lanes(bricks.x)), _mm_cvtepi32_ps(x)));
}

__m128i nine_times(__m128i i) {
  static_assert(k_dy == 9);
  return _mm_add_epi32(i, _mm_slli_epi32(i, 3));
}

// Of four points, the value on one edge of the cell along x: low + x * (high - low).
__m128 along_x(const std::int16_t* const* s, int offset, __m128 x) {
  const auto bits = [s, offset](int lane) { return static_cast<int>(bits_at(s[lane] + offset)); };
  const __m128i pairs = _mm_setr_epi32(bits(0), bits(1), bits(2), bits(3));
  const __m128i low = _mm_srai_epi32(_mm_slli_epi32(pairs, 16), 16), high = _mm_srai_epi32(pairs, 16);
  return _mm_add_ps(_mm_cvtepi32_ps(low), _mm_mul_ps(x, _mm_cvtepi32_ps(_mm_sub_epi32(high, low))));
}

__m128 between(__m128 a, __m128 b, __m128 t) {
  return _mm_add_ps(a, _mm_mul_ps(t, _mm_sub_ps(b, a)));
}

}  // namespace

void find_cells_sse2(const Index3& bricks, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                     std::uint32_t count, LookUpBlock& block) noexcept {
  const Vec3f size(bricks * FieldData::k_brick_cells);
  const __m128i seven = _mm_set1_epi32(7);
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const Points p = load(positions, index + i);
    const __m128 x = mapped(p, map.xx, map.xy, map.xz, map.x);
    const __m128 y = mapped(p, map.yx, map.yy, map.yz, map.y);
    const __m128 z = mapped(p, map.zx, map.zy, map.zz, map.z);
    const __m128i inside =
        _mm_castps_si128(_mm_and_ps(_mm_and_ps(is_within(x, size.x), is_within(y, size.y)), is_within(z, size.z)));
    const __m128i ix = _mm_cvttps_epi32(x), iy = _mm_cvttps_epi32(y), iz = _mm_cvttps_epi32(z);
    _mm_store_ps(block.x + i, x);
    _mm_store_ps(block.y + i, y);
    _mm_store_ps(block.z + i, z);
    const __m128i brick = brick_at(_mm_srai_epi32(ix, 3), _mm_srai_epi32(iy, 3), _mm_srai_epi32(iz, 3), bricks);
    const __m128i row = _mm_add_epi32(nine_times(_mm_and_si128(iz, seven)), _mm_and_si128(iy, seven));
    const __m128i local = _mm_add_epi32(nine_times(row), _mm_and_si128(ix, seven));
    const __m128i outside = _mm_xor_si128(inside, _mm_set1_epi32(-1));
    _mm_store_si128(reinterpret_cast<__m128i*>(block.brick + i), _mm_and_si128(brick, inside));
    _mm_store_si128(reinterpret_cast<__m128i*>(block.local + i), _mm_or_si128(local, outside));
  }
}

void interpolate_sse2(float quantum, std::uint32_t count, const LookUpBlock& block, float* distance) noexcept {
  for (std::uint32_t i = 0; i < count; i += k_lanes) {
    const std::int16_t* const* const s = block.sample + i;
    const __m128 x = fraction(block.x + i), y = fraction(block.y + i), z = fraction(block.z + i);
    const __m128 low = between(along_x(s, 0, x), along_x(s, k_dy, x), y);
    const __m128 high = between(along_x(s, k_dz, x), along_x(s, k_dy + k_dz, x), y);
    _mm_storeu_ps(distance + i, _mm_mul_ps(between(low, high, z), _mm_set1_ps(quantum)));
  }
}

}  // namespace cotouch::detail
#endif
