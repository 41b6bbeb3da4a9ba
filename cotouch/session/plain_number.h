// Numbers as text that reads back as the same number.
#pragma once

#include <charconv>
#include <string>

namespace cotouch {

// The shortest such text.
inline std::string plain_number(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end.ptr};
}

// For sentences: without an exponent.
inline std::string long_number(double value) {
  char buffer[400];  // the largest number has 309 digits
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  return {buffer, end.ptr};
}

}  // namespace cotouch
