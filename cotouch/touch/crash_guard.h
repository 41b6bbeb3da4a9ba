// A second process that takes the force off devices when this one dies, whatever it dies of, or stands still.
//
// Why a process: after a crash nothing in this one can be relied on, and `kill -9` asks nobody. Many devices have a
// heartbeat in their firmware or driver and need no guard (Device::silence_call gives none); for the others their
// driver says which bytes another process has to write where. The guard (cotouch/guard/cotouch_guard.cpp) is started
// clean, opens those places beforehand, and reads heartbeats from a socket that the operating system closes with this
// process.
#pragma once

#include <cotouch/touch/device.h>

#include <filesystem>
#include <span>

#include <sys/types.h>

namespace cotouch {

inline constexpr int k_guard_milliseconds = 50;  // without a heartbeat

class CrashGuard {
 public:
  // Starts the program and returns once it watches. Throws Error if it cannot.
  CrashGuard(const std::filesystem::path& program, std::span<const SilenceCall> calls);
  ~CrashGuard();  // as a last word the guard silences the devices
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

  // From the touch thread in every cycle; never waits. False: the guard is gone, and nobody would silence the devices.
  bool beat() noexcept;

 private:
  int socket_ = -1;
  pid_t process_ = -1;
  std::int64_t last_beat_ns_ = 0;
  bool alive_ = true;
};

}  // namespace cotouch
