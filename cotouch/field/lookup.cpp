#include <cotouch/field/lookup.h>

#include <cotouch/field/field.h>

#include <algorithm>
#include <array>
#include <limits>

namespace cotouch::detail {
namespace {

constexpr std::uint32_t k_block = 256;

bool always() noexcept {
  return true;
}
bool any_field(const FieldData&) noexcept {
  return true;
}
// Lanes that find no fine brick read the first sample in its place, so there must be one.
[[maybe_unused]] bool has_samples(const FieldData& field) noexcept {
  return !field.samples.empty();
}
#if defined(__x86_64__)
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0;
}
// A gather takes signed offsets of 32 bits.
bool has_few_samples(const FieldData& field) noexcept {
  return has_samples(field) && field.samples.size() <= std::size_t{std::numeric_limits<std::int32_t>::max()};
}
#endif

constexpr LookUpKind k_kinds[] = {
    {"scalar", look_up_scalar, always, any_field},
#if defined(__aarch64__)
    {"neon", look_up_neon, always, has_samples},
#elif defined(__x86_64__)
    {"avx2", look_up_avx2, has_avx2, has_few_samples},
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
  std::array<Field::Place, k_block> places;
  for (std::uint32_t begin = 0; begin < count; begin += k_block) {
    const std::uint32_t end = std::min(k_block, count - begin);
    for (std::uint32_t i = 0; i < end; ++i) {
      places[i] = field.locate(map(positions[index[begin + i]]));
      Field::fetch(places[i]);
    }
    for (std::uint32_t i = 0; i < end; ++i) distance[begin + i] = field.distance_at(places[i]);
  }
}

}  // namespace cotouch::detail
