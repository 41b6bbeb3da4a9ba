#include <cotouch/experiment/modal_table.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <map>

namespace cotouch::this_file {
namespace {

TEST(ModalTable, ARowSaysWhatTheIssueAsksFor) {
  ModalRow row;
  row.name = "ball";
  row.note = "a ball stands in";
  row.surface = make_sphere(0.05, 3);
  row.target_tets = 2000;
  row.modes = 12;
  NoProgress quiet;
  ExperimentOptions options;
  options.quick = true;
  options.progress = &quiet;
  ExperimentReport report;
  add_modal_row(row, options, report);
  std::map<std::string, double> values;
  for (const ExperimentResult& result : report.results) {
    values[result.name] = result.value;
    EXPECT_FALSE(result.paper) << result.name;
  }
  EXPECT_NEAR(values.at("ball/tets"), 2000, 0.1 * 2000);
  EXPECT_EQ(values.at("ball/modes"), 12);
  EXPECT_GT(values.at("ball/precompute-s"), 0);
  EXPECT_GT(values.at("ball/surface-updates-per-s"), 100);
  EXPECT_GT(values.at("ball/touch-step-p99-us"), 0);
  EXPECT_GE(values.at("ball/touch-step-p99-us"), values.at("ball/touch-step-p50-us"));
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0], "ball: a ball stands in");
}

}  // namespace
}  // namespace cotouch::this_file
