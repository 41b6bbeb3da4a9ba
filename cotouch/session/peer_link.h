// What is known about the way to one other member: how long it takes, how unevenly, how much is lost, and how far its
// clock is ahead. Measured from nothing but the packets that are sent anyway.
//
// Networks and whoever sits on the path may hold packets back. A packet that was overtaken says nothing here but that
// its sender was alive: what it tells is old, and the time that it took is not that of the way.
#pragma once

#include <cotouch/session/tick.h>

#include <algorithm>
#include <cstdint>

namespace cotouch {

// Stamps of a link are in tenths of a millisecond and wrap round after five days.
std::uint32_t stamp_of(double seconds) noexcept;

class PeerLink {
 public:
  PeerLink(double now, double tick_seconds) : tick_seconds_(tick_seconds), heard_(now) {}

  // What to write into the next packet.
  std::uint16_t next_sequence() noexcept { return sent_++; }
  std::uint32_t echo() const noexcept { return their_stamp_; }
  std::uint32_t held(double now) const noexcept;  // since that stamp arrived, in its unit
  bool has_echo() const noexcept { return has_heard_; }
  std::uint8_t loss_byte() const noexcept;

  // What a packet said. `their_tick` is where their clock stood when it was sent.
  struct Heard {
    std::uint16_t sequence = 0;
    std::uint32_t sent = 0;
    bool has_echo = false;
    std::uint32_t echo = 0, held = 0;
    std::uint8_t loss = 0;  // of ours, in 255ths
    Tick their_tick = 0;
  };
  void heard(double now, const Heard& packet) noexcept;

  double last_heard() const noexcept { return heard_; }
  // We heard nothing for so long because we did not listen.
  void slept(double now, double seconds) noexcept;
  double round_trip() const noexcept { return round_trip_ < 0 ? 0.1 : round_trip_; }  // seconds, smoothed
  double jitter() const noexcept { return jitter_; }                                  // seconds, mean deviation
  double loss_in() const noexcept { return loss_in_; }    // of theirs, a share; what comes too late counts as lost
  double loss_out() const noexcept { return loss_out_; }  // of ours

  // How many ticks our clock is ahead of theirs if it is at `tick` now, as far as round trips tell.
  bool knows_lead() const noexcept { return knows_lead_; }
  double lead(double now, double tick) const noexcept { return tick - (their_beginning_ + now / tick_seconds_); }
  // The newest tick that theirs is known to have reached. It is that far at least: no delay can make this more.
  Tick their_tick() const noexcept { return their_tick_; }

 private:
  void settle(std::uint16_t sequence) noexcept;
  void measure(double now, const Heard& packet) noexcept;

  double tick_seconds_;
  double heard_;
  std::uint16_t sent_ = 0, newest_ = 0;
  std::uint64_t arrived_ =
      ~std::uint64_t{0};  // of the newest and those before it; what was before the first is no loss
  bool has_heard_ = false;
  std::uint32_t their_stamp_ = 0;
  Tick their_tick_ = 0;
  double stamp_arrived_ = 0;
  double round_trip_ = -1, jitter_ = 0, loss_in_ = 0, loss_out_ = 0;
  double their_beginning_ = 0;  // their tick when our clock was zero, if both had always gone at their rate
  bool knows_lead_ = false;
};

}  // namespace cotouch
