// What was changed and not saved: drops add to it, nothing takes its place unless it is kept, and several are kept.
#include <cotouch/session/session.h>
#include <cotouch/session/unsaved_changes.h>

#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "session/session_fixture.h"
#include "support/child_process.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
namespace fs = std::filesystem;

class Problems final : public SessionListener {
 public:
  void problem(ParticipantId, const std::string& reason) override {
    const std::scoped_lock lock(mutex_);
    all_ += reason + "\n";
  }
  std::string all() const {
    const std::scoped_lock lock(mutex_);
    return all_;
  }

 private:
  mutable std::mutex mutex_;
  std::string all_;
};

// A program with a session, at a folder that others may use too.
class Program {
 public:
  explicit Program(const TemporaryFolder& folder, UnsavedLimits limits = {}, double unsaved_after = 0.05)
      : library_(folder / "scenes", limits) {
    ::setenv("COTOUCH_CACHE", (folder / "cache").c_str(), 1);
    SessionSettings settings;
    settings.recordings = folder / "recordings";
    settings.added.field.resolution = 16;
    settings.added.shell.points = 64;
    settings.unsaved_after = unsaved_after;
    settings.sharing.identity = folder / "identity";
    settings.sharing.received = folder / "received";
    settings.sharing.udp.loopback = true;
    session_ = std::make_unique<Session>(settings, library_);
    session_->add_listener(problems_);
    session_->start();
    ann_ = session_->join(ParticipantKind::page, "Ann");
  }
  ~Program() { session_->stop(); }

  CommandResult ask(SessionCommand command) { return session_->command_and_wait(ann_, std::move(command)); }
  bool open(const std::string& name) {
    const std::uint32_t before = session_->snapshot().generation;
    const CommandResult asked = ask(OpenScene{name});
    EXPECT_TRUE(asked.done()) << asked.reason;
    return asked.done() && eventually([&] { return session_->snapshot().generation > before; });
  }
  bool drop() {
    const std::size_t before = bodies();
    const auto box = [](Progress&) { return std::vector<AddedMesh>{{make_box({0.02, 0.02, 0.02})}}; };
    const CommandResult asked = ask(AddPart{"dropped", box});
    EXPECT_TRUE(asked.done()) << asked.reason;
    return asked.done() && eventually([&] { return bodies() == before + 1; });
  }
  // Empty if sharing does not begin.
  std::string share() {
    std::string invite;
    EXPECT_TRUE(ask(StartSharing{"Ann"}).done());
    EXPECT_TRUE(eventually([&] {
      invite = session_->snapshot().sharing.invite;
      return !invite.empty();
    }));
    return invite;
  }
  // Leads the body that the first hand holds 8 cm above the origin.
  void lead_up() {
    HandMotion motion{HandId{1}, session_->snapshot().generation, 1, 0, {{0, 0, 0.08}, {}}};
    EXPECT_EQ(session_->move_hand(ann_, motion), "");
  }
  bool is_up() {
    return eventually([&] { return session_->snapshot().bodies.at(0).pose.position.z > 0.07; });
  }
  Scene scene() { return session_->snapshot().scene->scene; }
  std::size_t bodies() { return scene().bodies.size(); }
  bool has_kept(std::size_t scenes) {
    return eventually([&] { return library_.unsaved().size() == scenes; });
  }
  std::vector<std::string> unsaved() { return library_.unsaved(); }
  Scene kept(std::size_t order) {
    NoProgress quiet;
    return library_.load(library_.unsaved().at(order), quiet);
  }
  std::string problems() const { return problems_.all(); }
  Session& session() { return *session_; }
  TestLibrary& library() { return library_; }
  ParticipantId ann() const { return ann_; }

 private:
  TestLibrary library_;
  Problems problems_;
  std::unique_ptr<Session> session_;
  ParticipantId ann_{};
};

class UnsavedTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(UnsavedTest, ADropAddsToABuiltInSceneAndWhatWasChangedInIt) {
  Program program(folder_);
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  ASSERT_TRUE(program.ask(SetGravity{1.62}).done());
  ASSERT_TRUE(program.drop());
  const Scene scene = program.scene();
  ASSERT_EQ(scene.bodies.size(), 5U);
  EXPECT_EQ(scene.bodies[0].name, "still");
  EXPECT_EQ(scene.bodies[4].name, "dropped");
  EXPECT_EQ(scene.bodies[4].motion, Motion::free);
  EXPECT_EQ(scene.gravity.z, -1.62);
  EXPECT_EQ(scene.name, "");  // it is the user's own now
  EXPECT_EQ(scene.title, three_balls().title);
  ASSERT_TRUE(program.open("three"));
  EXPECT_EQ(program.bodies(), 3U);
}

TEST_F(UnsavedTest, ADropThatDoesNotFitSaysSoAndLosesNothing) {
  Program program(folder_);
  Scene crowd = two_balls();
  while (crowd.bodies.size() < k_most_bodies) {
    SceneBody body = crowd.bodies[1];
    body.id = static_cast<BodyId>(crowd.bodies.size() + 1);
    body.pose.position.x = 0.05 * body.id;
    body.removable = true;
    crowd.bodies.push_back(std::move(body));
  }
  ASSERT_TRUE(program.ask(ShowScene{crowd}).done());
  const auto box = [](Progress&) { return std::vector<AddedMesh>{{make_box({0.02, 0.02, 0.02})}}; };
  EXPECT_NE(program.ask(AddPart{"dropped", box}).reason.find("The scene is full"), std::string::npos);
  ASSERT_TRUE(program.ask(RemoveBody{3}).done());
  const auto two = [](Progress&) { return std::vector<AddedMesh>(2, {make_box({0.02, 0.02, 0.02})}); };
  ASSERT_TRUE(program.ask(AddPart{"pair", two}).done());
  EXPECT_TRUE(eventually([&] { return program.problems().find("2 would come in") != std::string::npos; }));
  EXPECT_EQ(program.bodies(), k_most_bodies - 1);
}

TEST_F(UnsavedTest, EveryChangedSceneIsKeptWhateverIsOpenedInItsPlace) {
  {
    Program program(folder_, {}, 1000);  // before the time after which it would be kept anyway
    ASSERT_TRUE(program.open("three"));
    ASSERT_TRUE(program.ask(CopyBody{2}).done());
    ASSERT_TRUE(program.open("balls"));
    ASSERT_TRUE(program.drop());
    ASSERT_TRUE(program.drop());
    ASSERT_TRUE(program.ask(ShowScene{}).done());  // an empty one
    EXPECT_EQ(program.bodies(), 0U);
    ASSERT_TRUE(program.drop());
    EXPECT_EQ(program.scene().title, "My parts");
  }
  Program again(folder_);
  ASSERT_EQ(again.unsaved().size(), 3U);
  std::multiset<std::size_t> bodies;
  for (std::size_t i = 0; i < 3; ++i) bodies.insert(again.kept(i).bodies.size());
  EXPECT_EQ(bodies, (std::multiset<std::size_t>{1, 4, 4}));
  // And each can be gone on with.
  for (const std::string& name : again.unsaved()) {
    EXPECT_TRUE(again.open(name));
    EXPECT_EQ(again.scene().name, "");
  }
}

TEST_F(UnsavedTest, OneSceneStaysInOnePlaceHoweverOftenItChangesAndIsOpened) {
  std::string place;
  {
    Program program(folder_);
    ASSERT_TRUE(program.open("three"));
    ASSERT_TRUE(program.ask(CopyBody{2}).done());
    ASSERT_TRUE(program.has_kept(1));
    place = program.unsaved()[0];
    ASSERT_TRUE(program.drop());
    ASSERT_TRUE(eventually([&] { return program.kept(0).bodies.size() == 5; }));
    EXPECT_NE(program.ask(OpenScene{place}).reason.find("open already"), std::string::npos);
    EXPECT_FALSE(program.ask(DeleteScene{place}).done());
    ASSERT_TRUE(program.open("balls"));
    ASSERT_TRUE(program.open(place));
    ASSERT_TRUE(program.drop());
  }
  Program again(folder_);
  EXPECT_EQ(again.unsaved(), std::vector<std::string>{place});
  EXPECT_EQ(again.kept(0).bodies.size(), 6U);
  ASSERT_TRUE(again.open(place));
  ASSERT_TRUE(again.session().save_scene(again.ann(), "mine").done());
  EXPECT_TRUE(again.has_kept(0));
}

