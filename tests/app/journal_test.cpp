// `cotouch journal` as users meet it.
#include <nlohmann/json.hpp>

#include "app/command_fixture.h"
#include "session/shared_journal.h"

namespace cotouch::this_file {
using namespace cotouch::testing_app;
using namespace cotouch::testing_session;

namespace {

using Json = nlohmann::json;

class JournalCommandLine : public Command {
 protected:
  void SetUp() override {
    save_scene(two_balls(), "balls", folder_ / ".state/cotouch/scenes/balls");
    write_shared_journal(folder_ / "a.journal", 20, 45);
  }
};

TEST_F(JournalCommandLine, SaysWhatIsInIt) {
  const Outcome words = run({"journal", "a.journal"});
  ASSERT_EQ(words.code, 0) << words.err;
  for (const char* text : {"c0ffee", "balls", "0 to 19, 0.2 s", "45 to 99, 0.6 s", "the newest of tick 90",
                           "0.00 s  Ann joined\n", "0.60 s  Ann said: push[31m  harder\n"})
    EXPECT_NE(words.out.find(text), std::string::npos) << text << " in\n" << words.out;
  EXPECT_EQ(words.out.find('\x1b'), std::string::npos);

  const Outcome machine = run({"journal", "a.journal", "--json"});
  ASSERT_EQ(machine.code, 0) << machine.err;
  const Json json = Json::parse(machine.out);
  EXPECT_EQ(json["session"], "c0ffee");
  EXPECT_EQ(json["stretches"], Json::parse(R"([{"from_tick": 0, "to_tick": 20}, {"from_tick": 45, "to_tick": 100}])"));
  EXPECT_EQ(json["notes"][0], Json::parse(R"({"tick": 0, "hand": 3, "kind": "joined", "text": "Ann"})"));
}

TEST_F(JournalCommandLine, MakesARecordingThatReplaysTheSame) {
  const Outcome made = run({"journal", "a.journal", "--export", "a.cotrec"});
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome played = run({"replay", "a.cotrec", "--json"});
  ASSERT_EQ(played.code, 0) << played.err;
  const Json json = Json::parse(played.out);
  EXPECT_EQ(json["identical"], true);
  EXPECT_EQ(json["samples"], 55);
}

TEST_F(JournalCommandLine, RefusesWhatIsNoJournalInOneSentence) {
  write("text.journal", "something else");
  expect_one_sentence(run({"journal", "text.journal"}));
  expect_one_sentence(run({"journal", "missing.journal", "--json"}));
  expect_one_sentence(run({"journal", "a.journal", "--export", "./a.journal"}));
  Scene other = two_balls();
  other.bodies[1].density = 2000;
  save_scene(other, "other", folder_ / ".state/cotouch/scenes/other");
  expect_one_sentence(run({"journal", "a.journal", "--export", "a.cotrec", "--scene", "other", "--json"}));
}

}  // namespace

}  // namespace cotouch::this_file
