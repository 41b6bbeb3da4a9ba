// When the next tick is due. Peers keep together by making their ticks a little longer or shorter (paper 004, section
// 3): whoever is ahead of the others slows down, whoever is behind hurries, at most by a twentieth, whatever the
// network says.
//
// Only ticks that this clock itself knows to have missed are made up for at once: after a stop, while the world waited,
// and while joining.
#pragma once

#include <cotouch/session/tick.h>

#include <optional>

namespace cotouch {

class TickClock {
 public:
  TickClock(double tick_seconds, double now) : tick_(tick_seconds), due_(now) {}

  // How many ticks this clock is ahead of the others on average, if that is known. If it is not behind, it has nothing
  // left to make up for.
  void follow(std::optional<double> lead) noexcept;
  // Is a tick due? Time that went back is waited for. A short stop leaves the times of ticks as they were, so several
  // are due then; of a longer one, in which the others may have waited, the ticks count as missed.
  bool is_due(double now) noexcept;
  // The tick that was due has begun, or could not, because the world waits.
  void ticked(double now, bool begun) noexcept;
  double next() const noexcept { return due_; }
  double interval() const noexcept { return tick_ * stretch_; }

  // Ticks that the others made and this clock did not.
  void missed(double ticks) noexcept;
  // How many to make at once, beside those that are due, if the others are known to be so many further.
  int to_make_up(double now, double behind) const noexcept;
  void made_up() noexcept { missed_ -= 1; }

 private:
  double tick_, due_;
  double stretch_ = 1;
  double missed_ = 0;
};

}  // namespace cotouch
