// The 1 kHz loop: read the devices, step the world, write what the limits leave of the forces.
//
// The touch thread waits on the monotonic clock at absolute times, asks for SCHED_FIFO and locked memory (and says what
// it got), and meets other threads only through channels that never wait. A second thread watches it: when no cycle
// has finished for `stall_seconds`, it takes all forces away through the limiters. A force is also zero when its device
// is lost, when the loop stops and before it starts, and after each of these it fades in again.
//
// The world says which of its hands a device is: alone the first is hand 0, and so on; in a world shared with others
// only the first device has a hand (TouchWorld::hand_of). What is recorded is by device. The same cycle can be run
// without the clock (run_cycles), which is what experiments and tests do.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/base/realtime.h>
#include <cotouch/touch/device.h>
#include <cotouch/touch/histogram.h>
#include <cotouch/touch/limits.h>
#include <cotouch/touch/touch_world.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_loop_hands = 8;       // devices one loop serves
inline constexpr std::size_t k_recorded_pairs = 64;  // whose levels a cycle's record has room for

// What one hand did and felt in a cycle.
struct HandSample {
  HandInput input;  // as the world was given it
  Wrench felt;      // on the hand about its position, as written to the device
  Motors motors = Motors::off;

  friend bool operator==(const HandSample&, const HandSample&) = default;
};

// One cycle as it is recorded: with the state before it, all that the state after it depends on, and that state's hash.
struct TouchSample {
  double time = 0;  // seconds since the first cycle, a whole number of periods
  std::array<HandSample, k_loop_hands> hands;
  std::array<std::uint8_t, k_recorded_pairs> levels{};
  std::uint64_t state_hash = 0;
  std::uint32_t in_contact = 0, visited = 0;
  float deepest = 0;           // metres
  std::uint32_t cycle_ns = 0;  // time the cycle took
};

// What the loop feels with. A running loop takes a new one over whole, between two cycles, and the forces go on.
struct TouchChange {
  // Must outlive the loop or the taking of the next change. It goes on from the old one's state; if that is no state
  // any more (WorldState::restore refuses it), from its own, with the forces fading in anew. Null: the world stays.
  TouchWorld* world = nullptr;
  LimitSettings limits;  // but for the period, which stays
};

// Where the loop stood when it took over its newest change: with the model, all that later forces depend on.
struct TouchMark {
  std::uint64_t change = 0;  // its number, counted from 1; 0 if there was none
  std::uint64_t cycle = 0;   // cycles done before
  std::array<LimiterState, k_loop_hands> limiters;
};

enum class TouchState : std::uint8_t { idle, touching, device_lost, stopped };

// The loop as others see it: the newest sample and how the loop is doing.
struct TouchFrame {
  TouchSample sample;
  TouchState state = TouchState::idle;      // device_lost: every device is
  std::array<Wrench, k_loop_hands> wanted;  // before the limits
  ContactStats contact;
  std::uint64_t change = 0;           // the newest one taken over
  std::uint64_t cycle = 0;            // cycles done
  std::uint64_t restarts = 0;         // changes that had to begin at their world's own state
  std::uint64_t missed = 0;           // periods that passed without a cycle
  std::uint64_t stalls = 0;           // times the watchdog took the forces away
  std::uint64_t samples_dropped = 0;  // not recorded because the queue was full
  std::int64_t cycle_ns = 0;          // time the last cycle took
};

// The same with the world as it is then.
struct WorldFrame {
  TouchFrame touch;
  WorldState world;
};
struct WorldMark {
  TouchMark mark;
  WorldState world;
};

struct TouchLoopSettings {
  LimitSettings limits;
  bool wait_for_device = false;  // lost devices may come back; otherwise losing all of them ends the loop
  double stall_seconds = 0.02;
  std::size_t queued_samples = 4096;  // about four seconds until a reader must have come by; 0 records nothing
};

// Within what loops are made for: 10 us to 1 s.
bool is_loop_period(double seconds) noexcept;

class TouchLoop {
 public:
  // Throws Error if the period is none, differs from the world's tick, or there are more devices than the loop or the
  // world has hands. Devices and world must outlive the loop, and nobody else may step the world while it runs.
  TouchLoop(std::vector<Device*> devices, TouchWorld& world, const TouchLoopSettings& settings);
  ~TouchLoop();
  TouchLoop(const TouchLoop&) = delete;
  TouchLoop& operator=(const TouchLoop&) = delete;

  // Starts the thread and returns once it runs, with what the operating system granted.
  RealtimeStatus start();
  // Ends the thread and leaves the devices at zero force. Does nothing when it does not run.
  void stop();
  // False before start and after the loop ended by itself or by stop().
  bool running() const noexcept { return running_.load(std::memory_order_acquire); }

  // Up to `count` cycles in this thread without waiting for the clock. Returns how many were done before all devices
  // were lost. The forces stay on between calls; stop() takes them away.
  std::uint64_t run_cycles(std::uint64_t count) noexcept;

  // For the thread that starts and stops: from the next cycle on feel like this. Returns the change's number, which the
  // frames show once it is taken, or 0 if too many are waiting because the loop stands still. Throws Error if the world
  // has other numbers of bodies, hands or pairs, or another tick.
  std::uint64_t change(const TouchChange& change);

  // For one reading thread each.
  const TouchFrame& frame() noexcept { return frames_.read().touch; }
  const WorldFrame& world_frame() noexcept { return frames_.read(); }
  const WorldMark& mark() noexcept { return marks_.read(); }
  bool next_sample(TouchSample& sample) noexcept { return samples_.pop(sample); }
  // For any thread.
  const CycleHistogram& cycle_times() const noexcept { return cycle_times_; }
  std::size_t hands() const noexcept { return devices_.size(); }

 private:
  bool cycle(std::uint64_t missed) noexcept;
  void take_changes() noexcept;
  void touch(const std::stop_token& stop);
  void watch(const std::stop_token& stop);
  bool release_all() noexcept;

  std::vector<Device*> devices_;
  TouchWorld* world_;
  std::size_t state_bytes_;  // of every world that this loop steps: its frames have room for that
  TouchLoopSettings settings_;
  std::vector<std::unique_ptr<ForceLimiter>> limiters_;  // one a device
  std::array<HandInput, k_loop_hands> inputs_;
  TouchFrame now_;  // the touch thread's
  LatestValue<WorldFrame> frames_;
  LatestValue<WorldMark> marks_;
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
