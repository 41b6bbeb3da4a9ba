#include <cotouch/contact/nested/workspace.h>

namespace cotouch {

void NestedWorkspace::reserve(std::uint32_t shell_points) {
  if (has_room_for(shell_points)) return;
  const std::size_t size = std::size_t{shell_points} + k_run;
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
