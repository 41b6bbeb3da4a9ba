// Two doubles that are computed with at once, on every machine that cotouch runs on; the same bits as one by one.
#pragma once

#include <cstring>

namespace cotouch {

using Pair = double __attribute__((vector_size(16)));

inline Pair load_pair(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}
inline void store_pair(double* to, const Pair& pair) {
  std::memcpy(to, &pair, sizeof pair);
}

}  // namespace cotouch
