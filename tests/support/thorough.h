// Searches that go on longer in ./dev soak than in ./dev test, which has to end.
#pragma once

#include <cstdlib>

namespace cotouch::testing_support {

// `usual`, or `soaked` where COTOUCH_THOROUGH is set.
inline int thorough(int usual, int soaked) {
  return std::getenv("COTOUCH_THOROUGH") != nullptr ? soaked : usual;
}

}  // namespace cotouch::testing_support
