// What a hostile plug-in did and was given, in a file that its process and others map: it outlives a crash.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cotouch::hostile {

struct Record {
  std::atomic<double> largest_force, largest_torque, last_force;  // N, N m, as written to it
  std::atomic<std::uint64_t> reads, writes;
  std::atomic<std::uint32_t> opens, closes, disables, enables;
  std::atomic<std::uint32_t> hangs;   // calls that were entered and hang
  std::atomic<std::uint32_t> let_go;  // set by others: what hangs in a call comes back
  std::atomic<std::uint64_t> pushes;  // writes of a force that is not zero
  std::atomic<double> largest_first;  // N, of those that came right after none
  // N/s: a force over the time since the last write of none and a cycle of a millisecond.
  std::atomic<double> fastest_rise;
  std::atomic<double> kept_while_lost;  // N, the most that it still held in the second reading after it said it is lost
  std::atomic<std::int64_t> silent_ns;  // when none was written last

  // Before last_force is: how a force comes after there was none.
  void note_rise(double force) {
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    if (force == 0) return silent_ns.store(now);
    pushes.fetch_add(1);
    if (last_force.load() == 0) largest_first.store(std::max(largest_first.load(), force));
    const double seconds = 1e-9 * static_cast<double>(now - silent_ns.load()) + 1e-3;
    fastest_rise.store(std::max(fastest_rise.load(), force / seconds));
  }
};
static_assert(std::atomic<double>::is_always_lock_free);

// Null if it cannot be. Stays mapped: calls that hang may come back at any time.
inline Record* map_record(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* mapped = ftruncate(file, sizeof(Record)) == 0
                     ? mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                     : MAP_FAILED;
  close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<Record*>(mapped);
}

}  // namespace cotouch::hostile
