#include <cotouch/touch/loop_core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_waiting_changes = 16;
constexpr std::int64_t k_longest_look_ns = 5'000'000;  // between two looks of the watchdog
constexpr auto k_second_look = std::chrono::milliseconds(1);
constexpr std::uint32_t k_busy_cycles = 20;  // until a driver that keeps the watchdog counts as hanging

}  // namespace

TouchLoop::Core::Core(std::vector<Device*> all, TouchWorld& first, const TouchLoopSettings& wanted)
    : devices(std::move(all)),
      world(&first),
      state_bytes(first.state().bytes().size()),
      settings(wanted),
      frames({{}, first.state()}),
      marks({{}, first.state()}),
      samples(wanted.queued_samples),
      changes(k_waiting_changes) {
  write_mark();
}

void TouchLoop::Core::engage() {
  if (!limiters.empty()) return;
  std::vector<std::unique_ptr<ForceLimiter>> made;
  for (Device* device : devices) made.push_back(std::make_unique<ForceLimiter>(*device, settings.limits));
  limiters = std::move(made);
  if (now_.cycle == 0) write_mark();
}

void TouchLoop::Core::write_mark() noexcept {
  marks.write_in_place([&](WorldMark& slot) {
    slot.mark.change = now_.change;
    slot.mark.cycle = now_.cycle;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      slot.mark.limiters[i] = limiters.empty() ? LimiterState{} : limiters[i]->state();
      slot.mark.motors[i] = ForceLimiter::limits_of(*devices[i]).motors;
    }
    slot.world = world->state();
  });
}

bool TouchLoop::Core::release_all(DriverGate& gate, int except) noexcept {
  for (std::size_t i = 0; i < limiters.size(); ++i) {
    if (static_cast<int>(i) == except) continue;
    gate.enter(i);
    limiters[i]->release();
    if (!gate.leave()) return false;
  }
  return true;
}

void TouchLoop::Core::disable(std::size_t device) noexcept {
  limiters[device]->disable();
  states[device].store(DeviceState::disabled, std::memory_order_release);
}

// False, here and below: given up.
bool TouchLoop::Core::take_changes() noexcept {
  for (TouchChange change; changes.pop(change);) {
    change.limits.period = settings.limits.period;
    if (change.world != nullptr && change.world != world) {
      if (!change.world->state().restore(world->state().bytes())) {
        // What the old world has come to is no state of a world: the new one begins at its start, and what it makes
        // the hands feel fades in.
        now_.restarts += 1;
        if (!release_all(touching.gate)) return false;
      }
      world = change.world;
    }
    for (const auto& limiter : limiters) limiter->change(change.limits);
    now_.change += 1;
    write_mark();
  }
  return true;
}

bool TouchLoop::Core::read_devices(double passed) noexcept {
  any_ = false;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Served& served = served_[i];
    served.reading = {};
    inputs_[i] = {};
    // A disabled driver may still hang, so nothing is asked of it.
    const bool disabled = limiters[i]->is_disabled();
    bool present = false;
    if (!disabled) {
      touching.gate.enter(i);
      present = devices[i]->read(served.reading);
      if (!touching.gate.leave()) return false;
    }
    any_ = any_ || present || disabled;
    const DeviceLimits& limits = limiters[i]->device_limits();
    const bool was_sound = served.sound;
    if (!present) served.check.forget();
    served.sound = !present || served.check.take(served.reading, limits, passed);
    now_.faults += was_sound && !served.sound ? 1 : 0;
    const DeviceState state = disabled        ? DeviceState::disabled
                              : !present      ? DeviceState::lost
                              : !served.sound ? DeviceState::faulty
                                              : DeviceState::ready;
    now_.devices[i] = state;
    states[i].store(state, std::memory_order_release);
    const double share = served.softening.next(limits, world->model().settings().coupling, passed);
    HandSample& hand = now_.sample.hands[i];
    const DeviceReading& reading = served.reading;
    if (present && (served.sound || served.check.has_pose()))
      inputs_[i] = {true, reading.action, reading.body, reading.pose, reading.buttons};
    hand.input = inputs_[i];
    hand.stiffness = inputs_[i].present ? share : 1;
    world->set_stiffness(i, hand.stiffness);
  }
  return true;
}

bool TouchLoop::Core::write_forces() noexcept {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Served& served = served_[i];
    HandSample& hand = now_.sample.hands[i];
    const std::size_t in_world = world->hand_of(i);
    now_.wanted[i] = in_world == k_no_hand ? Wrench{} : world->state().hands()[in_world].felt;
    const Motors motors = inputs_[i].present ? served.reading.motors : Motors::off;
    ForceLimiter& limiter = *limiters[i];
    hand.felt = {};
    hand.motors = Motors::off;
    if (limiter.is_disabled()) continue;
    ForceLimiter::Written written{{}, Motors::off};
    touching.gate.enter(i);
    if (motors == Motors::off || motors == Motors::restarted) limiter.release();
    if (motors != Motors::off)
      written =
          served.sound && motors != Motors::fading ? limiter.write(now_.wanted[i]) : limiter.fade_out(now_.wanted[i]);
    if (!touching.gate.leave()) return false;
    hand.felt = written.wrench;
    hand.motors = written.motors;
    // Where the watchdog got stuck nobody else would notice.
    served.busy = watching.gate.device() == static_cast<int>(i) ? served.busy + 1 : 0;
    if (served.busy == k_busy_cycles) disable(i);
  }
  return true;
}

