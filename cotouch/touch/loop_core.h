// The inside of a touch loop: what its threads share.
//
// The touch thread, the watch thread, which never enters a driver but to disable it, and for each device a thread that
// lets it go when the watch thread asks for that (watchdog.h).
#pragma once

#include <cotouch/base/channel.h>
#include <cotouch/base/invariant.h>
#include <cotouch/device/reading_check.h>
#include <cotouch/touch/crash_guard.h>
#include <cotouch/touch/driver_gate.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/softening.h>
#include <cotouch/touch/watchdog.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace cotouch {

class TouchLoop::Core final : public BodyPlaces {
 public:
  Core(std::vector<Device*> devices, TouchWorld& world, const TouchLoopSettings& settings);

  // Not before a changed world has taken over where the bodies are: until then, its own are at their start.
  std::optional<Pose> pose_of(std::uint32_t body) const noexcept override { return world->pose_of(body); }

  // Takes the devices over. Throws Error if one is in use.
  void engage();

  enum class Outcome : std::uint8_t { served, lost, given_up };
  // `late`: seconds beyond a period since the cycle before began. How long its forces were held is told by the clock;
  // without one for as long.
  enum class Clock : std::uint8_t { none, monotonic };
  Outcome cycle(std::uint64_t missed, double late, Clock clock) noexcept;

  // The threads, from their first line to their last.
  void touch(const std::stop_token& stop) noexcept;
  void watch(const std::stop_token& stop) noexcept;
  void let_go(std::size_t device, const std::stop_token& stop) noexcept;
  bool release_all() noexcept;  // by the touch thread
  void disable(std::size_t device) noexcept;

  struct Thread {
    DriverGate gate;
    std::atomic<bool> ended{true};
  };
  struct LettingGo : Thread {
    std::mutex mutex;
    std::condition_variable_any wake;
    bool asked = false;
    LettingGoProgress progress;
  };
  // What each of them was granted, once it is known.
  struct Granted {
    std::mutex mutex;
    std::condition_variable_any more;
    std::size_t threads = 0;
    RealtimeStatus status;
  };

  std::size_t threads() const noexcept { return devices.size() + 2; }  // one touches, one watches

  std::vector<Device*> devices;
  TouchWorld* world;
  std::size_t state_bytes;  // of every world that this loop steps: its frames have room for that
  TouchLoopSettings settings;
  std::vector<std::unique_ptr<ForceLimiter>> limiters;  // one a device, from the first cycle or start on
  Thread touching, watching;
  std::array<LettingGo, k_loop_hands> letting_go;
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
  // What a cycle knows of a device.
  struct Served {
    DeviceReading reading;
    ReadingCheck check;
    Softening softening;
    bool sound = true;
    std::int64_t last_read_ns = 0;  // 0: never since the loop was started
  };
  static double time_since_reading(Served& served, Clock clock) noexcept;
  bool take_changes(double passed) noexcept;
  bool read_devices(double passed, Clock clock) noexcept;
  bool write_forces(double passed) noexcept;
  double late_forces(double late, Clock clock, bool let_go) noexcept;
  void heed_guard() noexcept;
  void publish() noexcept;
  void heed(const InvariantWatch& watch) noexcept;
  void write_mark() noexcept;
  bool is_unguarded(std::size_t device) const noexcept { return needs_guard[device] && guard_is_silent_; }
  template <class Tell>
  void is_ready(Tell tell);  // a thread has got what it asked for, and tells what that was
  Watchdog::Seen seen() const noexcept;
  void announce_stall() noexcept;
  void ask_to_let_go(std::size_t device);

  std::array<Served, k_loop_hands> served_;
  std::array<HandInput, k_loop_hands> inputs_;
  bool any_ = false;                // device is there
  bool guard_is_silent_ = false;    // nobody is known to be there who would silence devices after a crash
  std::int64_t last_write_ns_ = 0;  // 0: none since it was started
  TouchFrame now_;                  // the touch thread's
  std::atomic<std::int64_t> progress_ns_{0};
  std::atomic<std::uint64_t> stalls_{0};    // announced by the watch thread
  std::atomic<std::uint64_t> answered_{0};  // by the touch thread, which has let go of everything
};

}  // namespace cotouch
