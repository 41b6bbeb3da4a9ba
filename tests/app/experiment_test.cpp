// What the command makes of experiments.
#include <cotouch/experiment/experiment.h>

#include "app/command_fixture.h"

namespace cotouch::this_file {
namespace {

using testing_app::Command;
using testing_app::expect_one_sentence;
using testing_app::Outcome;

TEST_F(Command, ExperimentsAreListedAndAnUnknownOneIsAnsweredWithTheList) {
  const Outcome list = run({"experiment"});
  EXPECT_EQ(list.code, 0);
  const Outcome unknown = run({"experiment", "alchemy"});
  EXPECT_EQ(unknown.code, 2);
  for (const Experiment& experiment : experiments()) {
    EXPECT_NE(list.out.find(experiment.name), std::string::npos);
    EXPECT_NE(unknown.err.find(experiment.name), std::string::npos);
  }
}

TEST_F(Command, AnExperimentKnowsBeforeItRunsThatItsResultsCannotBeWritten) {
  expect_one_sentence(run({"experiment", "detail", "--json", "no-such-folder/detail.json"}));
  EXPECT_TRUE(files().empty());
}

TEST_F(Command, AnExperimentMayWriteItsResultsBesideItsFigures) {
  // Interrupted once it is under way, which is all that matters here: the folder was not refused.
  const Outcome outcome =
      run({"experiment", "detail", "--quick", "--folder", "new", "--json", "new/detail.json"}, SIGINT);
  EXPECT_EQ(outcome.err.find("Cannot write"), std::string::npos) << outcome.err;
  EXPECT_EQ(files(), std::vector<std::string>{"new"});
}

}  // namespace
}  // namespace cotouch::this_file
