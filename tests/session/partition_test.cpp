// Programs that do not hear each other for a while.
#include "session/program.h"

namespace cotouch {
namespace {

using namespace testing_session;

class PartitionSlow : public testing::Test {
 protected:
  void SetUp() override {
    for (Program* program : {&anna, &ben}) {
      program->settings.peer.patience = 0.5;
      program->settings.peer.patience_alone = 2;
    }
    anna.host(three_balls());
    ben.join(anna.invite());
    ASSERT_TRUE(eventually([&] { return are(2); })) << ben.status().reason;
    pass(200);
  }
  bool are(std::size_t count) const { return anna.people().size() == count && ben.people().size() == count; }
  void pass(Tick ticks) {
    const Tick end = anna.session().agreed().tick + ticks;
    ASSERT_TRUE(eventually([&] { return anna.session().agreed().tick >= end && ben.session().agreed().tick >= end; }));
  }
  void cut_ben_off() {
    NetworkProfile nothing = *find_network("perfect");
    nothing.name = "nothing";
    nothing.there.loss = nothing.back.loss = 1;
    ben.session().emulate(nothing);
  }
  // One session again: the same people, and the same states from now on.
  void expect_one_session() {
    ben.session().emulate(*find_network("perfect"));
    ASSERT_TRUE(eventually([&] { return are(2) && ben.status().state == SharingStatus::State::joined; }));
    EXPECT_TRUE(ben.was_told("The others went on without this program"));
    EXPECT_TRUE(anna.was_told("Ben was not heard for a while"));
    EXPECT_FALSE(anna.was_told("went on without"));
    const Tick together = anna.session().agreed().tick;
    pass(200);
    const std::map<Tick, std::uint64_t> theirs = ben.hashes();
    std::size_t compared = 0;
    for (const auto& [tick, hash] : anna.hashes())
      if (const auto found = theirs.find(tick); tick > together && found != theirs.end()) {
        EXPECT_EQ(hash, found->second) << "tick " << tick;
        ++compared;
      }
    EXPECT_GT(compared, 100U);
  }

  Program anna{"Anna"}, ben{"Ben"};
};

TEST_F(PartitionSlow, WhoeverWasCutOffJoinsAgain) {
  cut_ben_off();
  ASSERT_TRUE(eventually([&] { return anna.people().size() == 1; }));
  expect_one_session();
}

TEST_F(PartitionSlow, BothGoOnAloneAndThenTogether) {
  cut_ben_off();
  ASSERT_TRUE(eventually([&] { return are(1); }));
  const Tick tick = ben.session().agreed().tick;
  ASSERT_TRUE(eventually([&] { return ben.session().agreed().tick > tick + 100; }));
  expect_one_session();
}

}  // namespace
}  // namespace cotouch
