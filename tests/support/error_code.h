#pragma once

#include <cotouch/base/error.h>

#include <optional>

namespace cotouch {

// The code of the Error that `action` throws; none if it throws no Error.
template <class Action>
std::optional<ErrorCode> code_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace cotouch
