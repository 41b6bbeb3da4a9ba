// Rows of shapes times coordinates, in single precision: what evaluating a node of an elastic model is made of.
#pragma once

#include <cotouch/base/vec.h>

#include <cstddef>
#include <cstring>

namespace cotouch {

using FourFloats = float __attribute__((vector_size(16)));

inline FourFloats load_four(const float* from) noexcept {
  FourFloats out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

// Four sums side by side, then added in pairs: one order on every machine. `stride` is a multiple of four.
inline float dot_row(const float* row, const float* q, std::size_t stride) noexcept {
  FourFloats sum{};
  for (std::size_t j = 0; j < stride; j += 4) sum += load_four(row + j) * load_four(q + j);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The same of three rows one after another, at once: their sums do not wait for each other.
inline Vec3f dot_rows(const float* rows, const float* q, std::size_t stride) noexcept {
  FourFloats x{}, y{}, z{};
  for (std::size_t j = 0; j < stride; j += 4) {
    const FourFloats at = load_four(q + j);
    x += load_four(rows + j) * at;
    y += load_four(rows + stride + j) * at;
    z += load_four(rows + 2 * stride + j) * at;
  }
  return {(x[0] + x[1]) + (x[2] + x[3]), (y[0] + y[1]) + (y[2] + y[3]), (z[0] + z[1]) + (z[2] + z[3])};
}

}  // namespace cotouch
