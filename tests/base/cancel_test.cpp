#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace cotouch::this_file {
namespace {

TEST(Cancel, OutsideOfAScopeNothingEndsTheWork) {
  EXPECT_EQ(CancelScope::current(), nullptr);
  EXPECT_NO_THROW(throw_if_cancelled());
}

TEST(Cancel, TheInnermostScopeIsAskedUntilItEnds) {
  const CancelScope outer([] { return true; });
  EXPECT_THROW(throw_if_cancelled(), Cancelled);
  {
    const CancelScope inner([] { return false; });
    EXPECT_NO_THROW(throw_if_cancelled());
  }
  EXPECT_THROW(throw_if_cancelled(), Cancelled);
}

TEST(Cancel, EveryThreadOfAParallelLoopAsks) {
  constexpr std::size_t k_ranges = 100;
  std::atomic<std::size_t> asked{0};
  const CancelScope scope([&] {
    ++asked;
    return false;
  });
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  // If there is another core, a thread there has to have asked as well.
  std::atomic<bool> elsewhere{CPU_COUNT(&cores) == 1};
  const auto here = std::this_thread::get_id();
  parallel_for(k_ranges, 1, [&](std::size_t, std::size_t) {
    throw_if_cancelled();
    if (std::this_thread::get_id() != here) elsewhere = true;
    while (!elsewhere) std::this_thread::yield();
  });
  EXPECT_EQ(asked, 2 * k_ranges);  // before each range, and within it
}

TEST(Cancel, AParallelLoopEndsAtTheNextRange) {
  std::atomic<bool> cancelled{false};
  std::atomic<std::size_t> done{0};
  const CancelScope scope([&] { return cancelled.load(); });
  const auto work = [&](std::size_t, std::size_t) {
    ++done;
    cancelled = true;
  };
  EXPECT_THROW(parallel_for(1'000'000, 1, work), Cancelled);
  EXPECT_LT(done, 1'000U);  // one for each thread
}

TEST(Cancel, StepsThatTakeLessThanAskingAreAskedAboutNowAndThen) {
  std::vector<int> done(100'000);
  std::size_t asked = 0;
  {
    const CancelScope scope([&] { return ++asked == 0; });
    for_each_cancellable(done.size(), [&](std::size_t i) { ++done[i]; });
  }
  EXPECT_EQ(done, std::vector<int>(done.size(), 1));
  EXPECT_GE(asked, done.size() >> 14U);
  const CancelScope scope([&] { return --asked == 0; });
  EXPECT_THROW(for_each_cancellable(done.size(), [&](std::size_t i) { ++done[i]; }), Cancelled);
  EXPECT_EQ(done.front(), 2);
  EXPECT_EQ(done.back(), 1);
}

TEST(Cancel, SortingEndsOnTheWayAndSortsOtherwise) {
  std::vector<int> numbers(100'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % numbers.size());
  std::size_t asked = 0;
  {
    const CancelScope scope([&] { return ++asked == 3; });
    std::vector<int> some = numbers;
    EXPECT_THROW(sort_cancellable(some.begin(), some.end()), Cancelled);
  }
  EXPECT_EQ(asked, 3U);
  sort_cancellable(numbers.begin(), numbers.end());
  std::vector<int> want(numbers.size());
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(numbers, want);
}

}  // namespace
}  // namespace cotouch::this_file
