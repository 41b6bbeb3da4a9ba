// The inputs of one member as far as they are known: a run of ticks without gaps, what arrived beyond a gap, and, once
// it is known, where the stream ends. Outside of its stream a member is absent.
#pragma once

#include <cotouch/session/peer_input.h>

#include <optional>
#include <vector>

namespace cotouch {

class InputStream {
 public:
  // Room for so many ticks, half of them past: older ones are overwritten.
  static constexpr Tick k_kept = 1024;

  explicit InputStream(Tick first) : first_(first), next_(first), ring_(k_kept) {}

  Tick first() const { return first_; }
  Tick next() const { return next_; }  // the first tick that is not known
  Tick end() const { return end_; }    // the first tick after the stream; k_never while it goes on
  bool is_over() const { return next_ >= end_; }

  // Is it known what this member does in that tick? Absent members are known to do nothing.
  bool known(Tick tick) const { return tick < next_ || tick >= end_ || entry(tick) != nullptr; }
  // What is known, if it is still kept. Absent outside of the stream.
  const PeerInput* at(Tick tick) const;
  // Does the ring still have every input from this tick on?
  bool keeps(Tick tick) const { return tick >= next_ - k_kept / 2 && tick >= first_; }

  // False if it was known already, is beyond the end, or lies too far ahead to be kept.
  bool add(Tick tick, PeerInput input);
  // Nothing from `end` on, whatever had arrived. The earliest counts.
  void finish(Tick end);

 private:
  struct Entry {
    Tick tick = -1;
    PeerInput input;
  };
  const Entry* entry(Tick tick) const {
    const Entry& found = ring_[static_cast<std::size_t>(tick & (k_kept - 1))];
    return found.tick == tick ? &found : nullptr;
  }

  Tick first_, next_, end_ = k_never;
  std::vector<Entry> ring_;
};

}  // namespace cotouch
