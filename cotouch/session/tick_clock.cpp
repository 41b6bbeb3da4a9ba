#include <cotouch/session/tick_clock.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_gain = 0.02;      // of the interval for each tick of lead
constexpr double k_most = 0.05;      // of the interval
constexpr double k_far_behind = 12;  // ticks; then they are made up for at once
constexpr double k_far_ahead = 12;   // ticks; then every second one is left out
constexpr int k_most_at_once = 16;

}  // namespace

void TickClock::follow(double lead) noexcept {
  stretch_ = lead > k_far_ahead ? 2 : 1 + std::clamp(k_gain * lead, -k_most, k_most);
  backlog_ = lead < -k_far_behind ? static_cast<int>(std::min<double>(-lead, k_most_at_once)) : 0;
}

bool TickClock::is_due(double now) noexcept {
  if (due_ > now + 2 * interval()) due_ = now;  // the clock went back
  return now >= due_;
}

void TickClock::ticked(double now) noexcept {
  due_ += interval();
  if (due_ < now - 2 * tick_) due_ = now;
}

}  // namespace cotouch
