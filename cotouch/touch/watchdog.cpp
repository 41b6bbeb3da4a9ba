#include <cotouch/touch/watchdog.h>

#include <algorithm>

namespace cotouch {

Watchdog::Watchdog(double stall_seconds, std::size_t devices) noexcept
    : stall_ns_(static_cast<std::int64_t>(stall_seconds * 1e9)),
      look_ns_(std::min(stall_ns_ / 4 + 1, k_longest_look_ns)),
      devices_(std::min(devices, k_loop_hands)) {
}

void Watchdog::Watched::see(const DriverGate::Visit& seen, std::int64_t watched_ns) noexcept {
  if (seen == visit) return;
  visit = seen;
  since_ns = watched_ns;
}

bool Watchdog::Watched::hangs(std::size_t device, std::int64_t watched_ns) const noexcept {
  return visit.device == static_cast<int>(device) && watched_ns - since_ns >= k_driver_patience_ns;
}

Watchdog::Order Watchdog::order_for(std::size_t device, const Seen& seen) noexcept {
  const DeviceSeen& its = seen.devices[device];
  if (its.disabled) return Order::none;
  if (threads_[device].hangs(device, watched_ns_)) return Order::disable;
  if (seen.answered || !seen.running) return Order::none;
  if (touch_.hangs(device, watched_ns_)) return Order::disable;
  if (its.letting_go == LettingGo::asked && its.thread.device == DriverGate::k_outside &&
      watched_ns_ - asked_ns_[device] >= k_thread_patience_ns)
    return Order::disable;
  const bool served = seen.touch.device == static_cast<int>(device);
  if (served || its.letting_go != LettingGo::no) return Order::none;
  asked_ns_[device] = watched_ns_;
  return Order::let_go;
}

Watchdog::Orders Watchdog::look(const Seen& seen) noexcept {
  watched_ns_ += std::min(seen.now_ns - last_look_ns_, pause_ns_);
  last_look_ns_ = seen.now_ns;
  for (std::size_t i = 0; i < devices_; ++i) threads_[i].see(seen.devices[i].thread, watched_ns_);
  touch_.see(seen.touch, watched_ns_);

  Orders orders;
  orders.announce = seen.running && seen.answered && seen.now_ns - seen.progress_ns >= stall_ns_;
  bool closely = seen.running && !seen.answered;
  for (std::size_t i = 0; i < devices_; ++i) {
    if (!orders.announce) orders.devices[i] = order_for(i, seen);
    closely = closely || (!seen.devices[i].disabled && seen.devices[i].letting_go == LettingGo::asked);
  }
  if (orders.announce) touch_.since_ns = watched_ns_;
  // What is announced may change what is seen, so the next look is at once.
  pause_ns_ = orders.announce ? 0 : closely ? k_close_look_ns : look_ns_;
  orders.look_ns = seen.now_ns + pause_ns_;
  return orders;
}

}  // namespace cotouch
