#include <cotouch/contact/scratch.h>

namespace cotouch {

void ContactScratch::reserve(std::uint32_t shell_points) {
  // One entry more than can be kept: a candidate is written first and kept by moving the end.
  const std::size_t size = std::size_t{shell_points} + 1;
  if (points.size() >= size) return;
  for (Queue* q : {&queue, &next}) {
    q->node.resize(size);
    q->distance.resize(size);
  }
  points.resize(size);
  slot.resize(size);
  contacts.resize(size);
}

}  // namespace cotouch
