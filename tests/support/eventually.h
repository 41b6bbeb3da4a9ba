// Waiting for another thread or process, for as long as the slowest machine may need.
#pragma once

#include <chrono>
#include <thread>

namespace cotouch {

// Returns whether it came true.
template <class Condition>
bool eventually(Condition holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace cotouch
