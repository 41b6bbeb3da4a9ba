#include <cotouch/touch/loop.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace cotouch {
namespace {

constexpr std::size_t k_waiting_changes = 16;

}  // namespace

bool felt_alike(TouchSample a, const TouchSample& b) noexcept {
  a.time = b.time;
  a.cycle_ns = b.cycle_ns;
  return a == b;
}

TouchLoop::TouchLoop(Device& device, HeldObject& object, const TouchLoopSettings& settings)
    : device_(device),
      object_(object),
      settings_(settings),
      limiter_(device, settings.limits),
      samples_(settings.queued_samples),
      changes_(k_waiting_changes) {
  if (!is_loop_period(settings.limits.period))
    throw Error("A touch loop's period is from 10 microseconds to a second.");
}

bool is_loop_period(double seconds) noexcept {
  return seconds >= 1e-5 && seconds <= 1;
}

TouchLoop::~TouchLoop() {
  stop();
}

std::uint64_t TouchLoop::change(const TouchChange& change) noexcept {
  if (granted_.locked_memory) lock_memory();  // the new engine's too, before the touch thread meets it
  return changes_.push(change) ? ++changes_asked_ : 0;
}

void TouchLoop::take_changes() noexcept {
  for (TouchChange change; changes_.pop(change);) {
    change.limits.period = settings_.limits.period;
    object_.change(*change.engine, change.object);
    limiter_.change(change.limits);
    now_.mark = {now_.mark.change + 1, now_.cycle, object_.pose(), limiter_.state()};
  }
}

bool TouchLoop::cycle(std::uint64_t missed) noexcept {
  const RealtimeSection section;
  const std::int64_t begin = monotonic_ns();
  now_.missed += missed;
  take_changes();

  DeviceReading reading;
  const bool present = device_.read(reading);
  now_.state = present ? TouchState::touching : TouchState::device_lost;
  now_.cycle += 1;
  TouchSample& sample = now_.sample;
  sample.time = static_cast<double>(now_.cycle - 1) * settings_.limits.period;
  if (present) {
    now_.wanted = object_.step(reading.pose);
    sample.hand = object_.hand();
    sample.buttons = reading.buttons;
    if (reading.motors != Motors::on) limiter_.release();
    const ForceLimiter::Written written =
        reading.motors == Motors::off ? ForceLimiter::Written{{}, Motors::off} : limiter_.write(now_.wanted);
    sample.felt = written.wrench;
    sample.motors = written.motors;
  } else {
    now_.wanted = {};
    sample.felt = {};
    sample.motors = Motors::off;
    limiter_.release();
  }
  now_.contact = object_.contact().stats;
  now_.faults = object_.faults();
  now_.stalls = stalls_.load(std::memory_order_relaxed);
  sample.object = object_.pose();
  sample.in_contact = now_.contact.in_contact;
  sample.level = now_.contact.level;
  sample.deepest = now_.contact.deepest;
  sample.visited = now_.contact.visited;

  const std::int64_t end = monotonic_ns();
  now_.cycle_ns = end - begin;
  sample.cycle_ns = static_cast<std::uint32_t>(std::min<std::int64_t>(now_.cycle_ns, ~0U));
  if (present && settings_.queued_samples > 0 && !samples_.push(sample)) ++now_.samples_dropped;
  cycle_times_.add(now_.cycle_ns);
  last_cycle_ns_.store(end, std::memory_order_release);
  frames_.write(now_);
  return present;
}

std::uint64_t TouchLoop::run_cycles(std::uint64_t count) noexcept {
  for (std::uint64_t done = 0; done < count; ++done)
    if (!cycle(0)) return done;
  return count;
}

RealtimeStatus TouchLoop::start() {
  stop();
  has_started_ = false;
  last_cycle_ns_.store(monotonic_ns(), std::memory_order_release);
  running_.store(true, std::memory_order_release);
  touch_thread_ = std::jthread([this](const std::stop_token& stop) { touch(stop); });
  {
    std::unique_lock lock(start_mutex_);
    started_.wait(lock, [this] { return has_started_; });
  }
  // Only now: locking memory may take longer than a stall, and no force is on before the first cycle.
  watch_thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  return granted_;
}

void TouchLoop::stop() {
  // The watchdog goes last: it guards the touch thread until that has ended.
  for (std::jthread* thread : {&touch_thread_, &watch_thread_}) {
    thread->request_stop();
    if (thread->joinable()) thread->join();
  }
  limiter_.release();
}

void TouchLoop::touch(const std::stop_token& stop) {
  {
    const RealtimeStatus granted = request_realtime();
    const std::scoped_lock lock(start_mutex_);
    granted_ = granted;
    has_started_ = true;
  }
  started_.notify_one();
  last_cycle_ns_.store(monotonic_ns(), std::memory_order_release);

  PeriodicTimer timer(std::chrono::nanoseconds(std::llround(settings_.limits.period * 1e9)));
  bool present = true;
  while (!stop.stop_requested() && (present || settings_.wait_for_device)) present = cycle(timer.wait());

  limiter_.release();
  now_.state = present ? TouchState::stopped : TouchState::device_lost;
  now_.wanted = now_.sample.felt = {};
  frames_.write(now_);
  running_.store(false, std::memory_order_release);
}

void TouchLoop::watch(const std::stop_token& stop) {
  const auto limit = static_cast<std::int64_t>(settings_.stall_seconds * 1e9);
  const std::chrono::nanoseconds pause(limit / 4 + 1);
  std::int64_t released_at = 0;  // the last cycle seen when the force was taken away: once a stall, not once a look
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(pause);
    const std::int64_t last = last_cycle_ns_.load(std::memory_order_acquire);
    if (!running() || monotonic_ns() - last < limit || last == released_at) continue;
    if (!limiter_.release()) continue;
    released_at = last;
    stalls_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace cotouch
