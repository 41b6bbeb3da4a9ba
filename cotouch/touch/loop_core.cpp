#include <cotouch/touch/loop_core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_waiting_changes = 16;

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

bool TouchLoop::Core::release_all() noexcept {
  for (std::size_t i = 0; i < limiters.size(); ++i) {
    touching.gate.enter(i);
    limiters[i]->release();
    if (!touching.gate.leave()) return false;
  }
  return true;
}

void TouchLoop::Core::disable(std::size_t device) noexcept {
  limiters[device]->disable();
  states[device].store(DeviceState::disabled, std::memory_order_release);
}

// False, here and below: given up.
bool TouchLoop::Core::take_changes(double passed) noexcept {
  for (TouchChange change; changes.pop(change);) {
    change.limits.period = settings.limits.period;
    if (change.world != nullptr && change.world != world) {
      if (!change.world->state().restore(world->state().bytes())) {
        // What the old world has come to is no state of a world: the new one begins at its start, and what it makes
        // the hands feel fades in.
        now_.restarts += 1;
        if (!release_all()) return false;
      }
      world = change.world;
    }
    for (const auto& limiter : limiters) {
      limiter->let_pass(passed);  // a recording that begins at the mark does not know what is on by now
      limiter->change(change.limits);
    }
    now_.change += 1;
    write_mark();
  }
  return true;
}

// At the most as long ago as the device was read before. Not by when cycles begin: a driver before it, or its own, may
// take long, and the hand goes on meanwhile.
double TouchLoop::Core::time_since_reading(Served& served, Clock clock) noexcept {
  if (clock == Clock::none) return 0;
  const std::int64_t now = monotonic_ns(), before = std::exchange(served.last_read_ns, now);
  return before == 0 ? 0 : static_cast<double>(now - before) * 1e-9;
}

bool TouchLoop::Core::read_devices(double passed, Clock clock) noexcept {
  // After a late cycle the next one may begin too early: its reading may be as old as any, its force is held as long.
  const double held = std::max(passed, settings.limits.period);
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
    const bool powerless = disabled || limiters[i]->is_disabled();  // perhaps only since it was inside
    const DeviceLimits& limits = limiters[i]->device_limits();
    const bool was_sound = served.sound;
    if (!present) served.check.forget();
    const double unseen = std::max(held, time_since_reading(served, clock));
    served.sound = !present || served.check.take(served.reading, limits, unseen);
    now_.faults += was_sound && !served.sound ? 1 : 0;
    const DeviceState state = powerless                ? DeviceState::disabled
                              : now_.broken != nullptr ? DeviceState::halted
                              : !present               ? DeviceState::lost
                              : !served.sound          ? DeviceState::faulty
                              : is_unguarded(i)        ? DeviceState::unguarded
                                                       : DeviceState::ready;
    now_.devices[i] = state;
    states[i].store(state, std::memory_order_release);
    const double share = served.softening.next(limits, world->model().settings().coupling, held, passed);
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

double TouchLoop::Core::late_forces(double late, Clock clock, bool let_go) noexcept {
  if (clock == Clock::none) return late;
  const std::int64_t now = monotonic_ns(), before = std::exchange(last_write_ns_, now);
  double held = before == 0 ? settings.limits.period : static_cast<double>(now - before) * 1e-9;
  // The watchdog has seen to it that they were not held for as long as the touch thread stood.
  if (let_go) held = std::min(held, settings.stall_seconds + static_cast<double>(Watchdog::k_slow_reaction_ns) * 1e-9);
  return held - settings.limits.period;
}

bool TouchLoop::Core::write_forces(double passed) noexcept {
  for (const auto& limiter : limiters) limiter->let_pass(passed);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Served& served = served_[i];
    HandSample& hand = now_.sample.hands[i];
    const std::size_t in_world = world->hand_of(i);
    const std::span<const HandRecord> hands = std::as_const(world->state()).hands();
    const bool feels =
        now_.broken == nullptr && in_world != k_no_hand && invariant(in_world < hands.size(), k_layout_invariant);
    now_.wanted[i] = feels ? hands[in_world].felt : Wrench{};
    const Motors motors = inputs_[i].present ? served.reading.motors : Motors::off;
    ForceLimiter& limiter = *limiters[i];
    hand.felt = {};
    hand.motors = Motors::off;
    if (limiter.is_disabled()) continue;
    ForceLimiter::Written written{{}, Motors::off};
    touching.gate.enter(i);
    const bool stalled = stalls_.load() != now_.stalls;  // not before it has entered: see DriverGate::enter
    const bool off = stalled || motors == Motors::off || now_.broken != nullptr;
    const bool trusted = served.sound && motors != Motors::fading && !is_unguarded(i);
    if (off || motors == Motors::restarted) limiter.release();
    if (!off) written = trusted ? limiter.write(now_.wanted[i]) : limiter.fade_out(now_.wanted[i]);
    if (!touching.gate.leave()) return false;
    hand.felt = written.wrench;
    hand.motors = written.motors;
  }
  return true;
}

