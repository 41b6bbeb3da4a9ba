// Logical time of a shared world: how many steps it has taken since it began.
#pragma once

#include <cstdint>

namespace cotouch {

using Tick = std::int64_t;

}  // namespace cotouch
