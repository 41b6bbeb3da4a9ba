// The space around a set of triangles on a lattice: how far each lattice point near them is, and which points are
// connected without passing through them.
//
// Everything is in cells. Bricks that may come near the triangles hold the distance at their lattice points; the
// others are known to be farther than k_fine_threshold everywhere and count as one place each.
#pragma once

#include <cotouch/field/assemble.h>
#include <cotouch/mesh/closest.h>

#include <cstdint>
#include <vector>

namespace cotouch {

class Space {
 public:
  // A lattice point as seen by the flood: one of the 512 that a near brick owns, or the whole of a far brick.
  using Place = std::uint32_t;

  // Measures distances to `triangles`. Bricks are near also where a field needs them for `sheets` that will be
  // thickened by `thickness` cells.
  // `triangles` are those of `mesh`. Where `previous` was measured with triangles that differ only by `changes`, bricks
  // out of their reach are taken over.
  Space(const Lattice& lattice, const TriangleMesh& mesh, const ClosestTriangle& triangles,
        const ClosestTriangle& sheets, double thickness, Progress& progress, const Space* previous = nullptr,
        const ClosestTriangle* changes = nullptr);

  const Lattice& lattice() const { return lattice_; }
  std::size_t near_bricks() const { return near_.size(); }
  // Distance in units of 1 / k_units_per_cell at the samples of a near brick, x fastest.
  std::span<const std::uint16_t> distances(std::size_t slot) const {
    return std::span(distances_).subspan(slot * FieldData::k_brick_samples, FieldData::k_brick_samples);
  }
  std::size_t brick_of_slot(std::size_t slot) const { return near_[slot]; }
  std::uint32_t slot_of_brick(std::size_t brick) const { return slot_[brick]; }  // FieldData::k_coarse if far

  std::size_t places() const { return near_.size() * 512 + lattice_.brick_count(); }
  bool is_far(Place place) const { return place >= near_.size() * 512; }
  Place place_of_far_brick(std::size_t brick) const { return static_cast<Place>(near_.size() * 512 + brick); }
  // The place of a lattice point within the box.
  Place place(const Index3& point) const;
  // A lattice point of a place; of a far brick, its centre.
  Index3 point(Place place) const;
  // Distance in units; for a far brick no more than a lower bound.
  std::uint16_t distance(Place place) const;

  // For each place the lowest place connected to it. Neighbouring lattice points a and b are connected where
  // u(a) + u(b) > 1.5 cells: for any point x between them u(a) + u(b) <= 1 + 2 u(x), so the way from one to the other
  // stays a quarter of a cell away from all triangles, and nothing leaks through cracks narrower than half a cell.
  std::vector<Place> connected() const;

 private:
  Lattice lattice_;
  std::vector<std::size_t> near_;         // bricks, ascending
  std::vector<std::uint32_t> slot_;       // of each brick
  std::vector<std::uint16_t> distances_;  // 729 each
};

}  // namespace cotouch