// An answer whose last copy the thread that has kept the scene forgets late: as if that thread did nothing for so long.
class SlowlyForgotten {
 public:
  SlowlyForgotten(std::set<std::thread::id> quick, std::shared_ptr<std::promise<CommandResult>> answer)
      : quick_(std::move(quick)), answer_(std::move(answer)) {}
  SlowlyForgotten(const SlowlyForgotten&) = default;
  SlowlyForgotten(SlowlyForgotten&&) = default;
  SlowlyForgotten& operator=(const SlowlyForgotten&) = delete;
  SlowlyForgotten& operator=(SlowlyForgotten&&) = delete;
  ~SlowlyForgotten() {
    if (answer_ && !quick_.contains(std::this_thread::get_id()))
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  }
  void operator()(const CommandResult& result) const { answer_->set_value(result); }

 private:
  std::set<std::thread::id> quick_;
  std::shared_ptr<std::promise<CommandResult>> answer_;
};

TEST_F(UnsavedTest, OneSceneStaysInOnePlaceThoughTheThreadThatKeptItIsSlow) {
  Program program(folder_, {}, 1000);
  std::promise<std::thread::id> thread;
  program.session().command(program.ann(), ResetTask{},
                            [&](const CommandResult&) { thread.set_value(std::this_thread::get_id()); });
  const std::set<std::thread::id> quick{std::this_thread::get_id(), thread.get_future().get()};
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  const auto answer = std::make_shared<std::promise<CommandResult>>();
  program.session().command(program.ann(), OpenScene{"balls"}, SlowlyForgotten(quick, answer));
  ASSERT_TRUE(answer->get_future().get().done());
  ASSERT_TRUE(eventually([&] { return program.bodies() == 2; }));
  const std::string place = program.unsaved().at(0);
  ASSERT_TRUE(program.open(place));
  ASSERT_TRUE(program.drop());
  program.session().stop();
  EXPECT_EQ(program.unsaved(), std::vector<std::string>{place});
  EXPECT_EQ(program.kept(0).bodies.size(), 5U);
}

TEST_F(UnsavedTest, SettingsAreKeptOfWhatIsOnesOwnAlsoAfterItWasRecorded) {
  Program program(folder_);
  const auto record = [&] { return program.ask(StartRecording{}).done() && program.ask(StopRecording{}).done(); };
  // Those of a scene that can be opened by its name are not.
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(record());
  ASSERT_TRUE(program.ask(ChangeSettings{.max_force = 3}).done());
  ASSERT_TRUE(program.open("balls"));
  EXPECT_TRUE(program.unsaved().empty());
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  ASSERT_TRUE(program.has_kept(1));
  ASSERT_TRUE(record());
  ASSERT_TRUE(program.ask(ChangeSettings{.max_force = 3}).done());
  EXPECT_TRUE(eventually([&] { return program.kept(0).coupling.max_force == 3; }));
  // One from somewhere else, which has no name until it is recorded.
  Scene file = three_balls();
  file.name.clear();
  ASSERT_TRUE(program.ask(ShowScene{file}).done());
  ASSERT_TRUE(record());
  ASSERT_TRUE(program.ask(ChangeSettings{.max_force = 4}).done());
  EXPECT_TRUE(program.has_kept(2));
}

TEST_F(UnsavedTest, AWorldThatIsJoinedAndWhatIsMadeOfItLeaveOnesOwnAsItWas) {
  const TemporaryFolder elsewhere;
  Program host(elsewhere), program(folder_);
  ASSERT_TRUE(host.open("balls"));
  ASSERT_TRUE(host.ask(StartSharing{"Ben"}).done());
  std::string invite;
  ASSERT_TRUE(eventually([&] {
    invite = host.session().snapshot().sharing.invite;
    return !invite.empty();
  }));
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  ASSERT_TRUE(program.has_kept(1));
  const std::string own = program.unsaved()[0];
  ASSERT_TRUE(program.ask(JoinSharing{invite, "Ann"}).done());
  ASSERT_TRUE(eventually([&] { return program.bodies() == 2; })) << program.problems();
  ASSERT_TRUE(program.ask(LeaveSharing{}).done());
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  EXPECT_TRUE(program.has_kept(2));
  NoProgress quiet;
  EXPECT_EQ(program.library().load(own, quiet).bodies.size(), 4U);
  EXPECT_EQ(program.kept(program.unsaved()[0] == own ? 1 : 0).bodies.size(), 3U);
}

