// How long cycles take: fixed buckets, one writer, any number of readers, nothing allocated.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cotouch {

// Buckets of 1 us up to 4 ms; longer times share the last one, and the longest is kept exactly.
class CycleHistogram {
 public:
  static constexpr std::size_t k_bucket_ns = 1000;
  static constexpr std::size_t k_buckets = 4001;

  void add(std::int64_t nanoseconds) noexcept {
    const std::size_t bucket = nanoseconds < 0 ? 0 : static_cast<std::size_t>(nanoseconds) / k_bucket_ns;
    auto& slot = buckets_[bucket < k_buckets ? bucket : k_buckets - 1];
    // One writer: a plain increment, made visible in whole numbers.
    slot.store(slot.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (nanoseconds > max_ns_.load(std::memory_order_relaxed)) max_ns_.store(nanoseconds, std::memory_order_relaxed);
  }

  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& slot : buckets_) sum += slot.load(std::memory_order_relaxed);
    return sum;
  }
  // The upper edge of the bucket below which `share` of the times lie, seconds; zero where there are none.
  double quantile(double share) const noexcept {
    const double wanted = share * static_cast<double>(count());
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i + 1 < k_buckets; ++i) {
      seen += buckets_[i].load(std::memory_order_relaxed);
      if (seen > 0 && static_cast<double>(seen) >= wanted) return static_cast<double>((i + 1) * k_bucket_ns) * 1e-9;
    }
    return longest();
  }
  // For readers who want the times since their last look.
  std::uint64_t in_bucket(std::size_t bucket) const noexcept {
    return buckets_[bucket].load(std::memory_order_relaxed);
  }
  double longest() const noexcept { return static_cast<double>(max_ns_.load(std::memory_order_relaxed)) * 1e-9; }

 private:
  std::array<std::atomic<std::uint64_t>, k_buckets> buckets_{};
  std::atomic<std::int64_t> max_ns_{0};
};

}  // namespace cotouch
