// Logical time of a shared world: how many steps it has taken since it began. The state "at tick t" is the one before
// the inputs of tick t are applied.
#pragma once

#include <cstdint>
#include <limits>

namespace cotouch {

using Tick = std::int64_t;

inline constexpr Tick k_never = std::numeric_limits<Tick>::max();

}  // namespace cotouch