TEST_F(UnsavedTest, TheOnePlaceOfEarlierVersionsIsFoundAndGoneOnWith) {
  save_scene(three_balls(), "unsaved", folder_ / "scenes/unsaved");
  {
    Program program(folder_);
    ASSERT_TRUE(program.open("unsaved"));
    EXPECT_EQ(program.bodies(), 3U);
    ASSERT_TRUE(program.ask(CopyBody{2}).done());
  }
  Program again(folder_);
  EXPECT_EQ(again.unsaved(), std::vector<std::string>{"unsaved"});
  EXPECT_EQ(again.kept(0).bodies.size(), 4U);
  ASSERT_TRUE(again.ask(DeleteScene{"unsaved"}).done());
  EXPECT_TRUE(again.unsaved().empty());
}

TEST_F(UnsavedTest, TwoProgramsDoNotOverwriteWhatTheOtherKeeps) {
  {
    Program first(folder_);
    ASSERT_TRUE(first.open("three"));
    ASSERT_TRUE(first.ask(CopyBody{2}).done());
  }
  {
    Program one(folder_), other(folder_);
    const std::string place = one.unsaved().at(0);
    ASSERT_TRUE(one.open(place));
    ASSERT_TRUE(other.open(place));
    ASSERT_TRUE(one.ask(SetGravity{1}).done());
    ASSERT_TRUE(other.ask(SetGravity{2}).done());
    ASSERT_TRUE(one.has_kept(2));
    const CommandResult refused = other.ask(DeleteScene{place});
    EXPECT_NE(refused.reason.find("open in another program"), std::string::npos) << refused.reason;
  }
  Program again(folder_);
  ASSERT_EQ(again.unsaved().size(), 2U);
  EXPECT_EQ(std::set({again.kept(0).gravity.z, again.kept(1).gravity.z}), (std::set{-1.0, -2.0}));
}

TEST_F(UnsavedTest, WhatCannotBeKeptIsNotReplacedUnlessItMayBeLost) {
  Program program(folder_, UnsavedLimits{.scenes = 1});
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  ASSERT_TRUE(program.open("balls"));
  ASSERT_TRUE(program.drop());
  EXPECT_TRUE(eventually([&] { return program.problems().find("1 unsaved scenes already") != std::string::npos; }));
  const std::vector<SessionCommand> replacing{OpenScene{"three"}, ShowScene{two_balls()}, JoinSharing{"x", "Ann"}};
  for (const SessionCommand& command : replacing) {
    const CommandResult refused = program.ask(command);
    EXPECT_EQ(refused.kind, CommandResult::Kind::unkept) << command.index();
    EXPECT_NE(refused.reason.find("1 unsaved scenes already"), std::string::npos) << refused.reason;
  }
  EXPECT_EQ(program.bodies(), 3U);
  EXPECT_EQ(program.kept(0).bodies.size(), 4U);
  ASSERT_TRUE(program.ask(OpenScene{"three", true}).done());
  EXPECT_TRUE(eventually([&] { return program.scene().name == "three"; }));
  // Room is made by whoever wants it.
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  EXPECT_FALSE(program.ask(OpenScene{"balls"}).done());
  ASSERT_TRUE(program.ask(DeleteScene{program.unsaved()[0]}).done());
  EXPECT_TRUE(program.open("balls"));
  EXPECT_EQ(program.unsaved().size(), 1U);
}

TEST_F(UnsavedTest, AProgramThatEndsSaysWhatItCouldNotKeep) {
  Program program(folder_, UnsavedLimits{.scenes = 0});
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  program.session().stop();
  EXPECT_NE(program.session().lost().find("0 unsaved scenes already"), std::string::npos);
  Program other(folder_, {});
  ASSERT_TRUE(other.open("three"));
  ASSERT_TRUE(other.ask(CopyBody{2}).done());
  other.session().stop();
  EXPECT_EQ(other.session().lost(), "");
}

