// Ticks that became objective here and are not known to be agreed: what may be told of them, and when.
//
// What is objective only here may be overruled by those who drop this member, so it is told once all who decide are
// known to have it. If this part of the session becomes a branch before that, whoever agrees on it is in the branch.
#pragma once

#include <cotouch/session/shared_session_listener.h>

#include <cstddef>
#include <deque>

namespace cotouch {

class UnsettledTicks {
 public:
  // Somebody who says of no tick that it is objective must not fill the memory: beyond these the oldest are forgotten.
  static constexpr std::size_t k_most = 1U << 14U;

  // From a snapshot on, which is of this branch.
  void begin(BranchId branch) {
    ticks_.clear();
    branch_ = branch;
  }
  BranchId branch() const { return branch_; }
  std::size_t size() const { return ticks_.size(); }

  // The next tick. Its branch is the one that this program is on.
  void add(AgreedTick tick) {
    if (ticks_.size() >= k_most) ticks_.pop_front();
    tick.branch = branch_;
    ticks_.push_back(tick);
  }
  // Others ended our inputs before what was objective only here: if anybody agrees on that now, it is this branch.
  void branch_off(BranchId branch) {
    branch_ = branch;
    for (AgreedTick& tick : ticks_) tick.branch = branch;
  }
  // The world goes on from the state before this tick, which others had; what was made here after it was wrong.
  void heal(Tick tick) {
    while (!ticks_.empty() && ticks_.back().tick > tick) ticks_.pop_back();
  }
  // Tells, in order, of what no decision can change any more. False if there was nothing.
  template <class Tell>
  bool settle(Tick agreed, const Tell& tell) {
    if (ticks_.empty() || ticks_.front().tick > agreed) return false;
    for (; !ticks_.empty() && ticks_.front().tick <= agreed; ticks_.pop_front()) tell(ticks_.front());
    return true;
  }

 private:
  std::deque<AgreedTick> ticks_;
  BranchId branch_ = 0;
};

}  // namespace cotouch