TouchLoop::Core::Outcome TouchLoop::Core::cycle(std::uint64_t missed, double late, Clock clock) noexcept {
  const RealtimeSection section;
  const InvariantWatch watch;
  const std::int64_t begin = monotonic_ns();
  const double passed = std::max(0.0, settings.limits.period + late);
  now_.missed += missed;
  // What the watchdog has begun to let go: others may be stuck on the way. And after a standstill of the whole process
  // it may not have been faster.
  const std::uint64_t stalls = stalls_.load();
  const bool let_go = stalls != now_.stalls;
  const bool stood = let_go || (late > 0 && passed >= settings.stall_seconds);
  now_.stalls = stalls;
  if (stood) {
    if (!release_all()) return Outcome::given_up;
    progress_ns_.store(monotonic_ns());
    answered_.store(stalls);
  }
  const bool was_broken = now_.broken != nullptr;
  if (!was_broken && !take_changes(passed)) return Outcome::given_up;
  if (!read_devices(passed, clock)) return Outcome::given_up;
  if (!was_broken) world->cycle(std::span(inputs_).first(devices.size()));
  // A state of another size has no room in the frames.
  (void)invariant(std::as_const(*world).state().bytes().size() == state_bytes, k_layout_invariant);
  heed(watch);

  TouchSample& sample = now_.sample;
  now_.cycle += 1;
  sample.time = static_cast<double>(now_.cycle - 1) * settings.limits.period;
  // Between two writes, not between two beginnings: a step of the world may take long.
  sample.late = late_forces(late, clock, let_go || stalls_.load() != now_.stalls);
  if (!write_forces(std::max(0.0, settings.limits.period + sample.late))) return Outcome::given_up;
  heed(watch);  // what the limiters found
  const bool broken = now_.broken != nullptr;
  if (broken && !was_broken && !release_all()) return Outcome::given_up;
  now_.state = broken ? TouchState::broken : any_ ? TouchState::touching : TouchState::device_lost;
  now_.contact = world->scratch().stats();
  sample.in_contact = now_.contact.in_contact;
  sample.deepest = now_.contact.deepest;
  sample.visited = now_.contact.visited;
  const std::span<const PairRecord> pairs = std::as_const(world->state()).pairs();
  for (std::size_t i = 0; i < std::min(pairs.size(), k_recorded_pairs); ++i)
    sample.levels[i] = static_cast<std::uint8_t>(pairs[i].level);
  sample.missing = world->scratch().missing();
  if (settings.queued_samples > 0) sample.state_hash = world->state().hash();

  const std::int64_t end = monotonic_ns();
  now_.cycle_ns = end - begin;
  sample.cycle_ns = static_cast<std::uint32_t>(std::min<std::int64_t>(now_.cycle_ns, ~0U));
  // While lost devices are awaited the world goes on, so these cycles belong to a recording as well.
  const bool recorded = settings.queued_samples > 0 && !broken && (any_ || settings.wait_for_device);
  if (recorded && !samples.push(sample)) ++now_.samples_dropped;
  cycle_times.add(now_.cycle_ns);
  progress_ns_.store(end);
  if (guard) heed_guard();
  publish();
  return any_ && !broken ? Outcome::served : Outcome::lost;
}

void TouchLoop::Core::heed(const InvariantWatch& watch) noexcept {
  if (now_.broken != nullptr || watch.broken() == nullptr) return;
  now_.broken = watch.broken();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (now_.devices[i] == DeviceState::disabled) continue;
    now_.devices[i] = DeviceState::halted;
    states[i].store(DeviceState::halted, std::memory_order_release);
  }
}

void TouchLoop::Core::heed_guard() noexcept {
  const CrashGuard::State state = guard->beat();
  guard_is_silent_ = state != CrashGuard::State::answers;
  if (state != CrashGuard::State::gone) return;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (needs_guard[i] && !limiters[i]->is_disabled()) disable(i);
}

