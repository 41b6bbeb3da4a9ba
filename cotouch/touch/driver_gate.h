// How a thread that may never come back from a driver is given up.
//
// Three parties may call a driver: the touch thread, the threads that let devices go, and the caller of run_cycles. Any
// of them may never come back. Each thread therefore goes through a gate: it says which device it is about to call, and
// after the call asks whether it was given up meanwhile. Both are one atomic exchange of the same word, so either the
// thread is back before it is given up, or it finds out before it touches anything but the core, which it keeps alive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cotouch {

class DriverGate {
 public:
  static constexpr int k_outside = -1;

  // One call of a driver. Two calls of the same driver differ in their number.
  struct Visit {
    int device = k_outside;
    std::uint32_t number = 0;

    friend bool operator==(const Visit&, const Visit&) = default;
  };

  // The thread's own: about to call a driver, and back from it. False: it was given up and has to end at once.
  // What the thread reads after `enter` is not older than it: of a thread that looks here after it has announced
  // something, and this one, at least one sees what the other has said.
  void enter(std::size_t device) noexcept { at_.store(word(static_cast<int>(device), ++visits_)); }
  bool leave() noexcept {
    std::uint64_t at = at_.load(std::memory_order_relaxed);
    return device_of(at) != k_given_up && at_.compare_exchange_strong(at, word(k_outside, visits_));
  }
  // For others: where the thread is.
  Visit visit() const noexcept {
    const std::uint64_t at = at_.load();
    return {device_of(at), static_cast<std::uint32_t>(at >> 8U)};
  }
  // The device whose driver the thread will not come back from; k_outside if it is in none.
  int give_up() noexcept {
    std::uint64_t at = at_.load();
    const int device = device_of(at);
    return device >= 0 && at_.compare_exchange_strong(at, word(k_given_up, 0)) ? device : k_outside;
  }

 private:
  static constexpr int k_given_up = -2;
  // The lowest byte is the device; the number is above.
  static constexpr std::uint64_t word(int device, std::uint32_t number) noexcept {
    return static_cast<std::uint64_t>(number) << 8U | static_cast<std::uint8_t>(device);
  }
  static constexpr int device_of(std::uint64_t at) noexcept { return static_cast<std::int8_t>(at & 0xffU); }

  std::atomic<std::uint64_t> at_{word(k_outside, 0)};
  std::uint32_t visits_ = 0;  // the thread's own
};

}  // namespace cotouch
