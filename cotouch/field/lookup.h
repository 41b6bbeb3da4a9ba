// How Field::distances does its work: one implementation for each kind of processor. All give the same bits, because
// each lane of a vector does for its point what Field::distance_in_cells does, in the same order and without fused
// operations.
#pragma once

#include <cotouch/base/vec.h>
#include <cotouch/field/cell_map.h>

#include <cstdint>
#include <span>

namespace cotouch {

class Field;
struct FieldData;

namespace detail {

// Arguments as for Field::distances.
using LookUp = void (*)(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                        std::uint32_t count, float* distance) noexcept;

struct LookUpKind {
  const char* name;
  LookUp look_up;
  bool (*runs_here)() noexcept;                    // on this processor
  bool (*suits)(const FieldData& field) noexcept;  // a field of this size
};

// All that this build contains, the preferred one last. The first is scalar and runs always.
std::span<const LookUpKind> look_up_kinds() noexcept;
LookUp fastest_look_up(const FieldData& field) noexcept;

void look_up_scalar(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                    std::uint32_t count, float* distance) noexcept;
#if defined(__aarch64__)
void look_up_neon(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                  std::uint32_t count, float* distance) noexcept;
#elif defined(__x86_64__)
void look_up_sse2(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                  std::uint32_t count, float* distance) noexcept;
void look_up_avx2(const Field& field, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                  std::uint32_t count, float* distance) noexcept;
#endif

}  // namespace detail
}  // namespace cotouch
