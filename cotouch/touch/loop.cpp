#include <cotouch/touch/loop.h>

#include <cotouch/base/error.h>
#include <cotouch/touch/loop_core.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace cotouch {
namespace {

constexpr auto k_patience = std::chrono::milliseconds(500);  // with a driver that does not come back

void check_fits(const std::vector<Device*>& devices, const TouchWorld& world, const TouchLoopSettings& settings) {
  if (!is_loop_period(settings.limits.period))
    throw Error("A touch loop's period is from 10 microseconds to a second.");
  if (world.model().settings().tick != settings.limits.period)
    throw Error("A touch loop steps its world once a period, so the world's tick must be as long.");
  if (devices.size() > std::min<std::size_t>(k_loop_hands, world.model().settings().hands))
    throw Error("There are more devices than the world has room for hands.");
}

// What is to be done if this process dies.
std::vector<SilenceCall> silence_calls(const std::vector<Device*>& devices, std::span<bool> needs_guard) {
  std::vector<SilenceCall> calls;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    auto call = devices[i]->silence_call();
    needs_guard[i] = call.has_value();
    if (call) calls.push_back(std::move(*call));
  }
  return calls;
}

}  // namespace

TouchLoop::TouchLoop(std::vector<Device*> devices, TouchWorld& world, const TouchLoopSettings& settings) {
  check_fits(devices, world, settings);
  core_ = std::make_shared<Core>(std::move(devices), world, settings);
}

void TouchLoop::replace(std::size_t device, Device& other) {
  if (!core_->limiters.empty() || device >= hands())
    throw Error("A touch loop's devices are replaced before its first cycle.", ErrorCode::invalid_argument);
  core_->devices[device] = &other;
}

bool is_loop_period(double seconds) noexcept {
  return seconds >= 1e-5 && seconds <= 1;
}

TouchLoop::~TouchLoop() {
  stop();
}

bool TouchLoop::running() const noexcept {
  return core_->running.load(std::memory_order_acquire);
}
const BodyPlaces& TouchLoop::bodies() const noexcept {
  return *core_;
}
const TouchFrame& TouchLoop::frame() noexcept {
  return core_->frames.read().touch;
}
const WorldFrame& TouchLoop::world_frame() noexcept {
  return core_->frames.read();
}
const WorldMark& TouchLoop::mark() noexcept {
  return core_->marks.read();
}
bool TouchLoop::next_sample(TouchSample& sample) noexcept {
  return core_->samples.pop(sample);
}
const CycleHistogram& TouchLoop::cycle_times() const noexcept {
  return core_->cycle_times;
}
std::size_t TouchLoop::hands() const noexcept {
  return core_->devices.size();
}
DeviceState TouchLoop::device_state(std::size_t device) const noexcept {
  return device < hands() ? core_->states[device].load(std::memory_order_acquire) : DeviceState::lost;
}

bool TouchLoop::disable(std::size_t device) noexcept {
  if (core_->given_up || device >= core_->limiters.size()) return false;
  core_->disable(device);
  return true;
}

bool TouchLoop::hangs(std::size_t device) const noexcept {
  return core_->given_up && device < core_->limiters.size() && core_->limiters[device] != nullptr;
}

bool TouchLoop::enable(std::size_t device) noexcept {
  if (core_->given_up || device >= core_->limiters.size()) return false;
  if (!core_->limiters[device]->is_disabled()) return true;
  // Of a disabled device no driver is entered any more, so one that is still there hangs.
  const bool hangs = core_->touching.gate.visit().device == static_cast<int>(device);
  return !hangs && core_->limiters[device]->enable();
}

std::uint64_t TouchLoop::change(const TouchChange& change) {
  if (change.world != nullptr) {
    if (change.world->state().bytes().size() != core_->state_bytes)
      throw Error("A touch loop's world gives way only to one with as many bodies, hands and pairs.",
                  ErrorCode::invalid_argument);
    if (change.world->model().settings().tick != core_->settings.limits.period)
      throw Error("A touch loop steps its world once a period, so the world's tick must be as long.",
                  ErrorCode::invalid_argument);
  }
  // The new world's, too, before the touch thread meets it.
  const RealtimeStatus& granted = core_->granted.status;
  if (granted.locked_memory && !granted.locked_later) lock_memory();
  return core_->changes.push(change) ? ++core_->changes_asked : 0;
}

std::uint64_t TouchLoop::run_cycles(std::uint64_t count, double late) {
  if (core_->given_up) return 0;
  core_->engage();
  core_->engaged = true;
  for (std::uint64_t done = 0; done < count; ++done)
    if (core_->cycle(0, late, Core::Clock::none) != Core::Outcome::served) return done;
  return count;
}

