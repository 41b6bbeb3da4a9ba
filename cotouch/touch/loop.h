// The 1 kHz loop: read the device, move the held object, write what the limits leave of the force.
//
// The touch thread waits on the monotonic clock at absolute times, asks for SCHED_FIFO and locked memory (and says what
// it got), and meets other threads only through channels that never wait. A second thread watches it: when no cycle
// has finished for `stall_seconds`, it takes the force away through the limiter. The force is also zero when the device
// is lost, when the loop stops and before it starts, and after each of these it fades in again.
//
// The same cycle can be run without the clock (run_cycles), which is what experiments, replays and tests do.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/base/realtime.h>
#include <cotouch/touch/device.h>
#include <cotouch/touch/held_object.h>
#include <cotouch/touch/histogram.h>
#include <cotouch/touch/limits.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cotouch {

// One cycle as it is recorded: what the hand did and felt.
struct TouchSample {
  double time = 0;  // seconds since the first cycle, a whole number of periods
  Pose hand;        // what the device last said that was a pose
  Pose object;      // after the cycle's step
  Wrench felt;      // on the hand about its position, as written to the device
  std::uint32_t in_contact = 0;
  std::uint32_t level = 0;
  float deepest = 0;  // metres
  std::uint32_t buttons = 0;
  std::uint32_t visited = 0;   // tree nodes
  std::uint32_t cycle_ns = 0;  // time the cycle took
  Motors motors = Motors::on;  // as `felt` met them

  friend bool operator==(const TouchSample&, const TouchSample&) = default;
};

// Bit for bit, but for when the cycles were and how long they took: a device lost and found leaves a gap in time.
bool felt_alike(TouchSample a, const TouchSample& b) noexcept;

// What the loop feels with. A running loop takes a new one over whole, between two cycles, and the force goes on.
struct TouchChange {
  ContactEngine* engine = nullptr;  // must outlive the loop or the taking of the next change, whichever comes first
  HeldObjectSettings object;
  LimitSettings limits;  // but for the period, which stays
};

// Where the loop stood when it took over its newest change: with a fresh engine, all that later forces depend on.
struct TouchMark {
  std::uint64_t change = 0;  // its number, counted from 1; 0 where there was none
  std::uint64_t cycle = 0;   // cycles done before
  Pose object;
  LimiterState limiter;
};

enum class TouchState : std::uint8_t { idle, touching, device_lost, stopped };

// The loop as others see it: the newest sample and how the loop is doing.
struct TouchFrame {
  TouchSample sample;
  TouchState state = TouchState::idle;
  Wrench wanted;  // before the limits
  ContactStats contact;
  HeldObjectFaults faults;
  TouchMark mark;
  std::uint64_t cycle = 0;            // cycles done
  std::uint64_t missed = 0;           // periods that passed without a cycle
  std::uint64_t stalls = 0;           // times the watchdog took the force away
  std::uint64_t samples_dropped = 0;  // not recorded because the queue was full
  std::int64_t cycle_ns = 0;          // time the last cycle took
};

struct TouchLoopSettings {
  LimitSettings limits;
  bool wait_for_device = false;  // a lost device may come back; otherwise losing it ends the loop
  double stall_seconds = 0.02;
  std::size_t queued_samples = 4096;  // about four seconds until a reader must have come by; 0 records nothing
};

// Within what loops are made for: 10 us to 1 s.
bool is_loop_period(double seconds) noexcept;

class TouchLoop {
 public:
  // Throws Error where the period is none. Device and object must outlive the loop, and nobody else may step the object
  // while it runs.
  TouchLoop(Device& device, HeldObject& object, const TouchLoopSettings& settings);
  ~TouchLoop();
  TouchLoop(const TouchLoop&) = delete;
  TouchLoop& operator=(const TouchLoop&) = delete;

  // Starts the thread and returns once it runs, with what the operating system granted.
  RealtimeStatus start();
  // Ends the thread and leaves the device at zero force. Does nothing when it does not run.
  void stop();
  // False before start and after the loop ended by itself or by stop().
  bool running() const noexcept { return running_.load(std::memory_order_acquire); }

  // Up to `count` cycles in this thread without waiting for the clock. Returns how many were done before the device
  // was lost. The force stays on between calls; stop() takes it away.
  std::uint64_t run_cycles(std::uint64_t count) noexcept;

  // For the thread that starts and stops: from the next cycle on feel like this. Returns the change's number, which the
  // frames' mark shows once it is taken, or 0 where too many are waiting because the loop stands still.
  std::uint64_t change(const TouchChange& change) noexcept;
  // Before run_cycles: goes on from a recorded state. A loop that is started fades in all the same.
  void resume(const LimiterState& state) noexcept { limiter_.resume(state); }

  // For one reading thread each.
  const TouchFrame& frame() noexcept { return frames_.read(); }
  bool next_sample(TouchSample& sample) noexcept { return samples_.pop(sample); }
  // For any thread.
  const CycleHistogram& cycle_times() const noexcept { return cycle_times_; }

 private:
  bool cycle(std::uint64_t missed) noexcept;
  void take_changes() noexcept;
  void touch(const std::stop_token& stop);
  void watch(const std::stop_token& stop);

  Device& device_;
  HeldObject& object_;
  TouchLoopSettings settings_;
  ForceLimiter limiter_;
  TouchFrame now_;  // the touch thread's
  LatestValue<TouchFrame> frames_;
  BoundedQueue<TouchSample> samples_;
  BoundedQueue<TouchChange> changes_;
  std::uint64_t changes_asked_ = 0;  // the asking thread's
  CycleHistogram cycle_times_;
  std::atomic<bool> running_{false};
  std::atomic<std::int64_t> last_cycle_ns_{0};
  std::atomic<std::uint64_t> stalls_{0};
  // Start-up only: the touch thread tells start() what it was granted.
  std::mutex start_mutex_;
  std::condition_variable started_;
  bool has_started_ = false;
  RealtimeStatus granted_;
  std::jthread touch_thread_, watch_thread_;
};

}  // namespace cotouch
