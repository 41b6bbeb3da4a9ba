#include <cotouch/base/realtime.h>

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/child_process.h"
#include "support/sanitized.h"

namespace cotouch::this_file {
namespace {

TEST(PeriodicTimer, NeverWakesEarlyAndLosesNoPeriod) {
  const std::int64_t period = 2'000'000;
  const std::int64_t before = monotonic_ns();
  PeriodicTimer timer{std::chrono::nanoseconds(period)};
  const std::int64_t after = monotonic_ns();
  std::int64_t periods = 0;
  for (int i = 0; i < 20; ++i) {
    if (i % 5 == 4) std::this_thread::sleep_for(std::chrono::nanoseconds(5 * period / 2));  // misses two
    const std::int64_t asked = monotonic_ns();
    periods += 1 + static_cast<std::int64_t>(timer.wait());
    // However late the machine is, each wake-up belongs to a multiple of the period that has passed,
    EXPECT_GE(monotonic_ns() - before, periods * period);
    // and to none that had passed already when it was asked for: all of those were counted.
    EXPECT_LT(asked - after, periods * period);
  }
}

TEST(PeriodicTimer, CountsWhatItMissedInsteadOfHurryingAfterIt) {
  PeriodicTimer timer{std::chrono::milliseconds(1)};
  timer.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(timer.wait(), 18U);
}

TEST(RealtimeStatus, HasNotesIfAndOnlyIfSomethingWasRefused) {
  // In a thread of its own, so that a granted priority does not stay with the tests.
  std::thread([] {
    const RealtimeStatus status = request_realtime();
    EXPECT_EQ(status.notes.empty(), status.fifo_priority && status.locked_memory) << status.notes;
  }).join();
}

// In a process that may have neither: its limits are zero, and its privilege to exceed them is given up.
TEST(RealtimeStatus, SaysWhyItWasRefused) {
  const int ended = in_a_child([] {
    const rlimit nothing{0, 0};
    setrlimit(RLIMIT_RTPRIO, &nothing);
    setrlimit(RLIMIT_MEMLOCK, &nothing);
    if (setuid(65534) != 0 && getuid() == 0) return 77;
    const RealtimeStatus status = request_realtime();
    if (status.fifo_priority || status.fifo_watchdog) return 1;
    if (status.locked_memory && !is_sanitized()) return 2;
    if (request_priority(k_touch_priority).empty()) return 3;
    if (status.notes.find("rtprio") == std::string::npos) return 4;
    // A sanitizer locks nothing, and says that it did.
    return status.notes.find("memlock") != std::string::npos || status.locked_memory ? 0 : 5;
  });
  if (ended == 77) GTEST_SKIP() << "privileges cannot be given up here";
  EXPECT_EQ(ended, 0);
}

std::size_t locked_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmLck:")) return std::stoul(line.substr(6)) * 1024;
  return 0;
}

TEST(LockedMemory, IncludesWhatIsAllocatedLater) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more than can be locked";
  const LockedMemory locked = lock_memory();
  if (locked != LockedMemory::all) GTEST_SKIP() << "this process may not lock as much as it likes";
  const std::size_t before = locked_bytes(), size = 4U << 20U;
  void* const later = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(later, MAP_FAILED);
  EXPECT_GE(locked_bytes(), before + size);
  munmap(later, size);
  munlockall();
}

TEST(LockedMemory, WithALimitLaterAllocationsDoNotFail) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer reserves more than can be locked";
  // In a process of its own, whose privilege to exceed the limit is given up.
  const pid_t child = fork();
  if (child == 0) {
    const rlimit little{64U << 10U, 64U << 10U};
    setrlimit(RLIMIT_MEMLOCK, &little);
    if (setuid(65534) != 0 && getuid() == 0) _exit(77);
    const LockedMemory locked = lock_memory();
    void* const later = mmap(nullptr, 4U << 20U, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    _exit(locked == LockedMemory::all ? 1 : later == MAP_FAILED ? 2 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "privileges cannot be given up here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
}

TEST(RealtimeSection, BelongsToItsThreadAndNests) {
  EXPECT_FALSE(RealtimeSection::active());
  {
    const RealtimeSection outer;
    {
      const RealtimeSection inner;
      EXPECT_TRUE(RealtimeSection::active());
    }
    EXPECT_TRUE(RealtimeSection::active());
    bool elsewhere = true;
    std::thread([&] { elsewhere = RealtimeSection::active(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(RealtimeSection::active());
}

}  // namespace
}  // namespace cotouch::this_file
