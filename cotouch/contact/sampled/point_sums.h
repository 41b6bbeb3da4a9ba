// The sums of contact.h over the points of one contact, in the field's axes about the shell's position.
#pragma once

#include <cotouch/base/pose.h>

#include <array>
#include <cstdint>

namespace cotouch {

class PointSums {
 public:
  static constexpr std::uint32_t k_block = 64;

  // Points in contact, coordinate by coordinate, as arithmetic on several at once wants them.
  struct Block {
    using Row = std::array<double, k_block>;
    Row x, y, z;     // the point in the shell's frame, metres
    Row gx, gy, gz;  // the field's gradient there
    Row depth;       // metres
  };

  // `turn` is the shell's rotation in the field's frame.
  explicit PointSums(const Mat3& turn) noexcept : turn_(turn) {}

  // Adds the first `count` points. Every block but the last must be full. May write past `count`.
  void add(Block& block, std::uint32_t count) noexcept;

  struct Totals {
    double depth8;                // S
    Vec3d push;                   // sum of d^7 g
    Mat3 moment;                  // sum of d^7 r g'
    Mat3 linear, mixed, angular;  // sums of d^6 g g', d^6 g c' and d^6 c c', c = r x g
  };
  Totals totals() const noexcept;

 private:
  // The first number is of points 0, 2, 4, ..., the second of the others: a fixed order on every machine, and what
  // processors without wider vectors do at once.
  using Two = double __attribute__((vector_size(16)));
  Mat3 turn_;
  Two depth8_{};
  std::array<Two, 3> push_{};
  std::array<Two, 9> moment_{}, mixed_{};
  std::array<Two, 6> linear_{}, angular_{};  // upper triangles, row by row
};

}  // namespace cotouch
