// The 1 kHz loop: read the devices, step the world, write what the limits leave of the forces.
//
// The touch thread waits on the monotonic clock at absolute times, asks for SCHED_FIFO and locked memory (and says what
// it got), and meets other threads only through channels that never wait. A second thread, of a higher priority,
// watches it: when no cycle has finished for `stall_seconds`, all forces are taken away through the limiters, by a
// thread for each device. A device in whose driver a thread is stuck meanwhile is disabled: no force until it is
// enabled on purpose (watchdog.h). A force is also zero when its device is lost, when the loop stops and before it
// starts, and after each of these it fades in again. Readings that cannot be true let it fade out (reading_check.h);
// cycles that come late soften the coupling (softening.h); what must always hold and does not ends all touch, with a
// report (base/invariant.h). If a device stays on when its process dies, a guard process takes its force away
// (crash_guard.h); while that one does not answer the force fades out.
//
// What a device's limits state for a second holds for a second: heat, rates, fades and checks go by the time that has
// passed, however late cycles come. A recording keeps it. The world's own step is a tick, whatever the clock says.
//
// The world says which of its hands a device is: alone the first is hand 0, and so on; in a world shared with others
// each has the hand that it was given there, or none yet (TouchWorld::hand_of). What is recorded is by device. The same
// cycle can be run without the clock (run_cycles), which is what experiments and tests do.
#pragma once

#include <cotouch/base/realtime.h>
#include <cotouch/device/device.h>
#include <cotouch/device/limits.h>
#include <cotouch/touch/histogram.h>
#include <cotouch/touch/touch_world.h>

#include <array>
#include <filesystem>
#include <memory>
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
  double stiffness = 1;  // the share of the coupling's stiffness that it was held with

  friend bool operator==(const HandSample&, const HandSample&) = default;
};

// One cycle as it is recorded: with the state before it, all that the state after it depends on, and that state's hash.
struct TouchSample {
  double time = 0;  // seconds since the first cycle if none had come late, a whole number of periods
  std::array<HandSample, k_loop_hands> hands;
  std::array<std::uint8_t, k_recorded_pairs> levels{};
  MissingPieces missing;
  std::uint64_t state_hash = 0;
  std::uint32_t in_contact = 0, visited = 0;
  float deepest = 0;           // metres
  std::uint32_t cycle_ns = 0;  // time the cycle took
  // Seconds beyond a period for which the forces before were held: until these, or until the watchdog took them away.
  double late = 0;
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
  std::array<MotorLimits, k_loop_hands> motors;  // what the devices bear
};

enum class TouchState : std::uint8_t { idle, touching, device_lost, stopped, broken };

// The loop as others see it: the newest sample and how the loop is doing.
struct TouchFrame {
  TouchSample sample;
  TouchState state = TouchState::idle;      // device_lost: every device is
  std::array<Wrench, k_loop_hands> wanted;  // before the limits
  std::array<DeviceState, k_loop_hands> devices{};
  ContactStats contact;
  std::uint64_t change = 0;           // the newest one taken over
  std::uint64_t cycle = 0;            // cycles done
  std::uint64_t restarts = 0;         // changes that had to begin at their world's own state
  std::uint64_t missed = 0;           // periods that passed without a cycle
  std::uint64_t stalls = 0;           // times the watchdog took the forces away
  std::uint64_t faults = 0;           // times a device began to read what cannot be true
  std::uint64_t samples_dropped = 0;  // not recorded because the queue was full
  std::int64_t cycle_ns = 0;          // time the last cycle took
  // The invariant that was broken (base/invariant.h); null: none. From then on the world is not stepped, no hand feels
  // anything and nothing is recorded, until another loop is made.
  const char* broken = nullptr;
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
  std::filesystem::path guard = {};   // the program `cotouch-guard`, for devices that need one (Device::silence_call)
};

// Within what loops are made for: 10 us to 1 s.
bool is_loop_period(double seconds) noexcept;

class TouchLoop {
 public:
  // Throws Error if the period is none, differs from the world's tick, or there are more devices than the loop or the
  // world has hands. Devices and world must outlive the loop, and nobody else may step the world while it runs. The
  // devices are the loop's own from its first cycle on until it is destroyed, so that the next loop can be made ready
  // while one runs.
  TouchLoop(std::vector<Device*> devices, TouchWorld& world, const TouchLoopSettings& settings);
  ~TouchLoop();
  TouchLoop(const TouchLoop&) = delete;
  TouchLoop& operator=(const TouchLoop&) = delete;

  // Before its first cycle: another device in the place of one.
  void replace(std::size_t device, Device& other);

  // Starts the threads and returns once they run, with what the operating system granted to both. Throws Error if a
  // device is in use by another loop, if one needs a guard process and there is none, or if a driver hung when the loop
  // was stopped.
  RealtimeStatus start();
  // Ends the threads and leaves the devices at zero force. Does nothing when they do not run. Waits for the loop's own
  // code, but for a driver only half a second, and as long again for one that was to be let go: if one does not come
  // back, all devices are disabled, the thread inside the driver is left behind and this returns false. From then on
  // the loop only shows what was. Such a thread touches neither world nor devices if it comes back after all, but the
  // driver itself may: that device must not be destroyed.
  bool stop();
  // False before start and after the loop ended by itself or by stop().
  bool running() const noexcept;

  // Up to `count` cycles in this thread without waiting for the clock, each `late` seconds later than a period after
  // the one before. Returns how many were done before all devices were lost. The forces stay on between calls; stop()
  // takes them away. Throws Error if a device is in use.
  std::uint64_t run_cycles(std::uint64_t count, double late = 0);

  // For the thread that starts and stops: from the next cycle on feel like this. Returns the change's number, which the
  // frames show once it is taken, or 0 if too many are waiting because the loop stands still. Throws Error if the world
  // has other numbers of bodies, hands or pairs, or another tick.
  std::uint64_t change(const TouchChange& change);

  // For its devices: where the bodies of the world are that it steps, whichever that is by now. As long as the loop.
  const BodyPlaces& bodies() const noexcept;

  // For one reading thread each.
  const TouchFrame& frame() noexcept;
  const WorldFrame& world_frame() noexcept;
  const WorldMark& mark() noexcept;
  bool next_sample(TouchSample& sample) noexcept;
  // For any thread. A device's state is known here even while its driver hangs and no frames come.
  const CycleHistogram& cycle_times() const noexcept;
  std::size_t hands() const noexcept;
  DeviceState device_state(std::size_t device) const noexcept;

  // Cuts a device's power, at once and whatever its driver does; false if there is no such device in use.
  bool disable(std::size_t device) noexcept;
  // Gives a disabled device its power back; the force fades in. False if its driver still hangs or refuses.
  bool enable(std::size_t device) noexcept;
  // After stop() returned false: whether it is this device's driver that hangs. The device must not be destroyed.
  bool hangs(std::size_t device) const noexcept;

 private:
  class Core;
  // Shared with the threads: one that hangs in a driver keeps it alive when the loop is gone.
  std::shared_ptr<Core> core_;
  std::jthread touch_thread_, watch_thread_;
  std::vector<std::jthread> letting_go_;  // one a device
};

}  // namespace cotouch
