// From a shell's own frame to the cells of a field: one affine map, row by row, rounded to single precision once.
#pragma once

#include <cotouch/base/vec.h>

namespace cotouch {

struct CellMap {
  float xx = 0, xy = 0, xz = 0, yx = 0, yy = 0, yz = 0, zx = 0, zy = 0, zz = 0, x = 0, y = 0, z = 0;

  // Every lookup adds in this order, so that all of them give the same bits.
  Vec3f operator()(const Vec3f& p) const noexcept {
    return {xx * p.x + xy * p.y + xz * p.z + x, yx * p.x + yy * p.y + yz * p.z + y, zx * p.x + zy * p.y + zz * p.z + z};
  }
};

}  // namespace cotouch