TEST_F(UnsavedTest, WhereBodiesWereMovedByHandIsKeptWithTheScene) {
  Program program(folder_);
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  ASSERT_TRUE(program.has_kept(1));
  ASSERT_TRUE(program.ask(GraspBody{.body = 2}).done());
  HandMotion motion{HandId{1}, program.session().snapshot().generation, 1, 0, {{0, 0, 0.08}, {}}};
  ASSERT_EQ(program.session().move_hand(program.ann(), motion), "");
  const auto height = [&] { return program.session().snapshot().bodies.at(0).pose.position.z; };
  ASSERT_TRUE(eventually([&] { return height() > 0.07; }));
  ASSERT_TRUE(program.ask(ReleaseHand{}).done());
  ASSERT_TRUE(program.open("balls"));
  EXPECT_GT(program.kept(0).bodies[1].pose.position.z, 0.07);
}

// However long a hand holds on, and whatever is kept meanwhile.
TEST_F(UnsavedTest, WhereABodyWasMovedIsKeptThoughTheSceneWasKeptWhileItWasHeld) {
  enum class Ending : std::uint8_t { lets_go, leaves, holds_on };
  for (const Ending ending : {Ending::lets_go, Ending::leaves, Ending::holds_on}) {
    SCOPED_TRACE(static_cast<int>(ending));
    const TemporaryFolder folder;
    {
      Program program(folder);
      Session& session = program.session();
      const ParticipantId ben = session.join(ParticipantKind::page, "Ben");
      ASSERT_TRUE(program.open("three"));
      ASSERT_TRUE(program.ask(CopyBody{2}).done());
      ASSERT_TRUE(program.has_kept(1));
      ASSERT_TRUE(session.command_and_wait(ben, GraspBody{.body = 2}).done());
      ASSERT_TRUE(session.command_and_wait(ben, ChangeSettings{.max_force = 3}).done());
      ASSERT_TRUE(eventually([&] { return program.kept(0).coupling.max_force == 3; }));
      HandMotion motion{HandId{1}, session.snapshot().generation, 1, 0, {{0, 0, 0.08}, {}}};
      ASSERT_EQ(session.move_hand(ben, motion), "");
      ASSERT_TRUE(eventually([&] { return session.snapshot().bodies.at(0).pose.position.z > 0.07; }));
      if (ending == Ending::lets_go) session.command(ben, ReleaseHand{});
      if (ending == Ending::leaves) session.leave(ben);
      if (ending != Ending::holds_on) {
        ASSERT_TRUE(program.open("balls"));
      }
    }
    Program again(folder);
    ASSERT_EQ(again.unsaved().size(), 1U);
    EXPECT_GT(again.kept(0).bodies[1].pose.position.z, 0.07);
  }
}

TEST_F(UnsavedTest, WhereBodiesWereMovedBeforeASceneIsSharedTheyStay) {
  {
    Program host(folder_);
    ASSERT_TRUE(host.open("three"));
    ASSERT_TRUE(host.ask(CopyBody{2}).done());
    ASSERT_TRUE(host.has_kept(1));
    ASSERT_TRUE(host.ask(GraspBody{.body = 2}).done());
    host.lead_up();
    ASSERT_TRUE(host.is_up());
    ASSERT_TRUE(host.ask(ReleaseHand{}).done());
    const std::uint32_t generation = host.session().snapshot().generation;
    host.share();
    ASSERT_TRUE(eventually([&] { return host.session().snapshot().generation > generation; }));
    EXPECT_GT(host.session().snapshot().bodies.at(0).pose.position.z, 0.07);
  }
  Program again(folder_);
  EXPECT_GT(again.kept(0).bodies[1].pose.position.z, 0.07);
}

