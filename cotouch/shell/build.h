// Samples a pointshell on a level set of a field by particle repulsion (paper 001, II-D) and links it into a tree.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/field/field.h>
#include <cotouch/shell/shell.h>

#include <cstdint>
#include <vector>

namespace cotouch {

// Cells from the surface that a shell may lie, either way: the band where a field is exact, less what sampling needs.
constexpr double k_largest_offset = 3.75;

struct ShellSettings {
  std::uint32_t points = 16384;  // on the deepest level; every level above has a quarter
  double offset = 0.5;           // the level set, in cells of the field outside the surface
  std::uint64_t seed = 1;
  bool operator==(const ShellSettings&) const = default;
};

// How even each level came out (nearest neighbours in space, whatever their normals).
struct ShellQuality {
  struct Level {
    std::uint32_t points;
    double mean_spacing;  // mean distance to the nearest neighbour, metres
    double variation;     // its standard deviation over its mean
  };
  std::vector<Level> levels;
};

// The levels have points, points / 4, points / 16, ... (rounded), down to at most 64 on top. The same arguments give
// the same bits on any machine. Throws Error where the field has no surface at the offset or the settings make no
// sense.
Shell build_shell(const Field& field, const ShellSettings& settings, Progress& progress,
                  ShellQuality* quality = nullptr);

ShellQuality measure_quality(const Shell& shell);

}  // namespace cotouch
