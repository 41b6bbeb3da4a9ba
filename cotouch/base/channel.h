// How threads meet: nothing waits, nothing allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace cotouch {

// One writer, one reader, latest value wins (triple buffer). Both sides are wait-free: each owns one slot,
// and the third changes hands by a single atomic exchange.
template <class T>
class LatestValue {
 public:
  explicit LatestValue(const T& initial = T{}) : slots_{initial, initial, initial} {}

  void write(const T& value) noexcept {
    static_assert(std::is_nothrow_copy_assignable_v<T>);
    slots_[back_] = value;
    newest_ = back_;
    back_ = shared_.exchange(back_ | k_fresh, std::memory_order_acq_rel) & k_index;
  }
  // The same for values that are costly to make or must not be allocated: `fill` changes the writer's slot, which holds
  // what was written two or three times before.
  template <class Fill>
  void write_in_place(Fill&& fill) noexcept {
    fill(slots_[back_]);
    newest_ = back_;
    back_ = shared_.exchange(back_ | k_fresh, std::memory_order_acq_rel) & k_index;
  }
  // For the writer: what it wrote last, which the reader may be reading meanwhile.
  const T& newest() const noexcept { return slots_[newest_]; }
  // The newest value written so far. The reference stays valid until the next read.
  const T& read() noexcept {
    if (shared_.load(std::memory_order_relaxed) & k_fresh)
      front_ = shared_.exchange(front_, std::memory_order_acq_rel) & k_index;
    return slots_[front_];
  }

 private:
  static constexpr std::uint8_t k_index = 3;
  static constexpr std::uint8_t k_fresh = 4;
  std::array<T, 3> slots_;
  alignas(64) std::atomic<std::uint8_t> shared_{1};
  alignas(64) std::uint8_t back_ = 0;   // the writer's
  std::uint8_t newest_ = 1;             // the writer's, and never its back
  alignas(64) std::uint8_t front_ = 2;  // the reader's
};

// One writer, one reader, bounded, in order. A full queue refuses; the writer decides what that means.
template <class T>
class BoundedQueue {
 public:
  // `capacity` is rounded up to a power of two.
  explicit BoundedQueue(std::size_t capacity) {
    std::size_t size = 1;
    while (size < capacity) size *= 2;
    mask_ = size - 1;
    items_ = std::make_unique<T[]>(size);
  }

  bool push(const T& item) noexcept {
    static_assert(std::is_nothrow_copy_assignable_v<T>);
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) > mask_) return false;
    items_[head & mask_] = item;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  bool pop(T& item) noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return false;
    item = items_[tail & mask_];
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

 private:
  std::unique_ptr<T[]> items_;
  std::size_t mask_ = 0;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace cotouch
