#include <cotouch/experiment/experiment.h>

#include <gtest/gtest.h>
#include <support/temporary_folder.h>

#include <map>

namespace cotouch::this_file {
namespace {

TEST(DeformedFieldExperiment, SeveralDomainsTakeTheMirroredLegsAway) {
  const TemporaryFolder folder;
  NoProgress quiet;
  ExperimentOptions options;
  options.quick = true;
  options.folder = folder.path();
  options.progress = &quiet;
  const ExperimentReport report = run_deformed_field(options);
  std::map<std::string, double> values;
  for (const ExperimentResult& result : report.results) values[result.name] = result.value;
  const double one = values.at("deformed-field/one-domain/false-contact-share");
  const double several = values.at("deformed-field/several-domains/false-contact-share");
  EXPECT_GT(one, 0);
  EXPECT_LT(several, 0.5 * one);
  EXPECT_LT(values.at("deformed-field/several-domains/mean-error-voxels"), 1);
  EXPECT_EQ(values.at("deformed-field/false-contact-share"), several);
  ASSERT_EQ(report.figures.size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(report.figures[0]));
}

}  // namespace
}  // namespace cotouch::this_file
