// When the next tick is due. Peers keep together by making their ticks a little longer or shorter (paper 004, section
// 3): whoever is ahead of the others slows down, whoever is behind hurries, at most by a twentieth.
#pragma once

#include <cotouch/session/tick.h>

namespace cotouch {

class TickClock {
 public:
  TickClock(double tick_seconds, double now) : tick_(tick_seconds), due_(now) {}

  // How many ticks this clock is ahead of the others on average; 0 if there are none.
  void follow(double lead) noexcept;
  // Is a tick due? Time that went back is waited for; so is none after a long pause: what was missed is not made up for
  // here, because the others' clocks went on and follow() will say so.
  bool is_due(double now) noexcept;
  // The tick that was due has begun, or could not, because the world waits.
  void ticked(double now) noexcept;
  double next() const noexcept { return due_; }
  double interval() const noexcept { return tick_ * stretch_; }
  // Ticks that are to be made up for at once: after a pause, or while joining.
  int backlog() const noexcept { return backlog_; }

 private:
  double tick_, due_;
  double stretch_ = 1;
  int backlog_ = 0;
};

}  // namespace cotouch
