#include <cotouch/contact/scratch.h>

namespace cotouch {

void ContactScratch::reserve(std::uint32_t shell_points) {
  // More than can be kept: candidates are written first and kept by moving the end.
  const std::size_t size = std::size_t{shell_points} + k_run;
  if (points.size() >= size) return;
  for (Queue* q : {&queue, &next}) {
    q->node.resize(size);
    q->point.resize(size);
    q->distance.resize(size);
  }
  points.resize(size);
  contacts.resize(size);
}

}  // namespace cotouch
