// Numbers to bytes and back, little-endian, for the layout in wire_layout.h. Vectors and poses travel in single
// precision, because they are looked at, not computed with. `get` reads at `at` and expects the bytes to be there.
#pragma once

#include <cotouch/base/pose.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace cotouch::wire {

template <class T>
requires std::is_arithmetic_v<T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof(T));
  out.append(bytes, sizeof(T));
}

template <class T>
requires std::is_arithmetic_v<T>
void get(std::string_view in, std::size_t at, T& value) noexcept {
  char bytes[sizeof(T)];
  std::memcpy(bytes, in.data() + at, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof(T));
  std::memcpy(&value, bytes, sizeof(T));
}

inline double get_float(std::string_view in, std::size_t at) noexcept {
  float value = 0;
  get(in, at, value);
  return static_cast<double>(value);
}

inline void put(std::string& out, const Vec3d& v) {
  put(out, static_cast<float>(v.x));
  put(out, static_cast<float>(v.y));
  put(out, static_cast<float>(v.z));
}

inline void get(std::string_view in, std::size_t at, Vec3d& v) noexcept {
  v = {get_float(in, at), get_float(in, at + 4), get_float(in, at + 8)};
}

inline void put(std::string& out, const Pose& pose) {
  put(out, pose.position);
  put(out, static_cast<float>(pose.rotation.w));
  put(out, static_cast<float>(pose.rotation.x));
  put(out, static_cast<float>(pose.rotation.y));
  put(out, static_cast<float>(pose.rotation.z));
}

inline void get(std::string_view in, std::size_t at, Pose& pose) noexcept {
  get(in, at, pose.position);
  pose.rotation = {get_float(in, at + 12), get_float(in, at + 16), get_float(in, at + 20), get_float(in, at + 24)};
}

}  // namespace cotouch::wire
