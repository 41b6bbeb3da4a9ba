#include <cotouch/field/lookup.h>

#include <cotouch/field/field.h>

#include <algorithm>
#include <cstddef>

namespace cotouch::detail {
namespace {

constexpr std::uint32_t k_block = 128;  // points whose samples are fetched before the first is needed

bool always() noexcept {
  return true;
}
bool any_field(const FieldData&) noexcept {
  return true;
}
// What lookup_block.h takes for granted.
bool suits_blocks(const FieldData& field) noexcept {
  constexpr std::size_t k_upper_bit = std::size_t{1} << 31;
  return !field.samples.empty() && field.samples.size() / FieldData::k_brick_samples < k_upper_bit;
}
#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0;
}
#endif

constexpr LookUpKind k_kinds[] = {
    {"scalar", look_up_scalar, always, any_field},
#if defined(__aarch64__)
    {"neon", look_up_neon, always, suits_blocks},
#elif defined(__x86_64__)
    {"sse2", look_up_sse2, always, suits_blocks},
    {"avx2", look_up_avx2, has_avx2, suits_blocks},
#endif
};

}  // namespace

std::span<const LookUpKind> look_up_kinds() noexcept {
  return k_kinds;
}

LookUp fastest_look_up(const FieldData& field) noexcept {
  LookUp fastest = look_up_scalar;
  for (const LookUpKind& kind : k_kinds)
    if (kind.runs_here() && kind.suits(field)) fastest = kind.look_up;
  return fastest;
}

void look_up_scalar(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                    std::uint32_t count, float* distance) noexcept {
  const std::int16_t* sample[k_block];
  float x[k_block], y[k_block], z[k_block];
  for (std::uint32_t begin = 0; begin < count; begin += k_block) {
    const std::uint32_t size = std::min(k_block, count - begin);
    for (std::uint32_t i = 0; i < size; ++i) {
      const Field::Place place = field.locate(map(positions[index[begin + i]]));
      Field::fetch(place);
      sample[i] = place.sample;
      x[i] = place.at.x;
      y[i] = place.at.y;
      z[i] = place.at.z;
    }
    for (std::uint32_t i = 0; i < size; ++i) distance[begin + i] = field.distance_at({sample[i], {x[i], y[i], z[i]}});
  }
}

}  // namespace cotouch::detail
