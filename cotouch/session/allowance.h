// How much of something there may be, so that nobody gets all of it.
#pragma once

#include <algorithm>

namespace cotouch {

// `per_second` on average, `most` at once.
class Allowance {
 public:
  Allowance(double per_second, double most) : per_second_(per_second), most_(most), left_(most) {}

  // Takes one, if there is one left. Time that goes back brings nothing.
  bool take(double now) noexcept {
    left_ = std::min(most_, left_ + std::max(0.0, now - since_) * per_second_);
    since_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double per_second_, most_, left_, since_ = 0;
};

}  // namespace cotouch
