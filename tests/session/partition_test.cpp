// Programs that do not hear each other for a while.
#include <future>

#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class PartitionSlow : public testing::Test {
 protected:
  void SetUp() override {
    for (Program* program : {&anna, &ben}) {
      program->settings.peer.patience = k_patience;
      program->settings.peer.patience_alone = 4;
    }
    anna.settings.peer.patience = patience_of_anna;
    meet(anna, ben);
    pass(anna, ben, 200);
  }
  void cut_ben_off() { lose_of_ben(1, 1); }
  // So much of what he sends and of what he is sent.
  void lose_of_ben(double there, double back) {
    NetworkProfile lossy = *find_network("perfect");
    lossy.name = "lossy";
    lossy.there.loss = there;
    lossy.back.loss = back;
    ben.session().emulate(lossy);
  }
  // The number behind these words; 0 if he was not told them.
  Tick tick_told(const std::string& words) const {
    for (const std::string& sentence : ben.problems())
      if (const std::size_t found = sentence.find(words); found != std::string::npos)
        return std::stoll(sentence.substr(found + words.size()));
    return 0;
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

  static constexpr double k_patience = 1.5;  // seconds; a busy machine may stop either of them for a part of that
  Program anna{"Anna"}, ben{"Ben"};
  double patience_of_anna = k_patience;
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
  EXPECT_GT(tick_told("goes on alone from tick "), 0);
  EXPECT_EQ(tick_told("What happened here from tick "), tick_told("goes on alone from tick "));
}

// A recording is one stretch of the session, or of a branch.
TEST_F(PartitionSlow, ARecordingEndsWhereABranchBegins) {
  const std::filesystem::path file = ben.folder() / "ben.cotrec";
  std::promise<void> finished;
  const auto stream =
      std::make_shared<RecordingStream>(file, 1U << 30U, [&](const RecordingStream::Result&) { finished.set_value(); });
  const Tick before = ben.session().agreed().tick;
  ben.session().record("three", stream);
  pass(anna, ben, 100);
  cut_ben_off();
  ASSERT_TRUE(eventually([&] { return tick_told("goes on alone from tick ") > 0; }));
  const Tick from = tick_told("goes on alone from tick ");
  const Tick window = ben.settings.peer.rollback.window;
  ASSERT_TRUE(eventually([&] { return ben.session().agreed().tick > from + 2 * window; }));
  ben.session().stop_recording();
  finished.get_future().wait();
  const auto ticks = static_cast<Tick>(read_recording(file).length());
  EXPECT_GT(ticks, 50);
  EXPECT_LE(ticks, from + window - before);
  EXPECT_TRUE(ben.was_told("The recording ends here, because what follows is not the session's but the branch's"));
}

// She does not drop him before he hears nothing any more, however slow this machine is.
class PartitionOneWaySlow : public PartitionSlow {
 protected:
  PartitionOneWaySlow() { patience_of_anna = 60; }
};

// He still hears Anna for a while, so that a window of ticks is objective for him which she does not have, and before
// which she would end his inputs.
TEST_F(PartitionOneWaySlow, WhatABranchAgreesOnIsCalledItsOwnFromTheTickOnThatItNames) {
  lose_of_ben(1, 0);
  ASSERT_TRUE(eventually([&] { return !anna.peers().waiting_for.empty(); }));
  cut_ben_off();
  ASSERT_TRUE(eventually([&] { return tick_told("goes on alone from tick ") > 0; }));
  const Tick from = tick_told("goes on alone from tick ");
  ASSERT_TRUE(eventually([&] { return ben.session().agreed().tick > from + 200; }));
  Tick last_of_the_session = 0, first_of_the_branch = k_never;
  for (const AgreedTick& agreed : ben.all_agreed())
    if (agreed.branch == 0)
      last_of_the_session = std::max(last_of_the_session, agreed.tick);
    else
      first_of_the_branch = std::min(first_of_the_branch, agreed.tick);
  EXPECT_EQ(last_of_the_session, from);
  EXPECT_EQ(first_of_the_branch, from + 1);
}

}  // namespace
}  // namespace cotouch::this_file
