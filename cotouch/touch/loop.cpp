#include <cotouch/touch/loop.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

constexpr std::size_t k_waiting_changes = 16;

}  // namespace

TouchLoop::TouchLoop(std::vector<Device*> devices, TouchWorld& world, const TouchLoopSettings& settings)
    : devices_(std::move(devices)),
      world_(&world),
      state_bytes_(world.state().bytes().size()),
      settings_(settings),
      frames_({{}, world.state()}),
      marks_({{}, world.state()}),
      samples_(settings.queued_samples),
      changes_(k_waiting_changes) {
  if (!is_loop_period(settings.limits.period))
    throw Error("A touch loop's period is from 10 microseconds to a second.");
  if (world.model().settings().tick != settings.limits.period)
    throw Error("A touch loop steps its world once a period, so the world's tick must be as long.");
  if (devices_.size() > std::min<std::size_t>(k_loop_hands, world.model().settings().hands))
    throw Error("There are more devices than the world has room for hands.");
  for (Device* device : devices_) limiters_.push_back(std::make_unique<ForceLimiter>(*device, settings.limits));
}

bool is_loop_period(double seconds) noexcept {
  return seconds >= 1e-5 && seconds <= 1;
}

TouchLoop::~TouchLoop() {
  stop();
}

std::uint64_t TouchLoop::change(const TouchChange& change) {
  if (change.world != nullptr) {
    if (change.world->state().bytes().size() != state_bytes_)
      throw Error("A touch loop's world gives way only to one with as many bodies, hands and pairs.",
                  ErrorCode::invalid_argument);
    if (change.world->model().settings().tick != settings_.limits.period)
      throw Error("A touch loop steps its world once a period, so the world's tick must be as long.",
                  ErrorCode::invalid_argument);
  }
  if (granted_.locked_memory) lock_memory();  // the new world's too, before the touch thread meets it
  return changes_.push(change) ? ++changes_asked_ : 0;
}

void TouchLoop::take_changes() noexcept {
  for (TouchChange change; changes_.pop(change);) {
    change.limits.period = settings_.limits.period;
    if (change.world != nullptr && change.world != world_) {
      if (!change.world->state().restore(world_->state().bytes())) {
        // What the old world has come to is no state of a world: the new one begins at its start, and what it makes
        // the hands feel fades in.
        now_.restarts += 1;
        release_all();
      }
      world_ = change.world;
    }
    for (const auto& limiter : limiters_) limiter->change(change.limits);
    now_.change += 1;
    marks_.write_in_place([&](WorldMark& slot) {
      slot.mark.change = now_.change;
      slot.mark.cycle = now_.cycle;
      for (std::size_t i = 0; i < limiters_.size(); ++i) slot.mark.limiters[i] = limiters_[i]->state();
      slot.world = world_->state();
    });
  }
}

bool TouchLoop::cycle(std::uint64_t missed) noexcept {
  const RealtimeSection section;
  const std::int64_t begin = monotonic_ns();
  now_.missed += missed;
  take_changes();

  TouchSample& sample = now_.sample;
  std::array<DeviceReading, k_loop_hands> readings;
  bool any = false;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const bool present = devices_[i]->read(readings[i]);
    any = any || present;
    inputs_[i] = {};
    if (present) inputs_[i] = {true, readings[i].action, readings[i].body, readings[i].pose, readings[i].buttons};
    sample.hands[i].input = inputs_[i];
  }
  world_->cycle(std::span(inputs_).first(devices_.size()));

  now_.state = any ? TouchState::touching : TouchState::device_lost;
  now_.cycle += 1;
  sample.time = static_cast<double>(now_.cycle - 1) * settings_.limits.period;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    HandSample& hand = sample.hands[i];
    const std::size_t in_world = world_->hand_of(i);
    now_.wanted[i] = in_world == k_no_hand ? Wrench{} : world_->state().hands()[in_world].felt;
    const bool off = !inputs_[i].present || readings[i].motors == Motors::off;
    if (!inputs_[i].present || readings[i].motors != Motors::on) limiters_[i]->release();
    const ForceLimiter::Written written =
        off ? ForceLimiter::Written{{}, Motors::off} : limiters_[i]->write(now_.wanted[i]);
    hand.felt = written.wrench;
    hand.motors = written.motors;
  }
  now_.contact = world_->scratch().stats();
  now_.stalls = stalls_.load(std::memory_order_relaxed);
  sample.in_contact = now_.contact.in_contact;
  sample.deepest = now_.contact.deepest;
  sample.visited = now_.contact.visited;
  const std::span<const PairRecord> pairs = std::as_const(world_->state()).pairs();
  for (std::size_t i = 0; i < std::min(pairs.size(), k_recorded_pairs); ++i)
    sample.levels[i] = static_cast<std::uint8_t>(pairs[i].level);
  if (settings_.queued_samples > 0) sample.state_hash = world_->state().hash();

  const std::int64_t end = monotonic_ns();
  now_.cycle_ns = end - begin;
  sample.cycle_ns = static_cast<std::uint32_t>(std::min<std::int64_t>(now_.cycle_ns, ~0U));
  // While lost devices are awaited the world goes on, so these cycles belong to a recording as well.
  const bool recorded = settings_.queued_samples > 0 && (any || settings_.wait_for_device);
  if (recorded && !samples_.push(sample)) ++now_.samples_dropped;
  cycle_times_.add(now_.cycle_ns);
  last_cycle_ns_.store(end, std::memory_order_release);
  frames_.write_in_place([&](WorldFrame& slot) {
    slot.touch = now_;
    slot.world = world_->state();
  });
  return any;
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

bool TouchLoop::release_all() noexcept {
  bool all = true;
  for (const auto& limiter : limiters_) all = limiter->release() && all;
  return all;
}

void TouchLoop::stop() {
  // The watchdog goes last: it guards the touch thread until that has ended.
  for (std::jthread* thread : {&touch_thread_, &watch_thread_}) {
    thread->request_stop();
    if (thread->joinable()) thread->join();
  }
  release_all();
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

  release_all();
  now_.state = present ? TouchState::stopped : TouchState::device_lost;
  now_.wanted = {};
  for (HandSample& hand : now_.sample.hands) hand.felt = {};
  frames_.write_in_place([&](WorldFrame& slot) {
    slot.touch = now_;
    slot.world = world_->state();
  });
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
    if (!release_all()) continue;
    released_at = last;
    stalls_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace cotouch
