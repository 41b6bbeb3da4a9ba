// How Field::distances and Field::gradients do their work: the same steps for every kind of processor, the two of them
// that are all arithmetic written once for each. All give the same bits, because each lane of a vector does for its
// point what Field::distance_in_cells does, in the same order and without fused operations.
#pragma once

#include <cotouch/base/vec.h>
#include <cotouch/field/cell_map.h>
#include <cotouch/field/index.h>

#include <cstdint>
#include <span>

namespace cotouch {

class Field;

namespace detail {

struct LookUpBlock;  // lookup_block.h

struct LookUpKind {
  const char* name;
  std::uint32_t lanes;  // `count` below is a multiple of it
  // Fills a block up to `brick` and `local`.
  void (*find_cells)(const Index3& bricks, const CellMap& map, const Vec3f* positions, const std::uint32_t* index,
                     std::uint32_t count, LookUpBlock& block) noexcept;
  void (*interpolate)(float quantum, std::uint32_t count, const LookUpBlock& block, float* distance) noexcept;
  bool (*runs_here)() noexcept;  // on this processor
};

// All that this build contains, the preferred one last. The first is scalar and runs always.
std::span<const LookUpKind> look_up_kinds() noexcept;
const LookUpKind& fastest_look_up_kind() noexcept;

// Arguments as for Field::distances and Field::gradients.
void look_up_distances(const LookUpKind& kind, const Field& field, const CellMap& map, const Vec3f* positions,
                       const std::uint32_t* index, std::uint32_t count, float* distance) noexcept;
void look_up_gradients(const LookUpKind& kind, const Field& field, const CellMap& map, const Vec3f* positions,
                       const std::uint32_t* index, std::uint32_t count, double* x, double* y, double* z) noexcept;

}  // namespace detail
}  // namespace cotouch
