// A signed distance field: how far a point is from a part's surface, negative inside (paper 001, II-C).
//
// Storage. A lattice of cells of edge h covers the part. Near the surface, bricks of 8x8x8 cells hold 9x9x9 samples
// (the last layer repeated in the next brick, so a lookup touches one brick). Everywhere else the corners of the bricks
// hold one value each, interpolated over the whole brick.
//
// What a lookup promises (d is the true distance, the interpolated value is written D, everything trilinear):
// - D is continuous everywhere: across brick borders, between fine and coarse, and across the box.
// - Every point with |d| < band() lies in a fine brick. Where |d| < band() - sqrt(3) h the samples around the point are
//   exact up to rounding to one `quantum`, so |D - d| <= sqrt(3)/2 h there and far less where the surface is smooth.
// - |D| >= band() in coarse bricks, with the sign of d: the surface never passes through one.
// - In coarse bricks outside the part D <= d: a conservative bound, good for culling, never a false contact.
// - Outside the box D = (distance to the box) + (smallest value on the box), which is <= d (proof: Figure 5 of the
//   paper).
// - A point that is not a number has the value of the box's surface: no lookup ever reads outside the arrays.
#pragma once

#include <cotouch/base/vec.h>
#include <cotouch/field/cell_map.h>
#include <cotouch/field/index.h>
#include <cotouch/field/lookup.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cotouch {

// The field's contents as plain arrays, in memory or mapped from an asset file.
struct FieldData {
  static constexpr std::int32_t k_brick_cells = 8;
  static constexpr std::int32_t k_brick_side = 9;
  static constexpr std::int32_t k_brick_samples = 729;
  static constexpr std::uint32_t k_coarse = 0xffffffff;  // in `brick_index`: no fine samples here

  Vec3f origin;         // low corner of the box, metres
  float spacing = 0;    // h, metres
  Index3 bricks;        // bricks along each axis
  float quantum = 0;    // metres per unit of a stored sample
  float band = 0;       // every point closer than this to the surface lies in a fine brick, metres
  float boundary = 0;   // smallest value on the box's surface, metres
  float lipschitz = 1;  // bound on |grad D| where it matters for contact (see free_radius)
  std::span<const std::uint32_t> brick_index;  // bricks.x * bricks.y * bricks.z, x fastest
  std::span<const std::int16_t> samples;       // k_brick_samples each, x fastest
  std::span<const float> coarse;               // (bricks.x + 1) * (bricks.y + 1) * (bricks.z + 1), x fastest, metres
};

class Field {
 public:
  Field() = default;
  // `keep_alive` owns the memory behind the spans. Throws Error where the arrays do not fit together.
  Field(const FieldData& data, std::shared_ptr<const void> keep_alive);

  // Distance in metres at a point of the field's own frame.
  float distance(const Vec3f& point) const noexcept { return distance_in_cells(to_cells(point)); }
  // The same, the point given in cells from the box's low corner: what the contact loop computes directly.
  float distance_in_cells(const Vec3f& cell) const noexcept { return distance_at(locate(cell)); }
  // The same in two steps, so that many places can be fetched from memory before the first is needed.
  struct Place {
    const std::int16_t* sample;  // the cell's low corner; none where `at.x` is the value already
    Vec3f at;                    // within the cell, 0..1
  };
  Place locate(const Vec3f& cell) const noexcept;
  static void fetch(const Place& place) noexcept {
    if (!place.sample) return;  // fetching from nowhere costs more than it saves
    __builtin_prefetch(place.sample);
    __builtin_prefetch(place.sample + FieldData::k_brick_side * (FieldData::k_brick_side + 1) + 1);
  }
  float distance_at(const Place& place) const noexcept;
  // The same of a place without samples: in a coarse brick of the box, outside the box.
  float coarse_distance(const Vec3f& cell) const noexcept;
  float outside_distance(const Vec3f& cell) const noexcept;
  // Has a brick with this number in `brick_index` fine samples? Fields are checked when they are made, so a number that
  // is neither of them nor k_coarse is a broken invariant (base/invariant.h), and is taken for k_coarse.
  bool has_samples(std::uint32_t slot) const noexcept {
    return slot < slots_ || (slot != FieldData::k_coarse && slot_is_broken());
  }
  std::uint32_t slots() const noexcept { return slots_; }  // bricks with fine samples
  // The distances of many points at once, in metres: distance[i] = distance_in_cells(map(positions[index[i]])) for
  // every i < count, to the last bit, two to three times faster.
  void distances(const CellMap& map, const Vec3f* positions, const std::uint32_t* index, std::uint32_t count,
                 float* distance) const noexcept {
    detail::look_up_distances(*look_up_, *this, map, positions, index, count, distance);
  }
  // Central difference over one cell: smooth enough for normals (the exact gradient jumps at cell borders).
  Vec3f gradient(const Vec3f& point) const noexcept;

  // The radius of a ball around a point with the value clearance + `above` in which no point has a value below the
  // clearance; not positive if there is no such ball. This is what makes culling and temporal coherence exact for the
  // interpolated field, not only for the true distance. The proof is in field.cpp.
  struct FreeRadius {
    float far_loss, near_limit, rounding, inverse_lipschitz;

    float operator()(float above) const noexcept {
      const float far = above - far_loss;
      const float near = (above - rounding) * inverse_lipschitz;
      const float near_capped = near < near_limit ? near : near_limit;
      return far > near_capped ? far : near_capped;
    }
  };
  // `clearance` in metres, from 0 to largest_clearance().
  FreeRadius free_radius_above(float clearance) const noexcept {
    return {far_loss_, near_limit_ - clearance, rounding_, inverse_lipschitz_};
  }
  float free_radius(float distance) const noexcept { return free_radius_above(0)(distance); }
  // Up to here the values around the part are exact distances; farther out they are only bounds.
  float largest_clearance() const noexcept { return near_limit_; }