RealtimeStatus TouchLoop::start() {
  stop();
  if (core_->given_up)
    throw Error("A device's driver hangs; switch the device off and on and start the program again.", ErrorCode::busy);
  Core& core = *core_;
  core.engage();
  const std::vector<SilenceCall> calls = silence_calls(core.devices, core.needs_guard);
  if (!calls.empty() && core.settings.guard.empty())
    throw Error("A device would keep pushing if this program died. Say where cotouch-guard is, which then stops it.",
                ErrorCode::refused);
  if (!calls.empty()) core.guard = std::make_unique<CrashGuard>(core.settings.guard, calls);
  core.granted.threads = 0;
  core.running.store(true, std::memory_order_release);
  const auto run = [this](Core::Thread& thread, auto body) {
    thread.ended.store(false, std::memory_order_release);
    try {
      return std::jthread([core = core_, &thread, body](const std::stop_token& stop) {
        body(*core, stop);
        thread.ended.store(true, std::memory_order_release);
      });
    } catch (...) {  // the system gave none
      thread.ended.store(true, std::memory_order_release);
      throw;
    }
  };
  const auto wait_for = [&core](std::size_t threads) {
    std::unique_lock lock(core.granted.mutex);
    core.granted.more.wait(lock, [&] { return core.granted.threads == threads; });
  };
  const std::size_t devices = core.devices.size();
  try {
    touch_thread_ = run(core.touching, [](Core& its, const std::stop_token& stop) { its.touch(stop); });
    wait_for(1);
    // Only now: locking memory may take longer than a stall, and no force is on before the first cycle.
    for (std::size_t i = 0; i < devices; ++i)
      letting_go_.push_back(
          run(core.letting_go[i], [i](Core& its, const std::stop_token& stop) { its.let_go(i, stop); }));
    wait_for(1 + devices);
    watch_thread_ = run(core.watching, [](Core& its, const std::stop_token& stop) { its.watch(stop); });
    wait_for(core.threads());
  } catch (...) {
    stop();  // a hand is not touched without all of them
    core.guard.reset();
    core.running.store(false, std::memory_order_release);
    throw;
  }
  const std::scoped_lock lock(core.granted.mutex);
  RealtimeStatus status = core.granted.status;
  if (status.fifo_priority && !status.fifo_watchdog)
    status.notes += "The watchdog got no higher priority than the loop that it watches. Raise the rtprio limit. ";
  return status;
}

bool TouchLoop::stop() {
  Core& core = *core_;
  if (core.given_up) return false;
  if (std::exchange(core.engaged, false)) core.release_all();
  if (!touch_thread_.joinable()) return true;
  std::vector<int> stuck;
  using Clock = std::chrono::steady_clock;
  const auto end_thread = [&stuck](std::jthread& thread, Core::Thread& shared, Clock::time_point end) {
    if (!thread.joinable()) return;
    thread.request_stop();
    int device = DriverGate::k_outside;
    while (!shared.ended.load(std::memory_order_acquire) && device == DriverGate::k_outside) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (Clock::now() > end) device = shared.gate.give_up();
    }
    if (device == DriverGate::k_outside) return thread.join();
    thread.detach();
    stuck.push_back(device);
  };
  end_thread(touch_thread_, core.touching, Clock::now() + k_patience);
  const auto end = Clock::now() + k_patience;
  for (std::size_t i = 0; i < letting_go_.size(); ++i) end_thread(letting_go_[i], core.letting_go[i], end);
  letting_go_.clear();
  // Last: it disables a device in whose driver one of the others hangs long before they are given up here.
  end_thread(watch_thread_, core.watching, Clock::time_point::max());  // it is in no driver
  if (!stuck.empty()) {
    core.given_up = true;
    for (std::size_t i = 0; i < core.limiters.size(); ++i) {
      core.limiters[i]->disable();
      core.states[i].store(DeviceState::disabled, std::memory_order_release);
    }
    // Only those who hang go on using their limiters; the other devices are free again.
    for (const int device : stuck) core.limiters[static_cast<std::size_t>(device)]->abandon();
    for (std::size_t i = 0; i < core.limiters.size(); ++i)
      if (std::find(stuck.begin(), stuck.end(), static_cast<int>(i)) == stuck.end()) core.limiters[i].reset();
    core.running.store(false, std::memory_order_release);
  }
  core.guard.reset();
  return stuck.empty();
}

}  // namespace cotouch
