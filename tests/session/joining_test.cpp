// How programs get into a session: with or without its scene, through whom, and when there is no room.
#include <fstream>

#include "session/program.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
namespace fs = std::filesystem;

class JoiningSlow : public testing::Test {
 protected:
  void begin(Scene scene) {
    anna.host(std::move(scene));
    invite = anna.invite();
  }
  void enter(Program& program) const {
    program.join(invite);
    ASSERT_TRUE(eventually([&] { return program.status().state == SharingStatus::State::joined; }))
        << program.status().reason;
  }
  bool are_here(std::size_t count) const {
    return eventually([&] { return anna.people().size() == count; });
  }
  // Both know of each other, and both hands count.
  void take_part(Program& program) const {
    enter(program);
    ASSERT_TRUE(are_here(2));
    const Tick soon = program.session().agreed().tick + 200;
    ASSERT_TRUE(eventually([&] { return program.session().agreed().tick > soon; }));
  }

  Program anna{"Anna"}, ben{"Ben"};
  std::string invite;
};

bool has_fetched(const Program& program) {
  const std::vector<std::string> stages = program.stages();
  return std::find(stages.begin(), stages.end(), "fetching the scene") != stages.end();
}

TEST_F(JoiningSlow, ASceneIsFetchedOnceAndAgainOnlyIfItIsDamaged) {
  Scene scene = three_balls();
  scene.name = "unknown-here";
  begin(std::move(scene));
  enter(ben);
  EXPECT_TRUE(has_fetched(ben));
  ben.stop();
  ben.forget();
  enter(ben);
  EXPECT_FALSE(has_fetched(ben));
  ben.stop();
  ben.forget();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(ben.settings.received)) {
    if (entry.path().extension() != ".cot") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.write("damaged", 7);
  }
  enter(ben);
  EXPECT_TRUE(has_fetched(ben));
}

TEST_F(JoiningSlow, AFifthObserverIsToldThatTheSessionIsFull) {
  begin(three_balls());
  std::vector<std::unique_ptr<Program>> observers;
  for (std::size_t i = 0; i < 4; ++i) {
    observers.push_back(std::make_unique<Program>("Eve"));
    observers.back()->settings.observer = true;
    enter(*observers.back());
  }
  ASSERT_TRUE(are_here(5));
  ben.settings.observer = true;
  ben.join(invite);
  EXPECT_TRUE(eventually([&] { return ben.status().state == SharingStatus::State::failed; }));
  EXPECT_NE(ben.status().reason.find("session is full"), std::string::npos) << ben.status().reason;
  Program carl("Carl");  // there is room for hands
  enter(carl);
}

TEST_F(JoiningSlow, WhoeverAsksAMemberIsLetInByTheKeeper) {
  begin(three_balls());
  {
    const UdpSocket free({.loopback = true});
    ben.settings.udp.port = free.port();
  }
  take_part(ben);
  Invite through = parse_invite(invite, 0);
  through.host = Identity::load_or_make(ben.settings.identity).public_key();
  through.addresses = {NetAddress::v4({127, 0, 0, 1}, ben.settings.udp.port)};
  invite = format_invite(through);
  Program carl("Carl");
  enter(carl);
  EXPECT_TRUE(are_here(3));
  EXPECT_TRUE(eventually([&] { return ben.people().size() == 3; }));
}

TEST_F(JoiningSlow, ChatterIsCut) {
  begin(three_balls());
  take_part(ben);
  for (int i = 0; i < 60; ++i) ben.session().say("bla");
  ASSERT_TRUE(eventually([&] { return anna.lines().size() >= 40; }));
  ben.session().mark(2, {});
  ASSERT_TRUE(eventually([&] { return anna.marks() == 1; }));  // which comes after all of it
  EXPECT_LE(anna.lines().size(), 45U);
}

TEST_F(JoiningSlow, TwoProgramsAtFivePercentLossSendAtMost16KilobytesASecond) {
  begin(three_balls());
  NetworkProfile lossy = *find_network("lan");
  lossy.there.loss = lossy.back.loss = 0.05;
  anna.session().emulate(lossy);
  take_part(ben);
  // In each second, not in each quarter of which it is told: a program that a busy machine has stopped catches up.
  constexpr int k_quarters = 4;
  for (int second = 0; second < 5; ++second) {
    double of_anna = 0, of_ben = 0;
    for (int quarter = 0; quarter < k_quarters; ++quarter) {
      const Tick tick = anna.peers().tick;
      ASSERT_TRUE(eventually([&] { return anna.peers().tick > tick; }));
      of_anna += anna.peers().bytes_out / k_quarters;
      of_ben += ben.peers().bytes_out / k_quarters;
    }
    for (const double bytes : {of_anna, of_ben}) {
      EXPECT_LE(bytes, 16'000);
      EXPECT_GE(bytes, 2'000);
    }
  }
}

}  // namespace
}  // namespace cotouch::this_file
