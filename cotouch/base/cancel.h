// Long work that can be ended from anywhere inside it.
//
// Preparing a part is dozens of steps in several rooms, and a mesh can be made so that any of them takes minutes. So
// what starts such work says once, for its thread, how it is told to end, and every loop that may take long asks.
// Threads of parallel_for ask the same. Asking costs a few nanoseconds; outside of such work it does nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace cotouch {

// While it lives, this thread's work ends once `cancelled` is true. It is called from several threads at once.
class CancelScope {
 public:
  using Question = std::function<bool()>;

  explicit CancelScope(Question cancelled);
  // As another thread's work does; null: nothing ends it.
  explicit CancelScope(const Question* cancelled) noexcept;
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  static const Question* current() noexcept;

 private:
  const Question own_;
  const Question* const before_;
};

// Throws Cancelled if the work that this thread does is to end.
void throw_if_cancelled();

// Calls work(i) for all i < count, asking now and then: for many steps of which each takes less than asking.
template <class Work>
void for_each_cancellable(std::size_t count, const Work& work) {
  constexpr std::size_t k_ask_every = 1U << 14U;
  for (std::size_t begin = 0; begin < count; begin += k_ask_every) {
    throw_if_cancelled();
    for (std::size_t i = begin; i < std::min(count, begin + k_ask_every); ++i) work(i);
  }
}

// std::sort that can be ended; what it leaves then is in no order.
template <class Iterator, class Less = std::less<>>
void sort_cancellable(Iterator begin, Iterator end, const Less& less = {}) {
  constexpr std::size_t k_ask_every = 1U << 14U;
  std::size_t compared = 0;
  std::sort(begin, end, [&](const auto& a, const auto& b) {
    if (++compared % k_ask_every == 0) throw_if_cancelled();
    return less(a, b);
  });
}

}  // namespace cotouch
