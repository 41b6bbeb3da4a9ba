// From distances at lattice points to a Field: where the lattice lies, which bricks are fine, rounding, and the
// stitching of fine to coarse. Shared by the builders.
#pragma once

#include <cotouch/field/build.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cotouch {

// Stored units per cell. 16 bits then hold +-32 cells; a fine brick holds values up to
// k_fine_threshold + its diagonal < 19 cells. The rounding error is at most 0.0005 cells. A power of two, so that
// quantum * units is exact.
constexpr std::int32_t k_units_per_cell = 1024;
// Coarse values are multiples of this, so that their interpolation at the lattice points of a shared face (weights of
// 1/64) is a whole number of units and fine and coarse agree exactly there.
constexpr std::int32_t k_units_per_coarse_step = 64;

constexpr std::int32_t k_band_cells = 4;
// A brick is fine where one of its samples is nearer than this. No point is farther than sqrt(3)/2 cells from a sample,
// so every point nearer than k_band_cells is in a fine brick.
constexpr double k_fine_threshold = k_band_cells + 0.8670;

// What building a field may take at its peak, the same on every machine.
constexpr std::size_t k_most_bytes = std::size_t{4} << 30;
constexpr std::size_t k_bytes_per_triangle = 1024;  // the soup, its pieces, the trees for distances and winding numbers
// Throws Error beyond that.
void refuse_more_memory(std::size_t bytes);

// Where the lattice lies. Point (i, j, k) of the lattice is origin + spacing * (i, j, k), in double precision.
struct Lattice {
  Vec3f origin;
  float spacing = 0;
  Index3 bricks;

  std::size_t brick_count() const {
    return static_cast<std::size_t>(bricks.x) * static_cast<std::size_t>(bricks.y) * static_cast<std::size_t>(bricks.z);
  }
  std::size_t node_count() const {
    return static_cast<std::size_t>(bricks.x + 1) * static_cast<std::size_t>(bricks.y + 1) *
           static_cast<std::size_t>(bricks.z + 1);
  }
  // The low corner of brick `index`, in cells.
  Index3 brick_corner(std::size_t index) const;
  // The position of node `index`, in cells.
  Index3 node(std::size_t index) const;
  // Is brick `index` one of the outermost, which must be coarse?
  bool is_border(std::size_t index) const;
  Vec3d to_metres(const Vec3d& cell) const { return Vec3d(origin) + cell * static_cast<double>(spacing); }
};

// A lattice around `part` with `resolution` cells along its longest side, and enough room that a border brick is
// coarse. Throws Error where no sensible lattice exists.
Lattice make_lattice(const Box3d& part, const FieldSettings& settings);

// Distances on a lattice, in cells. Both functions are called from several threads at once, in any order.
struct LatticeDistance {
  // The distance at a point given in cells.
  std::function<double(const Vec3d& cell)> at;
  // The same for the 729 samples of a brick, x fastest.
  std::function<void(const Index3& corner, std::span<float> samples)> brick;
};

// `distance` must be 1-Lipschitz, and farther than k_fine_threshold from zero in the border bricks. Reports progress as
// `stage`.
Field assemble_field(const Lattice& lattice, const LatticeDistance& distance, Progress& progress,
                     std::string_view stage);

}  // namespace cotouch
