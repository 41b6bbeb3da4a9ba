// Spreads points evenly over a level set, in nested sets of four times as many points each, by particle repulsion
// (paper 001, II-D; Turk 1992, Witkin & Heckbert 1994).
//
// Each level is filled with new points where the earlier, frozen ones leave gaps (dart throwing with a shrinking
// distance), then the new points push each other and are pushed by the frozen ones until nothing moves much.
// The paper's two hand-tuned parameters follow from the area A: n points in the densest arrangement have the spacing
// s = sqrt(2 A / (sqrt(3) n)); the kernel's width is a fixed multiple of s, and a step is a share of s.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/shell/level_set.h>
#include <cotouch/shell/tree.h>

#include <cstdint>
#include <vector>

namespace cotouch {

// Points on each level, top first: `points` on the last, each above a quarter, at most 64 on the first.
std::vector<std::uint32_t> level_sizes(std::uint32_t points);

// Points whose normals differ more than this lie on different sides of a sheet: near in space, far along the surface.
// 120 degrees, not 90, so that rounding does not decide across the right angles of a box.
inline bool same_side(const Vec3f& normal_a, const Vec3f& normal_b) noexcept {
  return dot(normal_a, normal_b) > -0.5F;
}

NestedPoints sample_level_set(const LevelSet& surface, std::uint32_t points, std::uint64_t seed, Progress& progress);

}  // namespace cotouch
