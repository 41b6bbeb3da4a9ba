// Programs that do not hear each other for a while.
#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class PartitionSlow : public testing::Test {
 protected:
  void SetUp() override {
    for (Program* program : {&anna, &ben}) {
      program->settings.peer.patience = 0.5;
      program->settings.peer.patience_alone = 2;
    }
    meet(anna, ben);
    pass(anna, ben, 200);
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
    ASSERT_TRUE(eventually([&] { return are_two(anna, ben) && ben.status().state == SharingStatus::State::joined; }));
    EXPECT_TRUE(ben.was_told("The others went on without this program"));
    EXPECT_TRUE(anna.was_told("Ben was not heard for a while"));
    EXPECT_FALSE(anna.was_told("went on without"));
    const Tick together = anna.session().agreed().tick;
    pass(anna, ben, 200);
    EXPECT_GT(agreed_ticks(anna, ben, together + 1), 100U);
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
  ASSERT_TRUE(eventually([&] { return anna.people().size() == 1 && ben.people().size() == 1; }));
  const Tick tick = ben.session().agreed().tick;
  ASSERT_TRUE(eventually([&] { return ben.session().agreed().tick > tick + 100; }));
  expect_one_session();
}

}  // namespace
}  // namespace cotouch::this_file
