// Working memory of contact evaluations: nothing in it is remembered from one evaluation to the next, so one is enough
// for any number of pairs that are evaluated one after another.
#pragma once

#include <cotouch/contact/contact.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

struct ContactScratch {
  static constexpr std::uint32_t k_block =
      256;                                   // points looked up together; their buffers stay in the first-level cache
  static constexpr std::uint32_t k_run = 8;  // numbers that are written at once, needed or not

  // The nodes of one level above the last that are to be visited.
  struct Queue {
    static constexpr std::uint32_t k_no_point = 0xffffffff;
    std::vector<std::uint32_t> node;
    std::vector<std::uint32_t> point;  // its point if it is new on this level, else k_no_point: the node is a copy
    std::vector<float> distance;       // a copy brings its point's, the others are looked up
    std::uint32_t size = 0;
  };
  Queue queue, next;
  std::vector<std::uint32_t> points;  // looked up, all levels one after another
  std::uint32_t point_count = 0;
  std::vector<ContactPoint> contacts;
  std::uint32_t contact_count = 0;
  // One block's worth of work: values, room around them, places in the queue (new points, then nodes that may touch).
  std::array<float, k_block> distance, free;
  std::array<std::uint32_t, k_block> open;

  // Makes room for shells of up to so many points. Allocates; evaluations do not.
  void reserve(std::uint32_t shell_points);

  // Of the last evaluation: the points in contact in the order they were summed, and all points that were looked up,
  // level by level, for pictures.
  std::span<const ContactPoint> touching() const noexcept { return {contacts.data(), contact_count}; }
  std::span<const std::uint32_t> looked_up() const noexcept { return {points.data(), point_count}; }
};

}  // namespace cotouch
