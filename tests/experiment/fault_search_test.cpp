#include <cotouch/experiment/fault_search.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

TEST(FaultSearch, FindsNeitherMismatchesNorSessionsThatAreStuck) {
  const auto world = fault_world();
  double minutes = 0;
  for (std::uint64_t seed = 9; minutes < 20; ++seed) {  // 10: the lowest two of a session died one after the other
    const FaultRun run = run_faults(world, {.seed = seed});
    minutes += run.minutes;
    EXPECT_EQ(run.mismatches, 0U) << "seed " << seed << ": " << run.first_trouble;
    EXPECT_EQ(run.overruled, 0U) << "seed " << seed << ": " << run.first_trouble;
    EXPECT_EQ(run.stuck, 0U) << "seed " << seed << ": " << run.first_trouble;
    EXPECT_GT(run.faults, 5U);
    EXPECT_GT(run.confirmed, 10000U);
  }
}

TEST(FaultSearch, SeedGivesTheSameHistoryTwice) {
  const auto world = fault_world();
  const FaultRun once = run_faults(world, {.seed = 3, .rounds = 1}),
                 again = run_faults(world, {.seed = 3, .rounds = 1}),
                 other = run_faults(world, {.seed = 4, .rounds = 1});
  EXPECT_EQ(once.history, again.history);
  EXPECT_EQ(once.confirmed, again.confirmed);
  EXPECT_NE(once.history, other.history);
}

TEST(FaultSearch, CatchesAWorldThatMissesAnInput) {
  const FaultRun run = run_faults(fault_world(), {.seed = 1, .rounds = 1, .broken = 1});
  EXPECT_GT(run.mismatches, 0U);
  EXPECT_NE(run.first_trouble.find("mismatch"), std::string::npos) << run.first_trouble;
}

}  // namespace
}  // namespace cotouch::this_file
