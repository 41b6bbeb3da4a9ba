// Points sorted into cubic cells, for finding neighbours on surfaces: only cells that hold points take memory.
// Order of visits is fixed by the points alone, never by threads.
#pragma once

#include <cotouch/base/vec.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

// Position along a Morton (Z-order) curve over 2^21 cells a side: bits of x, y and z interleaved.
std::uint64_t morton_key(std::uint32_t x, std::uint32_t y, std::uint32_t z) noexcept;

// Indices of `points` in Morton order; equal keys keep the order of the indices.
std::vector<std::uint32_t> morton_order(std::span<const Vec3f> points);

// About the distance between neighbours if the points lay evenly on the sides of their box: a fair cell edge.
float typical_spacing(std::span<const Vec3f> points);

class PointGrid {
 public:
  static constexpr std::uint32_t k_none = 0xffffffff;

  // Keeps copies of the points, sorted by cell. The edge grows where 2^20 cells would not span the points.
  PointGrid(std::span<const Vec3f> points, float cell_edge);

  // Calls visit(index, distance squared) for every point closer than `radius`, itself included.
  template <class Visit>
  void for_each_within(const Vec3f& center, float radius, Visit&& visit) const {
    const Cell low = cell_of(center - Vec3f(radius, radius, radius));
    const Cell high = cell_of(center + Vec3f(radius, radius, radius));
    const float radius_squared = radius * radius;
    for_each_in_cells(low, high, [&](std::uint32_t index, const Vec3f& p) {
      const float distance_squared = norm_squared(p - center);
      if (distance_squared < radius_squared) visit(index, distance_squared);
    });
  }

  // The nearest point that `accept(index)` lets through, the lowest index among equals; k_none where there is none.
  // `distance_squared` is that of the float positions, computed in double.
  template <class Accept>
  std::uint32_t nearest(const Vec3f& center, Accept&& accept, double& distance_squared) const {
    std::uint32_t best = k_none;
    double best_squared = 0;
    const auto consider = [&](std::uint32_t index, const Vec3f& p) {
      const double squared = norm_squared(Vec3d(p) - Vec3d(center));
      if ((best == k_none || squared < best_squared || (squared == best_squared && index < best)) && accept(index)) {
        best = index;
        best_squared = squared;
      }
    };
    // Growing cubes of cells. One that reaches `reach` in every direction settles everything nearer than that. Where
    // even a wide cube finds nothing, looking at every point is cheaper.
    for (std::int32_t ring = 1; ring <= k_widest_ring; ring *= 2) {
      const float reach = static_cast<float>(ring) * edge_;
      const Vec3f corner(reach, reach, reach);
      best = k_none;
      for_each_in_cells(cell_of(center - corner), cell_of(center + corner), consider);
      // A little less than `reach`: the corners of the cube are rounded.
      const double safe = static_cast<double>(reach) * (1 - 1e-4);
      if (best != k_none && best_squared <= safe * safe) {
        distance_squared = best_squared;
        return best;
      }
    }
    best = k_none;
    for (std::size_t i = 0; i < points_.size(); ++i) consider(index_[i], points_[i]);
    distance_squared = best_squared;
    return best;
  }

 private:
  static constexpr std::int32_t k_widest_ring = 8;
  using Cell = Vec3<std::int32_t>;
  struct Slot {
    std::uint64_t key;  // k_empty where free
    std::uint32_t begin, end;
  };
  static constexpr std::uint64_t k_empty = ~std::uint64_t{0};

  // Clamped to the grid, so cells outside it are never looked for.
  Cell cell_of(const Vec3f& p) const noexcept;
  const Slot* find(std::uint64_t key) const noexcept {
    for (std::size_t i = (key * 0x9e3779b97f4a7c15ULL) >> shift_;; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key) return &slots_[i];
      if (slots_[i].key == k_empty) return nullptr;
    }
  }
  template <class Visit>
  void for_each_in_cells(const Cell& low, const Cell& high, Visit&& visit) const {
    for (std::int32_t z = low.z; z <= high.z; ++z)
      for (std::int32_t y = low.y; y <= high.y; ++y)
        for (std::int32_t x = low.x; x <= high.x; ++x) {
          const Slot* slot = find(
              morton_key(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)));
          if (slot == nullptr) continue;
          for (std::uint32_t i = slot->begin; i < slot->end; ++i) visit(index_[i], points_[i]);
        }
  }

  Vec3f origin_;
  float edge_ = 1, inverse_edge_ = 1;
  Cell last_;  // highest cell along each axis
  int shift_ = 63;
  std::vector<Vec3f> points_;
  std::vector<std::uint32_t> index_;  // of points_ in the caller's array
  std::vector<Slot> slots_;           // open addressing, at most half full
};

}  // namespace cotouch
