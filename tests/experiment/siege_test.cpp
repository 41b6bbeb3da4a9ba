// Every attack of the siege takes place, and one that does not is noticed.
#include <cotouch/base/progress.h>
#include <cotouch/experiment/siege.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

double value_of(const ExperimentReport& report, const std::string& name) {
  for (const ExperimentResult& result : report.results)
    if (result.name == name) return result.value;
  ADD_FAILURE() << "There is no figure " << name;
  return -1;
}

// One short turn, with polygons that are soon prepared. Whether promises are kept is for the whole run to say, which
// has the machine to itself.
TEST(Siege, CountsOnlyAttacksThatTookPlace) {
  const TemporaryFolder folder;
  NoProgress quiet;
  ExperimentOptions options;
  options.folder = folder.path();
  options.progress = &quiet;
  SiegeSettings settings;
  settings.scene = "ball-socket";
  settings.honest = 1;
  settings.corners = 100;
  settings.seconds = 0.5;
  Siege siege(options, settings);
  EXPECT_EQ(Siege::kinds().size(), 15U);
  EXPECT_EQ(siege.idle_attacks().size(), Siege::kinds().size());
  EXPECT_EQ(value_of(siege.report(), "siege/attacks"), 0);
  EXPECT_GE(siege.report().failures.size(), Siege::kinds().size());

  siege.take(Siege::Turn::besieged);
  for (const std::string& idle : siege.idle_attacks()) ADD_FAILURE() << idle;
  const ExperimentReport report = siege.report();
  EXPECT_EQ(value_of(report, "siege/attacks"), 15);
  for (const AttackKind& kind : Siege::kinds())
    EXPECT_GE(value_of(report, std::string("siege/") + kind.name + "-tried"), static_cast<double>(kind.least))
        << kind.name;
  EXPECT_EQ(value_of(report, "siege/honest-viewers-lost"), 0);
  // Of the promises, those that no slow machine breaks.
  EXPECT_EQ(value_of(report, "siege/changed-files-deaths"), 0);
  EXPECT_EQ(value_of(report, "siege/changed-files-felt-other"), 0);
  EXPECT_TRUE(
      std::filesystem::is_empty(folder.path()));  // or it would hold more after each run, until there is no room
}

// Otherwise it is full after a while, and the honest one is said to be kept waiting by besiegers.
TEST(UploadDesk, IsClearedInTimeAndLeavesNothing) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("cotouch-siege-uploads-scenes-" + std::to_string(::getpid()));
  const auto unsaved = [&] { return std::distance(std::filesystem::directory_iterator(folder), {}); };
  {
    UploadDesk desk(2);
    std::size_t most = 0;
    for (int turn = 0; turn < 2; ++turn) {
      desk.begin(1.5);
      for (int i = 0; i < 100; ++i) {
        most = std::max(most, desk.bodies());
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
      }
      EXPECT_GE(desk.result().done, 1U);
      EXPECT_EQ(desk.bodies(), 0U);
      EXPECT_LE(unsaved(), 1);  // the last one, if the session was just leaving it
    }
    EXPECT_LE(most, 2U);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace cotouch::this_file