void TouchLoop::Core::publish() noexcept {
  frames.write_in_place([&](WorldFrame& slot) {
    slot.touch = now_;
    slot.world = now_.broken == nullptr ? world->state() : frames.newest().world;  // the slot's own is older
  });
}

template <class Tell>
void TouchLoop::Core::is_ready(Tell tell) {
  {
    const std::scoped_lock lock(granted.mutex);
    tell(granted.status);
    ++granted.threads;
  }
  granted.more.notify_all();
}

void TouchLoop::Core::touch(const std::stop_token& stop) noexcept {
  const RealtimeStatus realtime = request_realtime(k_touch_priority);
  guard_is_silent_ = false;
  last_write_ns_ = 0;
  for (Served& served : served_) served.last_read_ns = 0;
  is_ready([&](RealtimeStatus& status) { status = realtime; });
  {
    // A hand is not touched without those that take the force away.
    std::unique_lock lock(granted.mutex);
    granted.more.wait(lock, stop, [this] { return granted.threads == threads(); });
  }

  const double period = settings.limits.period;
  PeriodicTimer timer(std::chrono::nanoseconds(std::llround(period * 1e9)));
  std::int64_t last = 0;
  Outcome outcome = Outcome::served;
  while (!stop.stop_requested() && (outcome == Outcome::served || settings.wait_for_device)) {
    const std::uint64_t missed = timer.wait();
    const std::int64_t now = monotonic_ns();
    const double late = last == 0 ? 0 : static_cast<double>(now - last) * 1e-9 - period;
    last = now;
    outcome = cycle(missed, late, Clock::monotonic);
    if (outcome == Outcome::given_up) return;
  }
  if (!release_all()) return;
  if (now_.broken == nullptr) now_.state = outcome == Outcome::served ? TouchState::stopped : TouchState::device_lost;
  now_.wanted = {};
  for (HandSample& hand : now_.sample.hands) hand.felt = {};
  publish();
  running.store(false, std::memory_order_release);
}

void TouchLoop::Core::let_go(std::size_t device, const std::stop_token& stop) noexcept {
  request_priority(k_letting_go_priority);
  is_ready([](RealtimeStatus&) {});
  LettingGo& own = letting_go[device];
  for (;;) {
    {
      std::unique_lock lock(own.mutex);
      if (!own.wake.wait(lock, stop, [&own] { return own.asked; })) return;
      own.asked = false;
    }
    const std::uint32_t number = own.progress.asked();
    own.gate.enter(device);
    const bool is_zero = limiters[device]->release();
    if (!own.gate.leave()) return;
    own.progress.finish(number, is_zero);
  }
}

Watchdog::Seen TouchLoop::Core::seen() const noexcept {
  Watchdog::Seen seen;
  // In this order: progress that is new counts as such, and what was asked for is not taken for done.
  seen.running = running.load();
  seen.answered = answered_.load() == stalls_.load();
  seen.progress_ns = progress_ns_.load();
  seen.touch = touching.gate.visit();
  for (std::size_t i = 0; i < devices.size(); ++i)
    seen.devices[i] = {limiters[i]->is_disabled(), letting_go[i].progress.get(), letting_go[i].gate.visit()};
  seen.now_ns = monotonic_ns();
  return seen;
}

void TouchLoop::Core::announce_stall() noexcept {
  for (LettingGo& thread : letting_go) thread.progress.forget();
  stalls_.fetch_add(1);
}

void TouchLoop::Core::ask_to_let_go(std::size_t device) {
  LettingGo& thread = letting_go[device];
  thread.progress.ask();
  {
    const std::scoped_lock lock(thread.mutex);
    thread.asked = true;
  }
  thread.wake.notify_one();
}

void TouchLoop::Core::watch(const std::stop_token& stop) noexcept {
  const bool has_priority = request_priority(k_watchdog_priority).empty();
  progress_ns_.store(monotonic_ns());  // the touch thread begins as soon as this one is ready
  is_ready([&](RealtimeStatus& status) { status.fifo_watchdog = has_priority; });
  Watchdog watchdog(settings.stall_seconds, devices.size());
  while (!stop.stop_requested()) {
    const Watchdog::Orders orders = watchdog.look(seen());
    if (orders.announce) announce_stall();
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (orders.devices[i] == Watchdog::Order::disable) disable(i);
      if (orders.devices[i] == Watchdog::Order::let_go) ask_to_let_go(i);
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<std::int64_t>(0, orders.look_ns - monotonic_ns())));
  }
}

}  // namespace cotouch
