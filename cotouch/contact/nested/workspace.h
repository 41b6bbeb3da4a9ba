// What the walk through a shell's tree works in.
#pragma once

#include <cotouch/contact/sampled/sources.h>
#include <cotouch/contact/sampled/workspace.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

inline constexpr const char* k_tree_invariant = "A link of a pointshell's tree leads out of it";

struct NestedWorkspace final : SampledWorkspace {
  static constexpr std::uint32_t k_block = k_block_of_points;
  static constexpr std::uint32_t k_run = 8;  // numbers that are written at once, needed or not

  // The nodes of one level above the last that are to be visited.
  struct Queue {
    std::vector<std::uint32_t> node;
    std::vector<float> distance;
    std::uint32_t size = 0;
  };
  Queue queue, next;
  struct Copy {
    std::uint32_t place;  // in the queue
    float distance;       // its parent's, so that it need not be looked up
  };
  std::vector<Copy> copies;           // of the newest queue
  std::vector<std::uint32_t> points;  // looked up, all levels one after another
  std::vector<float> distances;       // of one level's points
  std::uint32_t point_count = 0;
  // One block's worth of work: room around points or nodes, places in the queue of those that may touch.
  std::array<float, k_block> free;
  std::array<std::uint32_t, k_block> open;

  // Makes room for shells of up to so many points. Allocates; evaluations do not.
  void reserve(std::uint32_t shell_points);
  bool has_room_for(std::uint32_t shell_points) const noexcept {
    return points.size() >= std::size_t{shell_points} + k_run;  // runs are written whole
  }

  // Of the last evaluation: all points that were looked up, level by level.
  std::span<const std::uint32_t> looked_up() const noexcept { return {points.data(), point_count}; }
};

}  // namespace cotouch