// The host's own hand touches nothing.
TEST_F(UnsavedTest, WhatGuestsMoveInTheHostsSceneIsKeptWithIt) {
  enum class Ending : std::uint8_t { leaves, ends };
  for (const Ending ending : {Ending::leaves, Ending::ends}) {
    SCOPED_TRACE(static_cast<int>(ending));
    const TemporaryFolder folder, elsewhere;
    {
      Program host(folder), guest(elsewhere);
      ASSERT_TRUE(host.open("three"));
      ASSERT_TRUE(host.ask(CopyBody{2}).done());
      ASSERT_TRUE(host.has_kept(1));
      ASSERT_TRUE(guest.ask(JoinSharing{host.share(), "Ben"}).done());
      ASSERT_TRUE(eventually([&] { return guest.bodies() == 4; })) << guest.problems();
      // What a hand takes before the others know that it is there is taken from it again.
      ASSERT_TRUE(eventually([&] {
        if (guest.session().snapshot().hands.empty()) guest.ask(GraspBody{.body = 2});
        const std::vector<HandView> hands = host.session().snapshot().hands;
        return !hands.empty() && hands[0].body == 2;
      }));
      guest.lead_up();
      ASSERT_TRUE(host.is_up());
      if (ending == Ending::leaves) {
        ASSERT_TRUE(host.ask(LeaveSharing{}).done());
        ASSERT_TRUE(host.open("balls"));
      }
      host.session().stop();
      guest.session().stop();
      EXPECT_TRUE(guest.unsaved().empty());
    }
    Program again(folder);
    ASSERT_EQ(again.unsaved().size(), 1U);
    EXPECT_GT(again.kept(0).bodies[1].pose.position.z, 0.07);
  }
}

TEST_F(UnsavedTest, SettingsOfOnesOwnSceneAreKeptAlsoWhileItIsShared) {
  const TemporaryFolder elsewhere;
  Program host(folder_), guest(elsewhere);
  ASSERT_TRUE(host.open("three"));
  ASSERT_TRUE(host.ask(CopyBody{2}).done());
  ASSERT_TRUE(host.has_kept(1));
  ASSERT_TRUE(guest.ask(JoinSharing{host.share(), "Ben"}).done());
  ASSERT_TRUE(eventually([&] { return guest.bodies() == 4; })) << guest.problems();
  ASSERT_TRUE(host.ask(ChangeSettings{.max_force = 3}).done());
  ASSERT_TRUE(guest.ask(ChangeSettings{.max_force = 4}).done());
  EXPECT_TRUE(eventually([&] { return host.kept(0).coupling.max_force == 3; }));
  guest.session().stop();
  EXPECT_TRUE(guest.unsaved().empty());
}

// Nobody answers, so the scene that was open stays open.
TEST_F(UnsavedTest, SettingsOfOnesOwnSceneAreKeptAlsoWhileAnotherOneIsAskedFor) {
  const TemporaryFolder elsewhere;
  std::string invite;
  {
    Program host(elsewhere);
    ASSERT_TRUE(host.open("balls"));
    invite = host.share();
  }
  Program program(folder_);
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(CopyBody{2}).done());
  ASSERT_TRUE(program.has_kept(1));
  ASSERT_TRUE(program.ask(JoinSharing{invite, "Ann"}).done());
  ASSERT_TRUE(program.ask(ChangeSettings{.max_force = 3}).done());
  EXPECT_TRUE(eventually([&] { return program.kept(0).coupling.max_force == 3; }));
}

// It is kept before the other scene is asked for, which may take seconds to come.
TEST_F(UnsavedTest, WhatIsMovedBetweenKeepingASceneAndReplacingItIsKeptToo) {
  const TemporaryFolder elsewhere;
  Program host(elsewhere);
  ASSERT_TRUE(host.open("balls"));
  for (const SessionCommand& command :
       {SessionCommand(ShowScene{two_balls()}), SessionCommand(JoinSharing{host.share(), "Ann"})}) {
    SCOPED_TRACE(command.index());
    const TemporaryFolder folder;
    Program program(folder, {}, 1000);
    std::promise<void> kept, moved;
    program.library().on_keeping = [&, first = true]() mutable {
      if (!std::exchange(first, false)) return;
      kept.set_value();
      moved.get_future().wait();
    };
    ASSERT_TRUE(program.open("three"));
    ASSERT_TRUE(program.ask(CopyBody{2}).done());
    ASSERT_TRUE(program.ask(GraspBody{.body = 2}).done());
    std::promise<CommandResult> answer;
    program.session().command(program.ann(), command, [&](const CommandResult& result) { answer.set_value(result); });
    kept.get_future().wait();
    program.lead_up();
    EXPECT_TRUE(program.is_up());
    moved.set_value();
    EXPECT_TRUE(answer.get_future().get().done());
    ASSERT_TRUE(eventually([&] { return program.bodies() == 2; })) << program.problems();
    program.session().stop();
    ASSERT_EQ(program.unsaved().size(), 1U);
    EXPECT_GT(program.kept(0).bodies[1].pose.position.z, 0.07);
  }
}

