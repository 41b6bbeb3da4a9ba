// Counts how often work asks whether to go on (base/cancel.h), and says no from some question on.
#pragma once

#include <cotouch/base/cancel.h>

#include <atomic>
#include <cstddef>
#include <limits>

namespace cotouch {

class Questions {
 public:
  explicit Questions(std::size_t no_from = std::numeric_limits<std::size_t>::max()) : no_from_(no_from) {}
  CancelScope::Question question() {
    return [this] { return ++asked_ >= no_from_; };
  }
  std::size_t asked() const { return asked_; }

 private:
  const std::size_t no_from_;
  std::atomic<std::size_t> asked_{0};
};

// How often this work asks.
template <class Work>
std::size_t questions_of(const Work& work) {
  Questions all;
  const CancelScope scope(all.question());
  work();
  return all.asked();
}

}  // namespace cotouch
