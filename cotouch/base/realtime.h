// What a 1 kHz thread needs from the operating system, and a guard that proves it stays clear of the rest.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace cotouch {

// What was asked of the operating system and what it granted, each with the reason when it refused.
struct RealtimeStatus {
  bool fifo_priority = false;
  bool fifo_watchdog = false;  // the thread that watches has a higher one
  bool locked_memory = false;
  bool locked_later = false;  // what is allocated from now on is locked as well
  std::string notes;          // a sentence for the user, empty when everything was granted
};

// Threads of equal priority never interrupt each other, and a driver may wait in a loop for ever. So those that take
// the force away are above the one they help, and the watchdog, which enters no driver, is above all. (The guard
// process is above that: cotouch/guard.)
inline constexpr int k_touch_priority = 80, k_letting_go_priority = 81, k_watchdog_priority = 82;

// Asks for SCHED_FIFO for the calling thread. Empty if it was granted, otherwise why not.
std::string request_priority(int fifo_priority);
// The same, and locked memory for the process. Never fails: it reports.
RealtimeStatus request_realtime(int fifo_priority = k_touch_priority);

enum class LockedMemory : std::uint8_t { none, present, all };
// Locks what memory the process has by now, and all that it allocates later if there is no limit to what it may lock.
// With a limit that would make later allocations fail as soon as it is reached, so then whoever hands new memory to a
// real-time thread locks again (TouchLoop::change does).
LockedMemory lock_memory() noexcept;

// Wakes at multiples of a period of the monotonic clock, measured from its construction, so lateness does not add up.
class PeriodicTimer {
 public:
  explicit PeriodicTimer(std::chrono::nanoseconds period) noexcept;
  // Waits for the next multiple that is still in the future. Returns how many were missed since the last call.
  std::uint64_t wait() noexcept;

 private:
  std::int64_t period_ns_;
  std::int64_t next_ns_;
};

std::int64_t monotonic_ns() noexcept;
// Processor time of this thread: what others do on the machine meanwhile does not count.
std::int64_t processor_ns() noexcept;

// While one of these lives, an allocation, a release of memory, a lock or a wait by this thread is counted as a breach.
// Breaches are seen only in programs that link `cotouch_rt_guard` (the tests do); elsewhere the guard costs nothing.
class RealtimeSection {
 public:
  RealtimeSection() noexcept;
  ~RealtimeSection();
  RealtimeSection(const RealtimeSection&) = delete;
  RealtimeSection& operator=(const RealtimeSection&) = delete;

  static bool active() noexcept;             // is this thread inside a section?
  static void count_breach() noexcept;       // called by the guard
  static std::uint64_t breaches() noexcept;  // by all threads so far
};

}  // namespace cotouch
