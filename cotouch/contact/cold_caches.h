// Drives everything out of the processor's caches by reading something larger than they are: what a cycle costs that
// comes first after something else ran.
#pragma once

#include <cstdint>
#include <vector>

namespace cotouch {

class ColdCaches {
 public:
  ColdCaches() : rubbish_(k_bytes / sizeof(std::uint64_t), 1) {}
  void chill() noexcept {
    for (std::size_t i = 0; i < rubbish_.size(); i += 8) sum_ += rubbish_[i];
  }
  // Of all that was read, for somebody to use: otherwise a compiler may leave the reading out.
  std::uint64_t sum() const noexcept { return sum_; }

 private:
  static constexpr std::size_t k_bytes = 48U << 20;
  std::vector<std::uint64_t> rubbish_;
  std::uint64_t sum_ = 0;
};

}  // namespace cotouch
