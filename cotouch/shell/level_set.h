// The surface a shell is sampled on: all points where a field's interpolated value equals a given level.
#pragma once

#include <cotouch/base/vec.h>
#include <cotouch/field/field.h>

#include <cstdint>
#include <vector>

namespace cotouch {

class LevelSet {
 public:
  // How far from the level a projected point may remain, in cells of the field.
  static constexpr float k_tolerance = 1e-3F;

  // Collects the cells the level set passes through. Throws Error where there are none.
  LevelSet(const Field& field, double level_in_cells);

  // Moves `point` along the gradient onto the level set and sets `normal` (outward, unit length).
  // False, both untouched, where that does not arrive nearby.
  bool project(Vec3f& point, Vec3f& normal) const noexcept;
  // The same, but `normal` is known to be about right: a move of a fraction of a cell away.
  bool follow(Vec3f& point, Vec3f& normal) const noexcept;

  // Unit length, along growing distance.
  Vec3f outward_normal(const Vec3f& point) const noexcept;

  // A random point of the level set, uniform by area; false where the draw failed (draw again).
  // Points drawn uniformly from the layer |D - level| < half_layer() and moved onto the level set are uniform by area,
  // because the layer has the same thickness everywhere.
  bool draw(std::uint64_t seed, Vec3f& point, Vec3f& normal) const noexcept;
  // Area in square metres, from the share of draws that hit the layer.
  double estimate_area(std::uint64_t seed) const;

  float cell() const noexcept { return cell_; }

 private:
  float half_layer() const noexcept { return 0.25F * cell_; }
  float value(const Vec3f& point) const noexcept { return field_.distance(point) - level_; }
  Vec3f draw_in_cells(std::uint64_t seed) const noexcept;

  const Field& field_;
  float cell_, level_;                       // metres
  std::vector<Vec3<std::int32_t>> crossed_;  // cells that meet the layer
};

}  // namespace cotouch
