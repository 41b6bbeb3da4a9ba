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
  std::vector<ContactPoint> contacts;
  std::uint32_t contact_count = 0;
  // One block's worth of work: room around points or nodes, places in the queue of those that may touch.
  std::array<float, k_block> free;
  std::array<std::uint32_t, k_block> open;

  // Makes room for shells of up to so many points. Allocates; evaluations do not.
  void reserve(std::uint32_t shell_points);

  // Of the last evaluation: the points in contact in the order they were summed, and all points that were looked up,
  // level by level, for pictures.
  std::span<const ContactPoint> touching() const noexcept { return {contacts.data(), contact_count}; }
  std::span<const std::uint32_t> looked_up() const noexcept { return {points.data(), point_count}; }
};

}  // namespace cotouch
