// What is known about the way to one other member: how long it takes, how unevenly, how much is lost, and how far its
// clock is ahead. Measured from nothing but the packets that are sent anyway.
#pragma once

#include <cotouch/session/tick.h>

#include <algorithm>
#include <cstdint>

namespace cotouch {

// Stamps of a link are in tenths of a millisecond and wrap round after five days.
std::uint32_t stamp_of(double seconds) noexcept;

class PeerLink {
 public:
  explicit PeerLink(double now) : heard_(now) {}

  // What to write into the next packet.
  std::uint16_t next_sequence() noexcept { return sent_++; }
  std::uint32_t echo() const noexcept { return their_stamp_; }
  std::uint32_t held(double now) const noexcept;  // since that stamp arrived, in its unit
  bool has_echo() const noexcept { return received_ > 0; }
  std::uint8_t loss_byte() const noexcept;

  // What a packet said. `tick` is where our clock stands, `their_tick` where theirs stood when it was sent.
  struct Heard {
    std::uint16_t sequence = 0;
    std::uint32_t sent = 0;
    bool has_echo = false;
    std::uint32_t echo = 0, held = 0;
    std::uint8_t loss = 0;  // of ours, in 255ths
    Tick their_tick = 0;
  };
  void heard(double now, double tick, double tick_seconds, const Heard& packet) noexcept;

  // Our clock was set forward by so many ticks.
  void set_forward(double ticks) noexcept { lead_ += ticks; }

  double last_heard() const noexcept { return heard_; }
  // We heard nothing for so long because we did not listen.
  void slept(double now, double seconds) noexcept { heard_ = std::min(now, heard_ + seconds); }
  bool measured() const noexcept { return round_trip_ >= 0; }
  double round_trip() const noexcept { return round_trip_ < 0 ? 0.1 : round_trip_; }  // seconds, smoothed
  double jitter() const noexcept { return jitter_; }                                  // seconds, mean deviation
  double loss_in() const noexcept { return loss_in_; }                                // of theirs, a share
  double loss_out() const noexcept { return loss_out_; }                              // of ours
  double lead() const noexcept { return lead_; }  // ticks that our clock is ahead of theirs

 private:
  void count_loss(std::uint16_t sequence) noexcept;

  double heard_;
  std::uint16_t sent_ = 0, newest_ = 0;
  std::uint64_t received_ = 0;
  std::uint32_t their_stamp_ = 0;
  double stamp_arrived_ = 0;
  double round_trip_ = -1, jitter_ = 0, loss_in_ = 0, loss_out_ = 0, lead_ = 0;
  bool has_lead_ = false;
};

}  // namespace cotouch
