// The inside of a touch loop: what its threads share.
//
// Three parties may call a driver: the touch thread, the watchdog and whoever calls run_cycles. Any of them may never
// come back. Each thread therefore goes through a gate: it says which device it is about to call, and after the call
// asks whether it was given up meanwhile. Both are one atomic exchange of the same word, so either the thread is back
// before it is given up, or it finds out before it touches anything but the core, which it keeps alive.
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/touch/crash_guard.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/reading_check.h>
#include <cotouch/touch/softening.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace cotouch {

class DriverGate {
 public:
  static constexpr int k_outside = -1;

  // The thread's own: about to call a driver, and back from it. False: it was given up and has to end at once.
  void enter(std::size_t device) noexcept { at_.store(static_cast<int>(device), std::memory_order_release); }
  bool leave() noexcept {
    int at = at_.load(std::memory_order_relaxed);
    return at != k_given_up && at_.compare_exchange_strong(at, k_outside, std::memory_order_acq_rel);
  }
  // For others: the device whose driver the thread is in.
  int device() const noexcept { return at_.load(std::memory_order_acquire); }
  // The device whose driver the thread will not come back from; k_outside if it is in none.
  int give_up() noexcept {
    int at = at_.load(std::memory_order_acquire);
    return at >= 0 && at_.compare_exchange_strong(at, k_given_up, std::memory_order_acq_rel) ? at : k_outside;
  }

 private:
  static constexpr int k_given_up = -2;
  std::atomic<int> at_{k_outside};
};

class TouchLoop::Core {
 public:
  Core(std::vector<Device*> devices, TouchWorld& world, const TouchLoopSettings& settings);

  // Takes the devices over. Throws Error if one is in use.
  void engage();

  enum class Outcome : std::uint8_t { served, lost, given_up };
  // `passed`: seconds since the cycle before, for which its forces were held.
  Outcome cycle(std::uint64_t missed, double passed) noexcept;

  // The two threads, from their first line to their last.
  void touch(const std::stop_token& stop) noexcept;
  void watch(const std::stop_token& stop) noexcept;
  bool release_all(DriverGate& gate, int except = DriverGate::k_outside) noexcept;

  struct Thread {
    DriverGate gate;
    std::atomic<bool> ended{true};
  };
  // What each of them was granted, once it is known.
  struct Granted {
    std::mutex mutex;
    std::condition_variable both;
    bool touch = false, watch = false;
    RealtimeStatus status;
  };

  std::vector<Device*> devices;
  TouchWorld* world;
  std::size_t state_bytes;  // of every world that this loop steps: its frames have room for that
  TouchLoopSettings settings;
  std::vector<std::unique_ptr<ForceLimiter>> limiters;  // one a device, from the first cycle or start on
  Thread touching, watching;
  Granted granted;
  std::array<bool, k_loop_hands> needs_guard{};
  std::unique_ptr<CrashGuard> guard;  // made and ended by the starting thread while no other runs
  std::atomic<bool> running{false};
  bool given_up = false;  // a driver hangs: never again
  bool engaged = false;   // by run_cycles, so that nobody else takes the forces away

  LatestValue<WorldFrame> frames;
  LatestValue<WorldMark> marks;
  BoundedQueue<TouchSample> samples;
  BoundedQueue<TouchChange> changes;
  std::uint64_t changes_asked = 0;  // the asking thread's
  CycleHistogram cycle_times;
  std::array<std::atomic<DeviceState>, k_loop_hands> states{};

 private:
  bool take_changes() noexcept;
  bool read_devices(double passed) noexcept;
  bool write_forces() noexcept;
  void publish() noexcept;
  void disable(std::size_t device) noexcept;
  void write_mark() noexcept;

  // What a cycle knows of a device.
  struct Served {
    DeviceReading reading;
    ReadingCheck check;
    Softening softening;
    bool sound = true;
    std::uint32_t busy = 0;  // cycles in a row in which the watchdog was inside its driver
  };
  std::array<Served, k_loop_hands> served_;
  std::array<HandInput, k_loop_hands> inputs_;
  bool any_ = false;  // device is there
  TouchFrame now_;    // the touch thread's
  std::atomic<std::int64_t> last_cycle_ns_{0};
  std::atomic<std::uint64_t> stalls_{0};
};

}  // namespace cotouch