TEST_F(UnsavedTest, ASceneInWhichThingsWereOnlyMovedIsNotKept) {
  Program program(folder_);
  ASSERT_TRUE(program.open("three"));
  ASSERT_TRUE(program.ask(GraspBody{.body = 2}).done());
  ASSERT_TRUE(program.ask(ReleaseHand{}).done());
  ASSERT_TRUE(program.open("balls"));
  EXPECT_TRUE(program.unsaved().empty());
}

TEST_F(UnsavedTest, TogetherTheyTakeNoMoreThanTheyMay) {
  TestLibrary library(folder_ / "scenes", UnsavedLimits{.bytes = 1000});
  EXPECT_THROW(library.keep_unsaved(two_balls(), nullptr), Error);
  EXPECT_TRUE(library.unsaved().empty());
  // Room for one and a half.
  std::uint64_t bytes = 0;
  {
    TestLibrary large(folder_ / "scenes");
    const std::shared_ptr<UnsavedPlace> place = large.keep_unsaved(two_balls(), nullptr);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "scenes" / place->name()))
      if (entry.is_regular_file()) bytes += entry.file_size();
  }
  TestLibrary small(folder_ / "scenes", UnsavedLimits{.bytes = bytes * 3 / 2});
  EXPECT_THROW(small.keep_unsaved(two_balls(), nullptr), Error);
  const std::shared_ptr<UnsavedPlace> place = small.claim_unsaved(small.unsaved().at(0));
  ASSERT_TRUE(place);
  EXPECT_EQ(small.keep_unsaved(two_balls(), place), place);
}

// As an engine's own data may be, much larger than all the rest of its part.
TEST_F(UnsavedTest, WhatEnginesPreparedForThemselvesCountsToo) {
  TestLibrary library(folder_ / "scenes", UnsavedLimits{.bytes = 16U << 20U});
  Scene scene = two_balls();
  const auto bytes = std::make_shared<std::vector<std::byte>>(32U << 20U);
  const auto large = std::make_shared<Part>(*scene.bodies[1].parts[0].part);
  large->sections.emplace_back("test/large", *bytes, bytes);
  scene.bodies[1].parts[0].part = large;
  EXPECT_THROW(library.keep_unsaved(scene, nullptr), Error);
  EXPECT_TRUE(library.unsaved().empty());
  EXPECT_NE(library.keep_unsaved(two_balls(), nullptr), nullptr);  // without it there is room
}

TEST_F(UnsavedTest, DoNotCountAsSaved) {
  for (int i = 1; i < 200; ++i) fs::create_directories(folder_ / "scenes" / ("mine-" + std::to_string(i)));
  FolderLibrary library(folder_ / "scenes", nullptr);
  const std::shared_ptr<UnsavedPlace> place = library.keep_unsaved(two_balls(), nullptr);
  EXPECT_NO_THROW(library.save(two_balls(), "mine-200", Replacing::refused));
  EXPECT_THROW(library.save(two_balls(), "mine-201", Replacing::refused), Error);
}

// The time to keep it may come while it is being saved.
TEST_F(UnsavedTest, WhatWasSavedMeanwhileIsNotKeptBesides) {
  TestLibrary library(folder_ / "scenes");
  UnsavedChanges changes;
  changes.add({});
  const std::uint64_t count = changes.count();
  changes.saved(library, count);
  changes.keep(library, two_balls(), count);
  EXPECT_TRUE(library.unsaved().empty());
  changes.add({});
  changes.keep(library, two_balls(), changes.count());
  EXPECT_EQ(library.unsaved().size(), 1U);
}

// As when saving takes longer than what was changed meanwhile waits to be kept.
TEST_F(UnsavedTest, WhatWasChangedAndKeptWhileSavingStaysKept) {
  TestLibrary library(folder_ / "scenes");
  UnsavedChanges changes;
  changes.add({});
  const std::uint64_t being_saved = changes.count();
  changes.add({});
  changes.keep(library, two_balls(), changes.count());
  changes.saved(library, being_saved);
  EXPECT_EQ(library.unsaved().size(), 1U);
  EXPECT_TRUE(changes.are_kept());
  changes.saved(library, changes.count());
  EXPECT_TRUE(library.unsaved().empty());
}

