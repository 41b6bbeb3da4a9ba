#include <cotouch/experiment/hostile_devices.h>

#include <cotouch/device/limits.h>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace cotouch::this_file {
namespace {

// The experiment's promise, with every kind there is.
TEST(HostileDevicesSlow, AreAllStoppedWithinTheLimits) {
  NoProgress progress;
  const std::vector<HostileOutcome> outcomes = let_hostile_devices_loose(progress);
  EXPECT_EQ(outcomes.size(), hostile_kinds().size());
  EXPECT_GE(outcomes.size(), 40U);
  std::set<std::string> names;
  for (const HostileOutcome& outcome : outcomes) {
    names.insert(outcome.kind.name);
    EXPECT_TRUE(outcome.stopped) << outcome.what;
    EXPECT_EQ(outcome.force_left, 0) << outcome.what;
    EXPECT_LE(outcome.largest_force, LimitSettings{}.max_force * (1 + 1e-12)) << outcome.what;
    EXPECT_EQ(outcome.served, outcome.kind.by != HostileKind::Stopped::refused) << outcome.what;
    if (outcome.served) {
      EXPECT_GT(outcome.largest_force, 4) << outcome.what;  // there was something to stop
    }
  }
  EXPECT_EQ(names.size(), outcomes.size());
}

TEST(HostileKinds, ThatAreRefusedSayWhy) {
  for (const HostileKind& kind : hostile_kinds())
    EXPECT_EQ(kind.by == HostileKind::Stopped::refused, *kind.refusal != '\0') << kind.name;
}

}  // namespace
}  // namespace cotouch::this_file
