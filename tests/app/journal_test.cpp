// `cotouch journal` as users meet it.
#include <map>
#include <nlohmann/json.hpp>

#include "app/command_fixture.h"
#include "session/shared_journal.h"
#include "support/child_process.h"

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
  EXPECT_EQ(json["files"], Json::parse(R"(["a.journal"])"));
  EXPECT_EQ(json["notes"][0], Json::parse(R"({"tick": 0, "hand": 3, "kind": "joined", "text": "Ann"})"));
}

TEST_F(JournalCommandLine, SaysThatALogBelongsToIt) {
  // As a program that was killed, or found the disk full, leaves it: its connection is never closed.
  EXPECT_EQ(in_a_child([&] {
              Journal journal = Journal::open(folder_ / "a.journal");
              journal.note(99, "said", "the last");
              journal.flush();
              _exit(0);
              return 1;
            }),
            0);
  const Outcome words = run({"journal", "a.journal"});
  ASSERT_EQ(words.code, 0) << words.err;
  EXPECT_NE(words.out.find("a.journal and a.journal-wal, which belong together"), std::string::npos) << words.out;
  EXPECT_NE(words.out.find("the last"), std::string::npos) << words.out;
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

TEST_F(JournalCommandLine, TellsBranchesApartAndRecordsOne) {
  write_shared_journal(folder_ / "b.journal");
  {
    Journal journal = Journal::open(folder_ / "b.journal");
    journal.agree(70);
    ASSERT_TRUE(journal.branch_off(0xbeef, "nobody else is heard"));
  }
  const Outcome machine = run({"journal", "b.journal", "--json"});
  ASSERT_EQ(machine.code, 0) << machine.err;
  const Json json = Json::parse(machine.out);
  EXPECT_EQ(json["agreed_to_tick"], 70);
  EXPECT_EQ(json["stretches"], Json::parse(R"([{"from_tick": 0, "to_tick": 70}])"));
  ASSERT_EQ(json["branches"].size(), 1U);
  const Json& branch = json["branches"][0];
  EXPECT_EQ(branch["branch"], 1);
  EXPECT_EQ(branch["parent"], 0);
  EXPECT_EQ(branch["left_at_tick"], 70);
  EXPECT_EQ(branch["name"], "000000000000beef");
  EXPECT_EQ(branch["reason"], "nobody else is heard");
  EXPECT_EQ(branch["stretches"], Json::parse(R"([{"from_tick": 60, "to_tick": 100}])"));  // from the newest snapshot on
  EXPECT_EQ(branch["notes"].back(), Json::parse(R"({"tick": 80, "hand": 15, "kind": "left", "text": ""})"));

  const Outcome words = run({"journal", "b.journal"});
  ASSERT_EQ(words.code, 0) << words.err;
  for (const char* text :
       {"0 to 69, 0.7 s", "branch 1, not of the session: nobody else is heard", "at tick 70", "60 to 99, 0.4 s"})
    EXPECT_NE(words.out.find(text), std::string::npos) << text << " in\n" << words.out;

  for (const auto& [number, samples] : std::map<std::string, int>{{"0", 70}, {"1", 40}}) {
    SCOPED_TRACE(number);
    const Outcome made = run({"journal", "b.journal", "--export", number + ".cotrec", "--branch", number});
    ASSERT_EQ(made.code, 0) << made.err;
    const Outcome played = run({"replay", number + ".cotrec", "--json"});
    ASSERT_EQ(played.code, 0) << played.err;
    EXPECT_EQ(Json::parse(played.out)["identical"], true);
    EXPECT_EQ(Json::parse(played.out)["samples"], samples);
  }
  expect_one_sentence(run({"journal", "b.journal", "--export", "c.cotrec", "--branch", "2"}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "c.cotrec"));
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
