// What this process has allocated and not released.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace cotouch {

// Of all arenas, and what was mapped by itself. A sanitizer brings its own allocator, which this does not see.
inline std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace cotouch
