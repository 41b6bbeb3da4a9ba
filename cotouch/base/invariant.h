// What must always hold, checked in every build: where going on wrong in silence would cost most, and a check is cheap
// beside what it guards.
//
// What comes from outside is not checked by these but refused in its own words. A broken invariant is a fault of ours,
// or of the machine's memory. On the touch path nothing may be thrown: there an InvariantWatch notes it, and the loop
// lets go of every hand and shows the sentence (TouchFrame::broken), and a shared session ends. Elsewhere it is an
// Error; within a function that throws none, it ends the program with that sentence, and the guard process takes the
// forces away.
#pragma once

#include <atomic>
#include <string>

namespace cotouch {

namespace detail {
inline std::atomic<const char*> injected_fault{nullptr};
inline std::atomic<int> spared_by_fault{0};
[[gnu::cold]] bool broken_invariant(bool holds, const char* sentence);
}  // namespace detail

// Returns whether it holds. The sentence is a constant: it says what does not hold, without its full stop.
[[nodiscard]] inline bool invariant(bool holds, const char* sentence) {
  if (holds && detail::injected_fault.load(std::memory_order_relaxed) == nullptr) [[likely]]
    return true;
  return detail::broken_invariant(holds, sentence);
}

// While one lives, invariants that this thread breaks are noted instead of thrown.
class InvariantWatch {
 public:
  InvariantWatch() noexcept;
  ~InvariantWatch();
  InvariantWatch(const InvariantWatch&) = delete;
  InvariantWatch& operator=(const InvariantWatch&) = delete;

  // The sentence of the first that was broken; null if all held.
  const char* broken() const noexcept { return broken_; }

 private:
  friend bool detail::broken_invariant(bool holds, const char* sentence);
  const char* broken_ = nullptr;
  InvariantWatch* before_;
};

// For people: what did not hold, and what to do.
std::string invariant_report(const char* sentence);

// For tests: while one lives, invariants whose sentence begins like this do not hold, in any thread, but for the first
// few times that they are looked at.
class InjectedFault {
 public:
  explicit InjectedFault(const char* beginning, int spared = 0) noexcept {
    detail::spared_by_fault.store(spared);
    detail::injected_fault.store(beginning);
  }
  ~InjectedFault() { detail::injected_fault.store(nullptr); }
  InjectedFault(const InjectedFault&) = delete;
  InjectedFault& operator=(const InjectedFault&) = delete;
};

}  // namespace cotouch
