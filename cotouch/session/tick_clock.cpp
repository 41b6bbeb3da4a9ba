#include <cotouch/session/tick_clock.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_gain = 0.02;       // of the interval for each tick of lead
constexpr double k_most = 0.05;       // of the interval
constexpr double k_short_stop = 0.5;  // seconds; nobody waits for us so soon
constexpr double k_far_behind = 12;   // ticks; then they are made up for at once
constexpr double k_near = 1;          // tick
constexpr double k_most_missed = 512;
constexpr double k_most_at_once = 16;

}  // namespace

void TickClock::follow(std::optional<double> lead) noexcept {
  stretch_ = 1 + std::clamp(k_gain * lead.value_or(0), -k_most, k_most);
  if (lead && *lead > -k_near) missed_ = 0;
}

bool TickClock::is_due(double now) noexcept {
  if (due_ > now + 2 * interval()) due_ = now;  // the clock went back
  return now >= due_;
}

void TickClock::ticked(double now, bool begun) noexcept {
  if (!begun) missed(1);
  due_ += interval();
  if (now <= due_ + k_short_stop) return;
  missed((now - due_) / tick_);
  due_ = now;
}

void TickClock::missed(double ticks) noexcept {
  missed_ = std::min(missed_ + ticks, k_most_missed);
}

int TickClock::to_make_up(double now, double behind) const noexcept {
  const double due = std::max(0.0, now - due_) / tick_;
  const double ticks = std::min(behind - due, missed_);
  return ticks > k_far_behind ? static_cast<int>(std::min(ticks, k_most_at_once)) : 0;
}

}  // namespace cotouch
