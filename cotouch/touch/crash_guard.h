// A second process that takes the force off devices when this one dies, whatever it dies of, or stands still.
//
// Why a process: after a crash nothing in this one can be relied on, and `kill -9` asks nobody. Many devices have a
// heartbeat in their firmware or driver and need no guard (Device::silence_call gives none); for the others their
// driver says which bytes another process has to write where. The guard (cotouch/guard/cotouch_guard.cpp) is started
// clean, opens those places beforehand, and reads heartbeats from a socket that the operating system closes with this
// process.
//
// The guard answers each heartbeat with a byte, for it may stand still itself, and then nobody would notice the crash.
// There is never more than one heartbeat without an answer. If it has waited for k_answer_seconds the guard is silent,
// and the loop lets the force fade out (10 ms): at 1 kHz it is gone 50 ms after the last answer at the latest. Of the
// time between two calls of beat() no more than 20 ms count as waiting, because after a standstill of this process, or
// of the whole machine, the guard needs a moment as well. (The loop takes the force away then by itself.)
#pragma once

#include <cotouch/device/device.h>

#include <filesystem>
#include <span>

#include <sys/types.h>

namespace cotouch {

inline constexpr int k_guard_milliseconds = 50;  // without a heartbeat
inline constexpr double k_answer_seconds = 0.03;

class CrashGuard {
 public:
  // Starts the program and returns once it watches. Throws Error if it cannot.
  CrashGuard(const std::filesystem::path& program, std::span<const SilenceCall> calls);
  ~CrashGuard();  // as a last word the guard silences the devices
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

  enum class State : std::uint8_t {
    answers,
    silent,  // for now
    gone,    // nobody would silence the devices
  };
  // From the touch thread in every cycle; never waits.
  State beat() noexcept;

 private:
  void take_answer() noexcept;

  int socket_ = -1;
  pid_t process_ = -1;
  std::int64_t last_call_ns_ = 0, last_beat_ns_ = 0, waited_ns_ = 0;
  bool waits_ = false, alive_ = true;
};

}  // namespace cotouch
