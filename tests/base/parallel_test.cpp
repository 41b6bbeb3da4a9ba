#include <cotouch/base/parallel.h>

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace cotouch::this_file {
namespace {

TEST(ParallelFor, CoversEveryIndexOnceInRangesThatDoNotDependOnTheThreads) {
  for (const std::size_t count : {0U, 1U, 7U, 8U, 1000U}) {
    std::vector<std::atomic<int>> done(count);
    parallel_for(count, 8, [&](std::size_t begin, std::size_t end) {
      EXPECT_EQ(begin % 8, 0U);
      EXPECT_TRUE(end == begin + 8 || end == count);
      for (std::size_t i = begin; i < end; ++i) ++done[i];
    });
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(ParallelFor, UsesNoMoreThreadsThanTheCallerHasCores) {
  std::set<std::thread::id> threads;
  std::mutex mutex;
  const auto work = [&](std::size_t, std::size_t) {
    const std::scoped_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
  };
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    parallel_for(1000, 1, work);
    EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
  }).join();
}

TEST(ParallelFor, PassesOnTheFirstFailureAndStops) {
  std::atomic<int> calls{0};
  const auto work = [&](std::size_t begin, std::size_t) {
    ++calls;
    if (begin == 3) throw std::runtime_error("three");
    std::this_thread::sleep_for(std::chrono::microseconds(100));  // or others might do the rest while one fails
  };
  EXPECT_THROW(parallel_for(10'000, 1, work), std::runtime_error);
  EXPECT_LT(calls, 10'000);
}

}  // namespace
}  // namespace cotouch::this_file
