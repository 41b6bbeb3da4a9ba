// The experiment on seams, but for hostile devices, which have a test of their own (hostile_devices_test.cpp).
#include <cotouch/experiment/seams.h>

#include <cotouch/base/error.h>

#include <gtest/gtest.h>
#include <support/temporary_folder.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace cotouch::this_file {
namespace {

// The rows of one seam, quickly.
struct Measured {
  ExperimentReport report;
  std::map<std::string, double> values;

  template <class Measure>
  Measured(Measure measure, ExperimentOptions options) {
    NoProgress quiet;
    options.quick = true;
    options.progress = &quiet;
    measure(options, report);
    for (const ExperimentResult& result : report.results) values[result.name] = result.value;
    for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
  }
};

TEST(SeamsSlow, EnginesNeverDisagreeAndTheirInterfaceIsTimed) {
  const Measured measured(measure_engine_seam, {});
  EXPECT_EQ(measured.values.at("engine/exhaustive-mismatches"), 0);
  double largest = 0;
  for (const char* use : {"everything", "cycle", "coarsest"}) {
    const double share = measured.values.at(std::string("engine/seam-cost-share-") + use);
    EXPECT_GT(share, 0) << use;
    largest = std::max(largest, share);
  }
  EXPECT_EQ(measured.values.at("engine/seam-cost-share"), largest);
}

TEST(Seams, APluginFeelsWhatTheDeviceBuiltInFeels) {
  const Measured measured(measure_device_cost, {});
  for (const char* row : {"device/cycle-p99-share", "device/cycle-p50-share", "device/cycle-p99-us"})
    EXPECT_GT(measured.values.at(row), 0) << row;
}

// A program that works so long, counted in turns of a loop, and leaves a part.
std::filesystem::path program_that_works(const TemporaryFolder& folder, int turns) {
  const std::filesystem::path path = folder / ("works-" + std::to_string(turns));
  std::ofstream(path) << "#!/bin/sh\n"
                         "i=0; while [ $i -lt "
                      << turns << " ]; do i=$((i+1)); done\n: > \"$4\"\n";  // prepare MESH -o PART
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(Seams, PreparingIsMeasuredBesideAnotherProgram) {
  const TemporaryFolder folder;
  ExperimentOptions options;
  options.folder = folder.path();
  options.program = program_that_works(folder, 20'000);
  const Measured alone(measure_preparing, options);
  EXPECT_GT(alone.values.at("prepare/seconds"), 0);
  EXPECT_EQ(alone.values.count("prepare/seconds-share"), 0U);
  options.before = program_that_works(folder, 400'000);
  const Measured measured(measure_preparing, options);
  EXPECT_GT(measured.values.at("prepare/seconds-share"), 0);
  EXPECT_LT(measured.values.at("prepare/seconds-share"), 0.5);  // a twentieth, and what it takes to start
}

TEST(Seams, AProgramThatPreparesNothingIsRefused) {
  const TemporaryFolder folder;
  NoProgress quiet;
  ExperimentOptions options;
  options.quick = true;
  options.folder = folder.path();
  options.progress = &quiet;
  for (const char* program : {"/bin/true", "/bin/false", "/nowhere/cotouch"}) {
    options.program = program;
    ExperimentReport report;
    EXPECT_THROW(measure_preparing(options, report), Error) << program;
  }
}

TEST(Seams, AValueBeyondItsBoundIsSaid) {
  ExperimentReport report;
  add_bounded(report, "within", 1.0, 1.01, "share");
  EXPECT_TRUE(report.notes.empty());
  add_bounded(report, "beyond", 1.02, 1.01, "share");
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0].find("beyond: 1.02 is more than the 1.01"), 0U) << report.notes[0];
  for (const ExperimentResult& result : report.results)
    EXPECT_NE(result.unit.find("at most 1.01"), std::string::npos) << result.unit;
  EXPECT_TRUE(report.failures.empty());
}

}  // namespace
}  // namespace cotouch::this_file
