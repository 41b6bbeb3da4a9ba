#include <cotouch/base/realtime.h>

#include <gtest/gtest.h>

#include <thread>

namespace cotouch {
namespace {

TEST(PeriodicTimer, NeverWakesEarlyAndLosesNoPeriod) {
  const std::int64_t period = 2'000'000;
  const std::int64_t start = monotonic_ns();
  PeriodicTimer timer{std::chrono::nanoseconds(period)};
  std::int64_t periods = 0;
  for (int i = 0; i < 20; ++i) {
    periods += 1 + static_cast<std::int64_t>(timer.wait());
    // However late the machine is, each wake-up belongs to a multiple of the period that has passed.
    EXPECT_GE(monotonic_ns() - start, periods * period);
  }
}

TEST(PeriodicTimer, CountsWhatItMissedInsteadOfHurryingAfterIt) {
  PeriodicTimer timer{std::chrono::milliseconds(1)};
  timer.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(timer.wait(), 18U);
}

TEST(RealtimeStatus, SaysWhyWhereItWasRefused) {
  // In a thread of its own, so that a granted priority does not stay with the tests.
  std::thread([] {
    const RealtimeStatus status = request_realtime();
    EXPECT_EQ(status.notes.empty(), status.fifo_priority && status.locked_memory) << status.notes;
  }).join();
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
}  // namespace cotouch