  // The gradient of the interpolated value at a place, metres per metre: exact, in fine and coarse bricks and outside
  // the box, so that a force along it is the derivative of an energy in the value.
  Vec3d gradient_at(const Place& place, const Vec3f& cell) const noexcept;
  // The same of many points at once, to the last bit; arguments as for `distances`.
  void gradients(const CellMap& map, const Vec3f* positions, const std::uint32_t* index, std::uint32_t count, double* x,
                 double* y, double* z) const noexcept {
    detail::look_up_gradients(*look_up_, *this, map, positions, index, count, x, y, z);
  }

  Vec3f to_cells(const Vec3f& point) const noexcept { return (point - data_.origin) * inverse_spacing_; }
  float spacing() const noexcept { return data_.spacing; }
  float band() const noexcept { return data_.band; }
  Box3f box() const noexcept;
  std::size_t memory_bytes() const noexcept;
  const FieldData& data() const noexcept { return data_; }

 private:
  // Where a cell lies among the coarse values: the brick's low corner, the strides to its neighbours, and 0..1 within.
  struct CoarsePlace {
    const float* sample;
    std::ptrdiff_t dy, dz;
    Vec3f at;
  };
  CoarsePlace locate_coarse(const Vec3f& cell) const noexcept;
  bool is_in_box(const Vec3f& cell) const noexcept;
  // From the nearest point of the box, in cells.
  Vec3f beyond_box(const Vec3f& cell) const noexcept;

  static bool slot_is_broken() noexcept;  // always false, for has_samples()

  FieldData data_;
  std::uint32_t slots_ = 0;
  float inverse_spacing_ = 0;
  Vec3f cells_;  // along each axis
  float far_loss_ = 0, near_limit_ = 0, rounding_ = 0, inverse_lipschitz_ = 0;
  const detail::LookUpKind* look_up_ = &detail::fastest_look_up_kind();
  std::shared_ptr<const void> keep_alive_;
};

// One branch for six comparisons; a NaN fails it too.
inline bool Field::is_in_box(const Vec3f& cell) const noexcept {
  return (cell.x >= 0) & (cell.y >= 0) & (cell.z >= 0) & (cell.x < cells_.x) & (cell.y < cells_.y) &
         (cell.z < cells_.z);
}

inline Field::Place Field::locate(const Vec3f& cell) const noexcept {
  if (!is_in_box(cell)) [[unlikely]]
    return {nullptr, {outside_distance(cell), 0, 0}};
  const auto ix = static_cast<std::int32_t>(cell.x);
  const auto iy = static_cast<std::int32_t>(cell.y);
  const auto iz = static_cast<std::int32_t>(cell.z);
  const Index3 brick{ix >> 3, iy >> 3, iz >> 3};
  const std::uint32_t slot = data_.brick_index.data()[(brick.z * data_.bricks.y + brick.y) * data_.bricks.x + brick.x];
  if (!has_samples(slot)) return {nullptr, {coarse_distance(cell), 0, 0}};
  return {data_.samples.data() + std::size_t{slot} * FieldData::k_brick_samples +
              (((iz & 7) * FieldData::k_brick_side + (iy & 7)) * FieldData::k_brick_side + (ix & 7)),
          {cell.x - static_cast<float>(ix), cell.y - static_cast<float>(iy), cell.z - static_cast<float>(iz)}};
}

inline float Field::distance_at(const Place& place) const noexcept {
  const std::int16_t* const s = place.sample;
  if (!s) return place.at.x;
  constexpr int dy = FieldData::k_brick_side, dz = FieldData::k_brick_side * FieldData::k_brick_side;
  // Differences are taken in integers, where they are exact.
  const auto along_x = [s, &place](int i) {
    return static_cast<float>(s[i]) + place.at.x * static_cast<float>(s[i + 1] - s[i]);
  };
  const float a = along_x(0), b = along_x(dy), c = along_x(dz), d = along_x(dy + dz);
  const float low = a + place.at.y * (b - a), high = c + place.at.y * (d - c);
  return (low + place.at.z * (high - low)) * data_.quantum;
}

inline Field::CoarsePlace Field::locate_coarse(const Vec3f& cell) const noexcept {
  const Index3 brick{static_cast<std::int32_t>(cell.x) >> 3, static_cast<std::int32_t>(cell.y) >> 3,
                     static_cast<std::int32_t>(cell.z) >> 3};
  const std::ptrdiff_t dy = data_.bricks.x + 1, dz = dy * (data_.bricks.y + 1);
  return {data_.coarse.data() + brick.z * dz + brick.y * dy + brick.x,
          dy,
          dz,
          {cell.x * 0.125F - static_cast<float>(brick.x), cell.y * 0.125F - static_cast<float>(brick.y),
           cell.z * 0.125F - static_cast<float>(brick.z)}};
}

inline float Field::coarse_distance(const Vec3f& cell) const noexcept {
  const CoarsePlace p = locate_coarse(cell);
  const auto along_x = [&p](std::ptrdiff_t i) { return p.sample[i] + p.at.x * (p.sample[i + 1] - p.sample[i]); };
  const float a = along_x(0), b = along_x(p.dy), c = along_x(p.dz), d = along_x(p.dy + p.dz);
  const float low = a + p.at.y * (b - a), high = c + p.at.y * (d - c);
  return low + p.at.z * (high - low);
}

}  // namespace cotouch
