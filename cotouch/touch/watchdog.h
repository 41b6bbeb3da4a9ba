// What has to be done when the touch thread does not come back: decided here, done by others.
//
// This class has no clock, no threads and no devices. It is told the time and what can be seen, and answers with
// orders. The loop's watch thread carries them out; the tests' simulator does the same in every order of drivers that
// are slow, hang, lie or vanish.
//
// A stall begins when for `stall` seconds the touch thread has shown no progress: it has neither ended a cycle nor let
// go of all devices after a stall. The stall is announced first, and from then on the touch thread writes zero and
// nothing else. Then, until it is over:
//  - a device whose driver the touch thread is not in is let go of, each by a thread of its own, because that driver
//    may hang there as well;
//  - a device in whose driver either of the two stays for k_driver_patience_ns is disabled, which never waits;
//  - so is one whose own thread was asked and does not come to it within k_thread_patience_ns: drivers that hang may
//    keep all processors busy.
// It is over when the touch thread has come back and let go of all devices itself, not when there were orders for all
// of them: a driver may hang at any time. A thread that is still inside a driver to let go of its device is watched
// beyond that.
//
// So, whatever the drivers do and in whatever order, `stall` and k_reaction_ns after the last progress every device was
// written a zero or is disabled, and no thread has been inside the driver of a device that is not disabled for that
// long. If the operating system does not run the threads that let go, it takes k_slow_reaction_ns instead. This counts
// on it to run the watch thread, and on disable(). A driver that lies, returning from write() without passing the zero
// on, cannot be told from one that obeys.
#pragma once

#include <cotouch/touch/driver_gate.h>
#include <cotouch/touch/loop.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cotouch {

class Watchdog {
 public:
  static constexpr std::int64_t k_longest_look_ns = 5'000'000;      // between two looks
  static constexpr std::int64_t k_close_look_ns = 1'000'000;        // during a stall
  static constexpr std::int64_t k_driver_patience_ns = 3'000'000;   // with one call of a driver, during a stall
  static constexpr std::int64_t k_thread_patience_ns = 10'000'000;  // with a thread until it comes to a driver
  static constexpr std::int64_t k_reaction_ns = 15'000'000, k_slow_reaction_ns = 25'000'000;  // see above

  Watchdog(double stall_seconds, std::size_t devices) noexcept;

  enum class LettingGo : std::uint8_t {
    no,     // not asked for since the stall was announced, or the device was just being served
    asked,  // the device's thread has not come back from it
    done,   // zero was written
  };
  struct DeviceSeen {
    bool disabled = false;
    LettingGo letting_go = LettingGo::no;
    DriverGate::Visit thread;  // where its own thread is
  };
  struct Seen {
    std::int64_t now_ns = 0;
    std::int64_t progress_ns = 0;  // the touch thread's last
    bool running = true;           // false: it has ended, and before that let go of all
    bool answered = true;          // it has let go of all since the last stall was announced
    DriverGate::Visit touch;       // where the touch thread is
    std::array<DeviceSeen, k_loop_hands> devices;
  };
  enum class Order : std::uint8_t { none, let_go, disable };
  struct Orders {
    bool announce = false;  // a stall begins; nothing else is ordered until others have been told
    std::array<Order, k_loop_hands> devices{};
    std::int64_t look_ns = 0;  // when to look again
  };
  Orders look(const Seen& seen) noexcept;

 private:
  // One thread's call of a driver, and since when it has been seen, in watched time.
  struct Watched {
    DriverGate::Visit visit;
    std::int64_t since_ns = 0;
    void see(const DriverGate::Visit& seen, std::int64_t watched_ns) noexcept;
    bool hangs(std::size_t device, std::int64_t watched_ns) const noexcept;
  };
  Order order_for(std::size_t device, const Seen& seen) noexcept;

  std::int64_t stall_ns_, look_ns_;
  std::size_t devices_;
  // Time without that by which looks came late: after a standstill of the whole process a call that was under way is
  // not one that hangs.
  std::int64_t watched_ns_ = 0, last_look_ns_ = 0, pause_ns_ = 0;
  Watched touch_;
  std::array<Watched, k_loop_hands> threads_;
  std::array<std::int64_t, k_loop_hands> asked_ns_{};  // when they were asked, in watched time
};

// How far the thread that lets a device go has come, for the watch thread.
class LettingGoProgress {
 public:
  using LettingGo = Watchdog::LettingGo;

  // The watch thread's: a stall begins, for which nothing counts that was done before; and the device is to be let go.
  void forget() noexcept { word_.store(word(number_, LettingGo::no)); }
  void ask() noexcept { word_.store(word(++number_, LettingGo::asked)); }
  // The device's own thread's: the number of the newest request, before it goes to the driver; and that it is back. It
  // may have lost the processor after it wrote a zero, so that counts for this request only: if a stall has begun
  // since, or it has been asked again, it has to write another.
  std::uint32_t asked() const noexcept { return word_.load() >> 2U; }
  void finish(std::uint32_t number, bool is_zero) noexcept {
    std::uint32_t asked = word(number, LettingGo::asked);
    word_.compare_exchange_strong(asked, word(number, is_zero ? LettingGo::done : LettingGo::no));
  }
  LettingGo get() const noexcept { return static_cast<LettingGo>(word_.load() & 3U); }

 private:
  static constexpr std::uint32_t word(std::uint32_t number, LettingGo state) noexcept {
    return number << 2U | static_cast<std::uint32_t>(state);
  }

  std::atomic<std::uint32_t> word_{0};
  std::uint32_t number_ = 0;  // the watch thread's
};

}  // namespace cotouch