// A program that was killed while it kept or deleted a scene: parts, and nothing that says what they make.
TEST_F(UnsavedTest, WhatIsLeftOfAHalfIsRemovedAtTheStartUnlessSomebodyWritesThere) {
  TestLibrary other(folder_ / "scenes");
  const std::shared_ptr<UnsavedPlace> being_written = other.keep_unsaved(two_balls(), nullptr);
  const fs::path scenes = folder_ / "scenes", written = scenes / being_written->name();
  fs::remove(written / "scene.toml");
  const fs::path half = scenes / "unsaved-20260131-101500", saved = scenes / "mine";
  for (const fs::path& folder : {half / "in-use", saved}) fs::create_directories(folder);
  fs::copy(written, half);
  save_scene(two_balls(), "unsaved", scenes / "unsaved");
  TestLibrary library(scenes);
  EXPECT_FALSE(fs::exists(half));
  EXPECT_TRUE(fs::exists(written));
  EXPECT_TRUE(fs::exists(saved));
  EXPECT_EQ(library.unsaved(), std::vector<std::string>{"unsaved"});
}

TEST_F(UnsavedTest, WhoeverWaitsForWhatIsDeletedMeanwhileGetsNothingAndLeavesNothing) {
  TestLibrary one(folder_ / "scenes"), other(folder_ / "scenes");
  std::shared_ptr<UnsavedPlace> place = one.keep_unsaved(two_balls(), nullptr);
  const std::string name = place->name();
  auto claimed = std::async(std::launch::async, [&] { return other.claim_unsaved(name); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  one.forget_unsaved(*place);
  EXPECT_EQ(claimed.get(), nullptr);
  place.reset();
  EXPECT_FALSE(fs::exists(folder_ / "scenes" / name));
}

TEST_F(UnsavedTest, IfOneCannotBeDeletedTheTrueReasonIsSaid) {
  save_scene(two_balls(), "unsaved", folder_ / "scenes/unsaved");
  std::ofstream(folder_ / "scenes/unsaved/in-use") << "A file, where a folder would be locked.";
  TestLibrary library(folder_ / "scenes");
  try {
    library.remove("unsaved");
    ADD_FAILURE() << "It was deleted.";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("another program"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("in-use"), std::string::npos) << error.what();
  }
}

TEST_F(UnsavedTest, AFullDiskLeavesWhatWasKeptBefore) {
  const int result = in_a_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    TestLibrary library(folder_ / "scenes");
    const std::shared_ptr<UnsavedPlace> place = library.keep_unsaved(two_balls(), nullptr);
    allow_bytes(500);
    int refused = 0;
    for (const auto& where : {place, std::shared_ptr<UnsavedPlace>()}) try {
        library.keep_unsaved(three_balls(), where);
      } catch (const Error& error) {
        refused += std::string(error.what()).find("Cannot write") == 0 ? 1 : 0;
      }
    const auto folders = std::distance(fs::directory_iterator(folder_ / "scenes"), fs::directory_iterator());
    return folders == 1 ? refused : -1;
  });
  EXPECT_EQ(result, 2);
  TestLibrary library(folder_ / "scenes");
  ASSERT_EQ(library.unsaved().size(), 1U);
  NoProgress quiet;
  EXPECT_EQ(library.load(library.unsaved()[0], quiet).bodies.size(), 2U);
}

TEST_F(UnsavedTest, NamesThatWereGivenBeforeStayThoseOfSavedScenes) {
  for (const char* name : {"unsaved", "unsaved-20260131-101500", "unsaved-20260131-101500-2"})
    EXPECT_TRUE(is_unsaved(name)) << name;
  for (const char* name : {"", "unsaved-", "unsaved-2", "unsaved-gear", "unsaved-20260131-10150", "my-unsaved",
                           "unsaved-20260131-101500-", "unsaved-20260131-101500-x", "unsaved-20260131-1015000"})
    EXPECT_FALSE(is_unsaved(name)) << name;
}

}  // namespace
}  // namespace cotouch::this_file