TouchLoop::Core::Outcome TouchLoop::Core::cycle(std::uint64_t missed, double passed) noexcept {
  const RealtimeSection section;
  const std::int64_t begin = monotonic_ns();
  now_.missed += missed;
  // What the watchdog has begun to let go: it may be stuck on the way. And after a standstill of the whole process it
  // may not have been faster.
  const std::uint64_t stalls = stalls_.load(std::memory_order_acquire);
  const bool stood = stalls != now_.stalls || (passed > settings.limits.period && passed >= settings.stall_seconds);
  now_.stalls = stalls;
  if (stood && !release_all(touching.gate)) return Outcome::given_up;
  if (!take_changes() || !read_devices(passed)) return Outcome::given_up;
  world->cycle(std::span(inputs_).first(devices.size()));

  TouchSample& sample = now_.sample;
  now_.state = any_ ? TouchState::touching : TouchState::device_lost;
  now_.cycle += 1;
  sample.time = static_cast<double>(now_.cycle - 1) * settings.limits.period;
  if (!write_forces()) return Outcome::given_up;
  now_.contact = world->scratch().stats();
  sample.in_contact = now_.contact.in_contact;
  sample.deepest = now_.contact.deepest;
  sample.visited = now_.contact.visited;
  const std::span<const PairRecord> pairs = std::as_const(world->state()).pairs();
  for (std::size_t i = 0; i < std::min(pairs.size(), k_recorded_pairs); ++i)
    sample.levels[i] = static_cast<std::uint8_t>(pairs[i].level);
  if (settings.queued_samples > 0) sample.state_hash = world->state().hash();

  const std::int64_t end = monotonic_ns();
  now_.cycle_ns = end - begin;
  sample.cycle_ns = static_cast<std::uint32_t>(std::min<std::int64_t>(now_.cycle_ns, ~0U));
  // While lost devices are awaited the world goes on, so these cycles belong to a recording as well.
  const bool recorded = settings.queued_samples > 0 && (any_ || settings.wait_for_device);
  if (recorded && !samples.push(sample)) ++now_.samples_dropped;
  cycle_times.add(now_.cycle_ns);
  last_cycle_ns_.store(end, std::memory_order_release);
  if (guard && !guard->beat()) {
    // Nobody would silence them after a crash.
    for (std::size_t i = 0; i < devices.size(); ++i)
      if (needs_guard[i] && !limiters[i]->is_disabled()) disable(i);
  }
  publish();
  return any_ ? Outcome::served : Outcome::lost;
}

void TouchLoop::Core::publish() noexcept {
  frames.write_in_place([&](WorldFrame& slot) {
    slot.touch = now_;
    slot.world = world->state();
  });
}

void TouchLoop::Core::touch(const std::stop_token& stop) noexcept {
  {
    const RealtimeStatus status = request_realtime(k_touch_priority);
    const std::scoped_lock lock(granted.mutex);
    granted.status = status;
    granted.touch = true;
  }
  granted.both.notify_all();
  last_cycle_ns_.store(monotonic_ns(), std::memory_order_release);

  const double period = settings.limits.period;
  PeriodicTimer timer(std::chrono::nanoseconds(std::llround(period * 1e9)));
  std::int64_t last = 0;
  Outcome outcome = Outcome::served;
  while (!stop.stop_requested() && (outcome == Outcome::served || settings.wait_for_device)) {
    const std::uint64_t missed = timer.wait();
    const std::int64_t now = monotonic_ns();
    const double passed = last == 0 ? period : std::max(period, static_cast<double>(now - last) * 1e-9);
    last = now;
    outcome = cycle(missed, passed);
    if (outcome == Outcome::given_up) return;
  }
  if (!release_all(touching.gate)) return;
  now_.state = outcome == Outcome::served ? TouchState::stopped : TouchState::device_lost;
  now_.wanted = {};
  for (HandSample& hand : now_.sample.hands) hand.felt = {};
  publish();
  running.store(false, std::memory_order_release);
}

void TouchLoop::Core::watch(const std::stop_token& stop) noexcept {
  {
    const std::string refused = request_priority(k_watchdog_priority);
    const std::scoped_lock lock(granted.mutex);
    granted.status.fifo_watchdog = refused.empty();
    granted.watch = true;
  }
  granted.both.notify_all();
  const auto limit = static_cast<std::int64_t>(settings.stall_seconds * 1e9);
  PeriodicTimer timer(std::chrono::nanoseconds(std::min(limit / 4 + 1, k_longest_look_ns)));
  std::int64_t stalled_at = 0;  // the last cycle seen when the force was taken away: once a stall, not once a look
  while (!stop.stop_requested()) {
    timer.wait();
    const std::int64_t last = last_cycle_ns_.load(std::memory_order_acquire);
    if (!running.load(std::memory_order_acquire) || monotonic_ns() - last < limit || last == stalled_at) continue;
    // In a driver? Twice, because the touch thread may just have come back. That one first, and without waiting: what
    // is wrong with it may be wrong with the others, too.
    const int stuck = touching.gate.device();
    if (stuck >= 0) {
      std::this_thread::sleep_for(k_second_look);
      if (last_cycle_ns_.load(std::memory_order_acquire) != last) continue;
      if (touching.gate.device() == stuck) disable(static_cast<std::size_t>(stuck));
    }
    stalled_at = last;
    stalls_.fetch_add(1, std::memory_order_release);
    if (!release_all(watching.gate, touching.gate.device())) return;
  }
}

}  // namespace cotouch
