// Temporal coherence as a cache: which points of a shell may touch, remembered from an earlier evaluation.
//
// The paper (001, III) predicts the earliest cycle of contact of each node from a largest velocity that the scene is
// assumed never to exceed. Here the motion is measured instead. A walk through the tree lists the points it cannot call
// free, and finds out by how much all others are free, nodes with all that is below them. While nothing on the shell
// has moved farther than that from where it was then, no other point can touch: only the list is looked up and the tree
// is not walked at all. A hand that trembles in one place uses nothing up, however long it trembles.
//
// So that there is always something to use up, a walk calls free only what is free with `skin` to spare.
//
// (Remembering the slack of every node besides, to skip it in the next walk, was tried. It saved a third of the nodes
// and cost more time than it saved: a node visited is a few nanoseconds of arithmetic, one remembered a place in a
// table.)
//
// Nothing depends on what is in here but the number of nodes visited: points are only ever left out that surely do not
// touch. A cache may be fresh, shared by nobody, cleared at any time, or absent.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/contact/engine.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

class CoherenceCache final : public ContactCache {
 public:
  static constexpr std::uint32_t k_most_points = 160'000;

  // Memory is taken here and never again: for lists of so many points, but no more than k_most_points, four bytes each.
  explicit CoherenceCache(std::uint32_t points = k_most_points);

  void clear() noexcept override;
  std::size_t memory_bytes() const noexcept override { return sizeof *this + near_.capacity() * sizeof near_[0]; }

  // For an evaluation. Every point that matters lies within `radius` of `center` in the shell's frame; `relative` is
  // the shell's pose in the field's frame; `spacing` is a cell of the field. Anything but the relative pose that
  // differs from last time clears the cache.
  void begin(const Vec3d& center, double radius, const Pose& relative, double spacing, double clearance) noexcept;

  // Metres: what is called free must be free by so much more than nothing. A quarter of a cell.
  float skin() const noexcept { return skin_; }

  // The points of levels 0..level that may touch, in increasing order; none if it is not known which.
  bool knows_near(std::uint32_t level) const noexcept;
  std::span<const std::uint32_t> near() const noexcept { return {near_.data(), near_count_}; }

  // To list them again, a walk shows all points that it looks up and all nodes that it judges, each with the room
  // around it less the skin: free if that is positive. If the points are too many, nothing is known, and for some time
  // it is better to walk without a cache.
  void begin_near() noexcept;
  void add_points(std::span<const std::uint32_t> points, const float* room) noexcept;
  void add_nodes(std::span<const float> room) noexcept;
  void end_near(std::uint32_t level) noexcept;
  bool pauses() noexcept { return pause_ > 0 && pause_-- > 0; }  // asked once an evaluation

  // A level that was too large for its budget need not be counted again until something has moved by a quarter of a
  // cell.
  void refuse(std::uint32_t level) noexcept;
  bool is_refused(std::uint32_t level) const noexcept;

 private:
  static constexpr std::uint32_t k_no_level = ~0U;

  struct Place {
    Vec3d center;
    Quat rotation;
  };
  double most_moved(const Place& a, const Place& b) const noexcept;

  bool started_ = false;
  Vec3d center_;
  double radius_ = 0, spacing_ = 0, clearance_ = 0;
  float skin_ = 0;
  Place now_, refused_at_, near_at_;
  std::uint32_t refused_ = k_no_level, near_level_ = k_no_level;
  std::vector<std::uint32_t> near_;
  std::uint32_t near_count_ = 0, pause_ = 0;
  float least_room_ = 0;  // of what was called free
};

}  // namespace cotouch
