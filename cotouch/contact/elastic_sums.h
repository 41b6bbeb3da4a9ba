// What ContactSums leave out if a body of the pair bends: the same sums for its coordinates.
//
// A point in contact at depth d moves along the field's gradient by w.x + e.q' for a rigid motion x of the shell's body
// against the field's and rates q' of the coordinates: e holds those of the shell's body first, then the field's, which
// move the other way.
#pragma once

#include <cotouch/base/vec.h>

#include <cstdint>
#include <vector>

namespace cotouch {

struct ElasticSums {
  std::uint32_t shell = 0, field = 0;  // coordinates of each
  std::vector<double> push;            // sum of a d^7 e
  std::vector<double> mixed;           // sum of a d^6 w e', six rows
  std::vector<double> spread;          // sum of a d^6 e e', the lower triangle of rows
  std::vector<double> carried;  // how the middle of the contact moves with the coordinates, three rows, world axes

  std::uint32_t size() const noexcept { return shell + field; }
  // Makes room and zeros; allocates only if it has to grow.
  void reset(std::uint32_t shell_size, std::uint32_t field_size);
  // A point whose w and e are `direction`, six numbers and then size().
  void add(const double* direction, double sixth, double seventh) noexcept;
  void scale(double factor) noexcept;  // all but `carried`
};

}  // namespace cotouch
