// Spreads points evenly over a level set, in nested sets of four times as many points each, by particle repulsion
// (paper 001, II-D; Turk 1992, Witkin & Heckbert 1994).
//
// Each level is filled with new points where the earlier, frozen ones leave gaps (dart throwing with a shrinking
// distance), then the new points push each other and are pushed by the frozen ones.
// The paper's two hand-tuned parameters come by themselves. Kernel width: n points in the densest arrangement on the
// area A have the spacing s = sqrt(2 A / (sqrt(3) n)); where the surface is folded more finely than s, less fits, so
// the distance r at which the darts filled the level is used instead, and the kernel is a multiple of r. Strength: a
// step is the force over the stiffness felt, so it is right for any scale.
//
// Distance between two points is stretched where they face away from each other (see `apart_squared`): both sides of a
// sheet thinner than s are then even on their own and interleaved with each other. Ignoring the normals spoils the
// sides, ignoring points with opposite normals spoils thin rods and teeth, where "the other side" is not a side.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/shell/level_set.h>
#include <cotouch/shell/tree.h>

#include <cstdint>
#include <vector>

namespace cotouch {

// Points on each level, top first: `points` on the last, each above a quarter, at most 64 on the first.
std::vector<std::uint32_t> level_sizes(std::uint32_t points);

// Every point within LevelSet::k_tolerance of the level; bits depend on the arguments only, not on threads.
NestedPoints sample_level_set(const LevelSet& surface, std::uint32_t points, std::uint64_t seed, Progress& progress);

}  // namespace cotouch
