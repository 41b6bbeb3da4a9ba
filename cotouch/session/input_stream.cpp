#include <cotouch/session/input_stream.h>

#include <algorithm>
#include <utility>

namespace cotouch {

const PeerInput* InputStream::at(Tick tick) const {
  static const PeerInput k_absent;
  if (tick < first_ || tick >= end_) return &k_absent;
  const Entry* found = entry(tick);
  return found != nullptr ? &found->input : nullptr;
}

bool InputStream::add(Tick tick, PeerInput input) {
  // What lies ahead must not overwrite what the others may still ask for: half of the ring is for the past.
  if (tick < next_ || tick >= end_ || tick >= next_ + k_kept / 2 || entry(tick) != nullptr) return false;
  ring_[static_cast<std::size_t>(tick & (k_kept - 1))] = {tick, std::move(input)};
  while (next_ < end_ && entry(next_) != nullptr) ++next_;
  return true;
}

void InputStream::finish(Tick end) {
  end_ = std::min(end_, end);
  next_ = std::min(next_, end_);
}

}  // namespace cotouch
