// How even a set of points is: the distance from each to its nearest neighbour.
#pragma once

#include <cotouch/base/vec.h>

#include <span>

namespace cotouch {

struct Spacing {
  double mean = 0;       // metres; 0 for fewer than two points
  double variation = 0;  // standard deviation over mean
};

Spacing measure_spacing(std::span<const Vec3f> points);

}  // namespace cotouch
