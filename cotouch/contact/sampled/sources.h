// Where the points of a shell are and how far they are from the other body, for the three ways in which a pair may
// bend. Inlined into the walks of engines (nested/traversal.h says what they ask).
#pragma once

#include <cotouch/elastic/deformation.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/field/field.h>
#include <cotouch/shell/shell.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace cotouch {

// Points looked up together; their buffers stay in the first-level cache.
inline constexpr std::uint32_t k_block_of_points = 256;

// Rigid points in a rigid field.
struct RigidSource {
  const Shell* points;
  const Field* field;
  CellMap map;
  float clearance;
  Field::FreeRadius free_radius;
  float margin;  // metres by which rounding may bring two points closer than their balls say

  const Shell& shell() const noexcept { return *points; }
  void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const noexcept {
    field->distances(map, points->data().positions.data(), point, count, distance);
    if (clearance != 0)
      for (std::uint32_t i = 0; i < count; ++i) distance[i] -= clearance;
  }
  void fetch(std::uint32_t point) const noexcept { __builtin_prefetch(&points->data().positions[point]); }
  float free(float distance) const noexcept { return free_radius(distance) - margin; }
  float radius(const ShellBranch& node) const noexcept { return node.radius; }
};

inline constexpr auto k_in_turn = [] {
  std::array<std::uint32_t, k_block_of_points> numbers{};
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}();

// Points that bend in a rigid field.
struct BentSource {
  RigidSource rigid;
  Deformation* shape;

  const Shell& shell() const noexcept { return *rigid.points; }
  void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const noexcept {
    std::array<Vec3f, k_block_of_points> at;
    for (std::uint32_t begin = 0; begin < count; begin += k_block_of_points) {
      const std::uint32_t size = std::min(k_block_of_points, count - begin);
      shape->shell_points(rigid.points->data().positions.data(), point + begin, size, at.data());
      rigid.field->distances(rigid.map, at.data(), k_in_turn.data(), size, distance + begin);
    }
    if (rigid.clearance != 0)
      for (std::uint32_t i = 0; i < count; ++i) distance[i] -= rigid.clearance;
  }
  void fetch(std::uint32_t point) const noexcept { rigid.fetch(point); }
  float free(float distance) const noexcept { return rigid.free(distance); }
  float radius(const ShellBranch& node) const noexcept {
    const auto branch = static_cast<std::uint32_t>(&node - rigid.points->branches());
    return node.radius + shape->shell_growth(branch, rigid.points->data().nodes[branch].point);
  }
};

// Points that bend in a field that bends.
struct BentFieldSource {
  BentSource points;
  const DeformedField* field;
  Mat3 turn;  // the shell's frame in the field's
  Vec3d move;

  const Shell& shell() const noexcept { return points.shell(); }
  void look_up(const std::uint32_t* point, std::uint32_t count, float* distance) const noexcept {
    std::array<Vec3f, k_block_of_points> at;
    for (std::uint32_t begin = 0; begin < count; begin += k_block_of_points) {
      const std::uint32_t size = std::min(k_block_of_points, count - begin);
      points.shape->shell_points(shell().data().positions.data(), point + begin, size, at.data());
      for (std::uint32_t i = 0; i < size; ++i) at[i] = Vec3f(turn * Vec3d(at[i]) + move);
      field->distances(at.data(), size, points.rigid.clearance, distance + begin);
      for (std::uint32_t i = 0; i < size; ++i) distance[begin + i] -= points.rigid.clearance;
    }
  }
  void fetch(std::uint32_t) const noexcept {}
  // No bound, as in the paper: what the proxies know of the stretch, and a tenth for what they do not.
  float free(float distance) const noexcept { return points.rigid.free(distance) * (0.9F * field->least_stretch()); }
  float radius(const ShellBranch& node) const noexcept { return points.radius(node); }
};

}  // namespace cotouch
