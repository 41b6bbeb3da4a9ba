// A signed distance field: how far a point is from a part's surface, negative inside (paper 001, II-C).
//
// Storage. A lattice of cells of edge h covers the part. Near the surface, bricks of 8x8x8 cells hold 9x9x9 samples
// (the last layer repeated in the next brick, so a lookup touches one brick). Everywhere else the corners of the bricks
// hold one value each, interpolated over the whole brick.
//
// What a lookup promises (d is the true distance, the interpolated value is written D):
// - D is continuous everywhere, across brick borders, between fine and coarse, and across the box.
// - Near the surface (|d| < `band()`), samples are exact up to rounding to 1/65536 of the stored range, so
//   |D - d| <= sqrt(3)/2 h anywhere and far less where the surface is smooth.
// - In coarse cells outside the part D <= d: a conservative bound, good for culling, never a false contact.
// - Outside the box D = (distance to the box) + (smallest value on the box), which is <= d (proof: Figure 5 of the
// paper).
#pragma once

#include <cotouch/base/vec.h>

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

  Vec3f origin;               // low corner of the box, metres
  float spacing = 0;          // h, metres
  Vec3<std::int32_t> bricks;  // bricks along each axis
  float quantum = 0;          // metres per unit of a stored sample
  float band = 0;             // every point closer than this to the surface lies in a fine brick, metres
  float boundary = 0;         // smallest value on the box's surface, metres
  float lipschitz = 0;        // bound on |grad D| in unmodified fine cells (see free_radius)
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
  float distance_in_cells(const Vec3f& cell) const noexcept;
  // Central difference over one cell: smooth enough for normals (the exact gradient jumps at cell borders).
  Vec3f gradient(const Vec3f& point) const noexcept;

  // The radius of a ball around a point with value `distance` in which no point has a negative value. This is what
  // makes culling and temporal coherence exact for the interpolated field, not only for the true distance.
  float free_radius(float distance) const noexcept;

  Vec3f to_cells(const Vec3f& point) const noexcept { return (point - data_.origin) * inverse_spacing_; }
  float spacing() const noexcept { return data_.spacing; }
  float band() const noexcept { return data_.band; }
  Box3f box() const noexcept;
  std::size_t memory_bytes() const noexcept;
  const FieldData& data() const noexcept { return data_; }

 private:
  FieldData data_;
  float inverse_spacing_ = 0;
  std::shared_ptr<const void> keep_alive_;
};

}  // namespace cotouch
