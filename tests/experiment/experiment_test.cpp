// What scripts and readers get from an experiment.
#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/inputs.h>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cotouch::this_file {
namespace {

const Experiment& any_experiment() {
  return experiments().front();
}

TEST(ExperimentReport, JsonHasTheAgreedShape) {
  ExperimentReport report;
  report.add("row/with-both", 1.5, "us", 870.0, 20.0);
  report.add("row/alone", 3, "points");
  report.failures.push_back("A promise was not kept.");
  ExperimentOptions options;
  options.seed = 42;
  const auto json = nlohmann::json::parse(to_json(any_experiment(), options, report));
  EXPECT_EQ(json.at("experiment"), any_experiment().name);
  EXPECT_FALSE(json.at("machine").get<std::string>().empty());
  EXPECT_EQ(json.at("seed"), 42);
  ASSERT_EQ(json.at("results").size(), 2U);
  const auto& both = json["results"][0];
  EXPECT_EQ(both.at("name"), "row/with-both");
  EXPECT_EQ(both.at("value"), 1.5);
  EXPECT_EQ(both.at("unit"), "us");
  EXPECT_EQ(both.at("paper"), 870);
  EXPECT_EQ(both.at("peer"), 20);
  EXPECT_TRUE(json["results"][1].at("paper").is_null());
  EXPECT_TRUE(json["results"][1].at("peer").is_null());
  EXPECT_EQ(json.at("failures"), nlohmann::json(report.failures));
}

TEST(ExperimentReport, TableShowsThePaperBesideOurs) {
  ExperimentReport report;
  report.add("row/cycle", 130.4, "us", 870.0);
  report.notes.push_back("A stand-in was used.");
  report.failures.push_back("A promise was not kept.");
  report.add("row/nothing", -0.0, "N");
  const std::string table = format_table(any_experiment(), report);
  EXPECT_EQ(table.find("-0"), std::string::npos);
  const std::size_t line = table.find("row/cycle");
  ASSERT_NE(line, std::string::npos);
  const std::string row = table.substr(line, table.find('\n', line) - line);
  EXPECT_LT(row.find("130"), row.find("870"));
  EXPECT_NE(row.find("us"), std::string::npos);
  EXPECT_NE(table.find("A stand-in was used."), std::string::npos);
  EXPECT_NE(table.find("Failed: A promise was not kept."), std::string::npos);
}

TEST(ExperimentStatistics, PercentilesAreOrderStatistics) {
  // 0, 1, ... 100 in another order: the share s of a hundred steps is 100 s itself.
  std::vector<double> values;
  for (int i = 0; i <= 100; ++i) values.push_back((i * 37) % 101);
  EXPECT_EQ(percentile(values, 0), 0);
  EXPECT_EQ(percentile(values, 0.99), 99);
  EXPECT_EQ(percentile(values, 1), 100);
  EXPECT_EQ(median(values), 50);
  EXPECT_EQ(percentile({}, 0.5), 0);
}

}  // namespace
}  // namespace cotouch::this_file
