#include <cotouch/contact/scratch.h>

namespace cotouch {

void ContactScratch::reserve(std::uint32_t shell_points) {
  // Runs are written whole.
  const std::size_t size = std::size_t{shell_points} + k_run;
  if (points.size() >= size) return;
  for (Queue* q : {&queue, &next}) {
    q->node.resize(size);
    q->distance.resize(size);
  }
  copies.resize(size);
  points.resize(size);
  distances.resize(size);
  contacts.resize(size);
}

}  // namespace cotouch
