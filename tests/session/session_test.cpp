// A session without a server: programs and pages take part through commands alone.
#include <cotouch/base/trig.h>
#include <cotouch/session/session.h>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "session/session_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// Remembers what it was told.
class Witness final : public SessionListener {
 public:
  void hand_changed(const HandEvent& event) override {
    const std::scoped_lock lock(mutex_);
    hands_.push_back(event);
  }
  void problem(ParticipantId, const std::string& reason) override {
    const std::scoped_lock lock(mutex_);
    problems_.push_back(reason);
  }
  void job_changed(const JobStatus& job) override {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(job);
  }
  void recordings_changed(const std::vector<RecordingEntry>& entries) override {
    const std::scoped_lock lock(mutex_);
    recordings_ = entries;
  }
  void scenes_changed() override {
    const std::scoped_lock lock(mutex_);
    ++scenes_changed_;
  }
  void people_changed(const std::vector<Participant>& people) override {
    const std::scoped_lock lock(mutex_);
    people_.push_back(people);
  }
  ViewDemand wanted() const override { return {true, false, false}; }
  void view(const SessionView& view) override {
    const std::scoped_lock lock(mutex_);
    view_ = view;
  }

  std::vector<HandEvent> hands() const { return copy(hands_); }
  std::vector<std::string> problems() const { return copy(problems_); }
  std::vector<JobStatus> jobs() const { return copy(jobs_); }
  std::vector<std::vector<Participant>> people() const { return copy(people_); }
  std::vector<RecordingEntry> recordings() const { return copy(recordings_); }
  SessionView view() const { return copy(view_); }
  int scene_changes() const { return copy(scenes_changed_); }

 private:
  template <class T>
  T copy(const T& what) const {
    const std::scoped_lock lock(mutex_);
    return what;
  }
  mutable std::mutex mutex_;
  std::vector<HandEvent> hands_;
  std::vector<std::string> problems_;
  std::vector<JobStatus> jobs_;
  std::vector<std::vector<Participant>> people_;  // as they were told
  std::vector<RecordingEntry> recordings_;
  SessionView view_;
  int scenes_changed_ = 0;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    ::setenv("COTOUCH_CACHE", (folder_ / "cache").c_str(), 1);
    SessionSettings settings;
    settings.recordings = folder_ / "recordings";
    settings.hand_patience = 60;
    settings.added.field.resolution = 16;
    settings.added.shell.points = 64;
    settings.sharing.identity = folder_ / "identity";
    settings.sharing.received = folder_ / "received";
    settings.sharing.udp.loopback = true;
    session_ = std::make_unique<Session>(settings, library_);
    session_->add_listener(witness_);
    session_->start();
    ann_ = session_->join(ParticipantKind::page, "Ann");
    bob_ = session_->join(ParticipantKind::page, "Bob");
    EXPECT_TRUE(asks(ann_, ShowScene{two_balls()}));
  }
  ~SessionTest() override { session_->stop(); }

  // Whether it was done.
  bool asks(ParticipantId who, SessionCommand command) {
    return session_->command_and_wait(who, std::move(command)).done();
  }
  void press(ParticipantId who) {
    HandMotion motion;
    motion.hand = HandId{1};
    motion.generation = session_->snapshot().generation;
    motion.pose.position = {0.002, 0, 0.03};
    session_->move_hand(who, motion);
  }
  double force() const {
    const SessionView view = witness_.view();
    return view.hands.empty() ? 0 : view.hands[0].felt.force.z;
  }
  static std::vector<AddedMesh> one_box() { return {{make_box({0.02, 0.02, 0.02})}}; }
  static AddPart small_box() {
    return {"box", [](Progress&) { return one_box(); }, {}};
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  Witness witness_;
  std::unique_ptr<Session> session_;
  ParticipantId ann_, bob_;
};

TEST_F(SessionTest, APressedBodyPushesBackWithNoServerAtAll) {
  const ParticipantId script = session_->join(ParticipantKind::program, "script");
  ASSERT_TRUE(asks(script, GraspBody{HandId{1}, 2, {}}));
  press(script);
  EXPECT_TRUE(eventually([&] { return force() > 1; }));
  const HandView hand = witness_.view().hands[0];
  EXPECT_EQ(hand.id, HandId{1});
  EXPECT_EQ(hand.holder, script);
  EXPECT_EQ(hand.holder_kind, ParticipantKind::program);
  EXPECT_EQ(hand.body, 2U);
  EXPECT_EQ(witness_.view().bodies.at(0).id, 2U);
  EXPECT_TRUE(eventually([&] { return witness_.view().bodies.at(0).touching; }));
  // Let go, there is no hand any more.
  EXPECT_TRUE(asks(script, ReleaseHand{}));
  EXPECT_TRUE(eventually([&] { return witness_.view().hands.empty(); }));
}

TEST_F(SessionTest, ASecondPageChangesNothingWhileTheFirstHolds) {
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  const FeelSettings before = session_->snapshot().feel;
  EXPECT_FALSE(asks(bob_, ChangeSettings{.contact_stiffness = 100'000}));
  EXPECT_FALSE(asks(bob_, ChangeSettings{.max_force = 8}));
  EXPECT_EQ(session_->snapshot().feel.contact_stiffness, before.contact_stiffness);
  EXPECT_FALSE(asks(bob_, ResetScene{}));
  EXPECT_FALSE(asks(bob_, OpenScene{"balls"}));
  EXPECT_FALSE(asks(bob_, StartRecording{}));
  EXPECT_FALSE(asks(bob_, small_box()));
  EXPECT_FALSE(asks(bob_, GraspBody{HandId{1}, 2, {}}));  // Ann's hand
  EXPECT_FALSE(asks(bob_, SetGravity{9.81}));
  EXPECT_FALSE(asks(bob_, SetBody{.body = 2, .density = 100}));
  EXPECT_FALSE(asks(bob_, CopyBody{2}));
  EXPECT_EQ(session_->snapshot().generation, 1U);
  EXPECT_TRUE(asks(ann_, ChangeSettings{.contact_stiffness = 20'000, .max_force = 3}));
  EXPECT_FALSE(asks(ann_, ChangeSettings{.max_force = 40}));
  EXPECT_TRUE(asks(ann_, ReleaseHand{HandId{1}}));
  EXPECT_TRUE(asks(bob_, ChangeSettings{.contact_stiffness = 15'000}));
}

TEST_F(SessionTest, OnlyWhatCanBePickedUpIsGrasped) {
  EXPECT_FALSE(asks(ann_, GraspBody{HandId{1}, 1, {}}));   // it rests
  EXPECT_FALSE(asks(ann_, GraspBody{HandId{99}, 2, {}}));  // there is no such hand
  EXPECT_FALSE(asks(ann_, GraspBody{.body = 2, .point = Vec3d{5, 0, 0}}));
  EXPECT_FALSE(asks(ParticipantId{99}, GraspBody{.body = 2}));
  EXPECT_FALSE(asks(ParticipantId::nobody, GraspBody{.body = 2}));
  EXPECT_TRUE(asks(ann_, GraspBody{HandId::none, 2, {}}));
  for (const HandEvent& event : witness_.hands())
    EXPECT_EQ(event.change, event.reason.empty() ? HandChange::granted : HandChange::refused);
  EXPECT_EQ(witness_.hands().back().hand, HandId{1});
  EXPECT_EQ(witness_.hands().back().body, 2U);
}

TEST_F(SessionTest, AHandIsMovedByItsHolderOnly) {
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  HandMotion elsewhere;
  elsewhere.hand = HandId{1};
  elsewhere.generation = session_->snapshot().generation;
  elsewhere.pose.position = {0.03, 0.03, 0.05};
  elsewhere.sequence = 7;
  for (const ParticipantId who : {bob_, ParticipantId::nobody}) session_->move_hand(who, elsewhere);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // many cycles
  const HandView hand = session_->snapshot().hands.at(0);
  EXPECT_EQ(hand.input_sequence, 0U);
  EXPECT_LT(norm(hand.pose.position - Vec3d{0, 0, 0.05}), 1e-6);  // where it took the ball
  press(ann_);
  ASSERT_TRUE(eventually([&] { return force() > 1; }));
  EXPECT_TRUE(asks(ann_, ReleaseHand{}));
  press(ann_);
  EXPECT_TRUE(session_->snapshot().hands.empty());
  HandMotion far;
  far.generation = 1;
  far.pose.position = {1000, 0, 0};
  EXPECT_FALSE(session_->move_hand(ann_, far).empty());
}

TEST_F(SessionTest, WhoLeavesLetsGo) {
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  EXPECT_FALSE(asks(bob_, ChangeSettings{.max_force = 3}));  // somebody holds a part
  session_->leave(ann_);
  EXPECT_TRUE(session_->snapshot().hands.empty());
  EXPECT_TRUE(asks(bob_, ChangeSettings{.max_force = 3}));
  EXPECT_TRUE(asks(bob_, GraspBody{.body = 2}));
  EXPECT_FALSE(asks(ann_, ResetScene{}));  // is no longer there
}

TEST_F(SessionTest, OthersStopAndDeleteARecordingOnlyAfterItsMakerLeft) {
  ASSERT_TRUE(asks(ann_, StartRecording{}));
  EXPECT_FALSE(asks(bob_, StopRecording{}));
  EXPECT_FALSE(asks(bob_, StartRecording{}));
  EXPECT_FALSE(asks(bob_, OpenScene{"balls"}));
  EXPECT_FALSE(asks(ann_, ChangeSettings{.max_force = 3}));
  ASSERT_TRUE(asks(ann_, StopRecording{}));
  ASSERT_TRUE(eventually([&] { return witness_.recordings().size() == 1; }));
  const std::string id = witness_.recordings()[0].id;
  EXPECT_FALSE(asks(bob_, DeleteRecording{id}));
  EXPECT_FALSE(asks(bob_, DeleteRecording{"nothing"}));
  session_->leave(ann_);
  EXPECT_TRUE(asks(bob_, DeleteRecording{id}));
  EXPECT_TRUE(witness_.recordings().empty());
}

TEST_F(SessionTest, NothingIsRecordedThatCouldNotBeListed) {
  // Beyond the list nobody could see it, delete it or count what it takes.
  std::filesystem::create_directories(folder_ / "recordings");
  for (int i = 1000; i < 1500; ++i) {
    std::ofstream(folder_ / ("recordings/old-" + std::to_string(i) + ".cotrec")) << "old";
    std::ofstream(folder_ / ("recordings/old-" + std::to_string(i) + ".json")) << "{}";
  }
  ASSERT_TRUE(asks(ann_, DeleteRecording{"old-1000"}));  // which lists them anew
  ASSERT_EQ(witness_.recordings().size(), 499U);
  EXPECT_TRUE(asks(ann_, StartRecording{}));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(asks(ann_, StopRecording{}));
  ASSERT_TRUE(eventually([&] { return witness_.recordings().size() == 500; }));
  const CommandResult refused = session_->command_and_wait(ann_, StartRecording{});
  EXPECT_FALSE(refused.done());
  EXPECT_NE(refused.reason.find("500 recordings"), std::string::npos) << refused.reason;
}

TEST_F(SessionTest, AFileOfMorePartsThanASceneHoldsIsRefusedBeforeTheyArePrepared) {
  const AddPart crowd{"crowd", [](Progress&) { return std::vector<AddedMesh>(1000, one_box()[0]); }, {}};
  ASSERT_TRUE(asks(ann_, crowd));
  const auto failed = [&] {
    const std::vector<JobStatus> jobs = witness_.jobs();
    return !jobs.empty() && jobs.back().state == JobState::failed;
  };
  ASSERT_TRUE(eventually(failed));
  EXPECT_NE(witness_.jobs().back().reason.find("1000 parts"), std::string::npos) << witness_.jobs().back().reason;
}

TEST_F(SessionTest, WhatSomebodyWaitsForIsMadeWithThePriorityOfViews) {
  // The scene is there, so whatever makes scenes has said by now how long others come first.
  const int most = std::max(5, ::getpriority(PRIO_PROCESS, 0));  // these tests may have been started as nice ones
  int threads = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const int niceness = ::getpriority(PRIO_PROCESS, static_cast<id_t>(std::stoi(task.path().filename())));
    EXPECT_LE(niceness, most) << task.path();
    ++threads;
  }
  EXPECT_GE(threads, 4);  // this one, the session's, the one that makes scenes, the one for files
}

TEST_F(SessionTest, RecordingASceneWithoutANameSavesItAndSaysSo) {
  Scene scene = two_balls();
  scene.name.clear();
  ASSERT_TRUE(asks(ann_, ShowScene{scene}));
  const int before = witness_.scene_changes();
  ASSERT_TRUE(asks(ann_, StartRecording{}));
  EXPECT_FALSE(session_->snapshot().scene->scene.name.empty());
  EXPECT_TRUE(eventually([&] { return witness_.scene_changes() == before + 1; }));
  ASSERT_TRUE(asks(ann_, StopRecording{}));
}

TEST_F(SessionTest, ASavedSceneIsDeletedByItsMakerUnlessItIsOpen) {
  EXPECT_FALSE(session_->save_scene(ann_, "../mine").done());
  const CommandResult saved = session_->save_scene(ann_, "mine");
  ASSERT_TRUE(saved.done()) << saved.reason;
  EXPECT_TRUE(std::filesystem::exists(saved.file));
  EXPECT_EQ(session_->save_scene(ann_, "mine").kind, CommandResult::Kind::exists);
  EXPECT_TRUE(session_->save_scene(ann_, "mine", Replacing::wanted).done());
  EXPECT_EQ(session_->save_scene(bob_, "mine", Replacing::wanted).kind, CommandResult::Kind::not_now);
  EXPECT_FALSE(asks(bob_, DeleteScene{"mine"}));
  ASSERT_TRUE(asks(ann_, OpenScene{"mine"}));
  ASSERT_TRUE(eventually([&] { return session_->snapshot().scene->scene.name == "mine"; }));
  EXPECT_FALSE(asks(ann_, DeleteScene{"mine"}));
  ASSERT_TRUE(asks(ann_, OpenScene{"balls"}));
  ASSERT_TRUE(eventually([&] { return session_->snapshot().scene->scene.name == "balls"; }));
  EXPECT_TRUE(asks(ann_, DeleteScene{"mine"}));
}

TEST_F(SessionTest, AJobIsCancelledByWhoStartedIt) {
  std::atomic<bool> go{false};
  AddPart slow = small_box();
  slow.meshes = [&go](Progress&) {
    EXPECT_TRUE(eventually([&] { return go.load(); }));
    return one_box();
  };
  const CommandResult started = session_->command_and_wait(ann_, slow);
  ASSERT_TRUE(started.done());
  ASSERT_EQ(session_->snapshot().jobs.size(), 1U);
  EXPECT_FALSE(asks(bob_, CancelJob{started.job}));
  EXPECT_TRUE(asks(ann_, CancelJob{started.job}));
  go = true;
  EXPECT_TRUE(eventually([&] { return session_->snapshot().jobs.empty(); }));
  EXPECT_TRUE(eventually([&] { return witness_.jobs().back().state == JobState::cancelled; }));
  EXPECT_FALSE(asks(ann_, CancelJob{started.job}));  // finished
  EXPECT_EQ(session_->snapshot().generation, 1U);
}

TEST_F(SessionTest, WhatIsReadyWhileSomebodyElseHoldsComesInWhenTheyLetGo) {
  std::atomic<bool> go{false};
  AddPart slow = small_box();
  slow.meshes = [&go](Progress&) {
    EXPECT_TRUE(eventually([&] { return go.load(); }));
    return one_box();
  };
  ASSERT_TRUE(asks(ann_, slow));
  ASSERT_TRUE(asks(bob_, GraspBody{.body = 2}));
  go = true;
  EXPECT_TRUE(eventually([&] { return !witness_.problems().empty(); }));
  EXPECT_EQ(session_->snapshot().generation, 1U);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(session_->snapshot().generation, 1U);
  ASSERT_TRUE(asks(bob_, ReleaseHand{}));
  EXPECT_TRUE(eventually([&] { return session_->snapshot().generation == 2; }));
  EXPECT_EQ(session_->snapshot().scene->scene.bodies.back().name, "box");
  // Whoever left in the meantime gets what they asked for all the same.
  ASSERT_TRUE(asks(ann_, small_box()));
  session_->leave(ann_);
  EXPECT_TRUE(eventually([&] { return session_->snapshot().generation == 3; }));
}

TEST_F(SessionTest, TwoPeopleHoldDifferentBodiesAndTheSameOne) {
  ASSERT_TRUE(asks(ann_, ShowScene{three_balls()}));
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  ASSERT_TRUE(asks(bob_, GraspBody{.body = 3, .point = Vec3d{0.01, 0, 0}}));
  ASSERT_TRUE(eventually([&] { return witness_.view().hands.size() == 2; }));
  EXPECT_EQ(witness_.view().hands[0].holder, ann_);
  EXPECT_EQ(witness_.view().hands[1].holder, bob_);
  EXPECT_EQ(witness_.view().hands[1].body, 3U);
  const auto lead = [&](ParticipantId who, std::uint32_t hand, const Vec3d& position) {
    HandMotion motion;
    motion.hand = HandId{hand};
    motion.generation = session_->snapshot().generation;
    motion.pose.position = position;
    session_->move_hand(who, motion);
  };
  lead(ann_, 1, {0, 0, 0.08});
  lead(bob_, 2, {0.10, 0, 0.08});
  const auto body = [&](std::size_t i) { return witness_.view().bodies.at(i).pose.position; };
  // Bob holds his ball a centimetre beside its middle.
  EXPECT_TRUE(eventually([&] {
    return norm(body(0) - Vec3d{0, 0, 0.08}) < 1e-3 && norm(body(1) - Vec3d{0.09, 0, 0.08}) < 1e-3;
  }));
  // Both on one body: it goes to the middle between what they want.
  ASSERT_TRUE(asks(bob_, ReleaseHand{}));
  ASSERT_TRUE(asks(bob_, GraspBody{.body = 2}));
  lead(bob_, 2, {0.004, 0, 0.08});
  EXPECT_TRUE(eventually([&] { return std::abs(body(0).x - 0.002) < 2e-4; }));
}

TEST_F(SessionTest, GravityActsOnWhatIsLetGo) {
  ASSERT_TRUE(asks(ann_, ShowScene{three_balls()}));
  EXPECT_FALSE(asks(ann_, SetGravity{50}));
  ASSERT_TRUE(eventually([&] { return witness_.view().bodies.size() == 2; }));
  EXPECT_EQ(witness_.view().bodies.at(1).pose.position.z, 0.05);  // nothing falls yet
  EXPECT_TRUE(asks(ann_, SetGravity{9.81}));
  EXPECT_TRUE(eventually([&] { return witness_.view().bodies.at(1).pose.position.z < -0.5; }));
  const SessionView view = witness_.view();
  EXPECT_GT(view.bodies.at(0).pose.position.z, view.bodies.at(1).pose.position.z);  // the other was held up
}

// In a hand that holds bodies with their mass, a body weighs its mass times gravity.
TEST_F(SessionTest, ABodyWeighsWhatItsMassAndGravitySay) {
  Scene scene = three_balls();
  for (SceneBody& body : scene.bodies) body.holding = Holding::dynamic;
  ASSERT_TRUE(asks(ann_, ShowScene{scene}));
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 3}));
  const auto weighs = [&](double newtons) {
    return eventually([&] { return std::fabs(force() + newtons) < 0.01 * newtons; });
  };
  EXPECT_FALSE(asks(ann_, SetBody{.body = 9, .density = 100}));
  EXPECT_TRUE(asks(ann_, SetBody{.body = 3, .mass = 0.5}));
  EXPECT_TRUE(asks(ann_, SetGravity{9.81}));
  EXPECT_TRUE(weighs(0.5 * 9.81)) << force();
  EXPECT_TRUE(asks(ann_, SetGravity{4})) << force();
  EXPECT_TRUE(weighs(0.5 * 4)) << force();
  EXPECT_TRUE(asks(ann_, SetBody{.body = 2, .mass = 0.1}));  // another one's mass is its own
  EXPECT_TRUE(asks(ann_, SetBody{.body = 3, .density = 10'000}));
  // A ball of 2 cm of such stuff; its field is a little off a ball's.
  EXPECT_TRUE(eventually([&] { return std::fabs(force() / (-10'000 * 4.0 / 3 * k_pi * 8e-6 * 4) - 1) < 0.03; }))
      << force();
}

TEST_F(SessionTest, ATaskWhoseBodyIsFixedIsGone) {
  Scene scene = three_balls();
  scene.editable = true;
  scene.task = Task{};
  scene.task->body = 2;
  ASSERT_TRUE(asks(ann_, ShowScene{scene}));
  EXPECT_TRUE(asks(ann_, SetBody{.body = 2, .motion = Motion::fixed}));
  EXPECT_FALSE(session_->snapshot().scene->scene.task);
}

TEST_F(SessionTest, ASceneThatCannotBeLeavesTheOldOneRunning) {
  const SessionSnapshot before = session_->snapshot();
  Scene scene = three_balls();
  scene.task = Task{};
  scene.task->body = 1;  // which is fixed
  EXPECT_FALSE(asks(ann_, ShowScene{scene}));
  EXPECT_EQ(session_->snapshot().generation, before.generation);
  EXPECT_EQ(session_->snapshot().scene, before.scene);
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  press(ann_);
  EXPECT_TRUE(eventually([&] { return force() > 1; }));
}

TEST_F(SessionTest, ACopyIsABodyOfItsOwn) {
  ASSERT_TRUE(asks(ann_, CopyBody{2}));
  const SessionSnapshot now = session_->snapshot();
  ASSERT_EQ(now.scene->scene.bodies.size(), 3U);
  const SceneBody& copy = now.scene->scene.bodies[2];
  EXPECT_EQ(copy.parts[0].part, now.scene->scene.bodies[1].parts[0].part);
  EXPECT_EQ(now.scene->parts[2].picture, now.scene->parts[1].picture);
  EXPECT_TRUE(asks(ann_, GraspBody{.body = copy.id}));
  EXPECT_TRUE(asks(ann_, RemoveBody{copy.id}));
  EXPECT_EQ(session_->snapshot().scene->scene.bodies.size(), 2U);
  EXPECT_FALSE(asks(ann_, RemoveBody{1}));
}

TEST_F(SessionTest, ACopyDoesNotFallPastTheTable) {
  // Ball 2 lies on the fixed one, ball 3 hangs beside it; a copy of 2 comes down on it.
  Scene scene = three_balls();
  scene.gravity = {0, 0, -9.81};
  scene.bodies[1].pose.position = {0, 0, 0.042};
  scene.bodies[2].motion = Motion::fixed;
  ASSERT_TRUE(asks(ann_, ShowScene{scene}));
  ASSERT_TRUE(asks(ann_, CopyBody{2}));
  const std::vector<SceneBody> bodies = session_->snapshot().scene->scene.bodies;
  ASSERT_EQ(bodies.size(), 4U);
  const Vec3d below = bodies[1].pose.position, copy = bodies[3].pose.position;
  EXPECT_NEAR(copy.x, below.x, 1e-9);
  EXPECT_NEAR(copy.y, below.y, 1e-9);
  EXPECT_GT(copy.z - below.z, 0.04);  // two radii
  EXPECT_LT(copy.z - below.z, 0.05);
}

TEST_F(SessionTest, ARecordingOfTwoHandsIsFeltAgainBitForBit) {
  ASSERT_TRUE(asks(ann_, ShowScene{three_balls()}));
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  ASSERT_TRUE(asks(ann_, StartRecording{}));
  ASSERT_TRUE(asks(bob_, GraspBody{.body = 3}));
  press(ann_);
  HandMotion motion;
  motion.hand = HandId{2};
  motion.generation = session_->snapshot().generation;
  motion.pose.position = {0.03, 0, 0.04};  // against Ann's ball
  session_->move_hand(bob_, motion);
  ASSERT_TRUE(eventually([&] {
    const SessionView view = witness_.view();
    return view.hands.size() == 2 && norm(view.hands[0].felt.force) > 0.5 && norm(view.hands[1].felt.force) > 0.5;
  }));
  ASSERT_TRUE(asks(ann_, StopRecording{}));
  ASSERT_TRUE(eventually([&] { return witness_.recordings().size() == 1; }));
  const Recording recording = read_recording(session_->recordings().file(witness_.recordings()[0].id));
  ASSERT_GT(recording.samples.size(), 10U);
  const auto scene = session_->scene_of(recording);
  ASSERT_NE(scene, nullptr);
  Replay replay(recording, recorded_model(recording, scene->scene));
  while (replay.next()) {
  }
  EXPECT_TRUE(replay.identical()) << "from sample " << replay.same();
}

TEST_F(SessionTest, EveryoneHasANameAndAColour) {
  session_->rename(bob_, "Bobby");
  const std::vector<Participant> people = session_->snapshot().people;
  const auto of = [&](ParticipantId id) {
    return *std::find_if(people.begin(), people.end(), [&](const Participant& p) { return p.id == id; });
  };
  EXPECT_EQ(of(ann_).name, "Ann");
  EXPECT_EQ(of(bob_).name, "Bobby");
  EXPECT_NE(of(ann_).color, of(bob_).color);
}

TEST_F(SessionTest, NamesThatChangeAllTheTimeAreToldNowAndThen) {
  const std::size_t before = witness_.people().size();
  for (int i = 1; i <= 1000; ++i) {
    session_->rename(bob_, "Bob " + std::to_string(i));
    session_->snapshot();  // which waits until it was done
  }
  EXPECT_TRUE(eventually([&] { return witness_.people().back().back().name == "Bob 1000"; }));
  EXPECT_LT(witness_.people().size() - before, 100U);
}

TEST_F(SessionTest, ATaskThatIsDoneLetsGoAndStays) {
  Scene scene = two_balls();
  scene.name = "dock";
  scene.task = Task{2, {{0, 0, 0.08}, {}}, 0.004, 0.1, "Up."};
  ASSERT_TRUE(asks(ann_, ShowScene{scene}));
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  HandMotion motion;
  motion.hand = HandId{1};
  motion.generation = session_->snapshot().generation;
  motion.pose.position = {0, 0, 0.08};
  session_->move_hand(ann_, motion);
  ASSERT_TRUE(eventually([&] { return witness_.view().task && witness_.view().task->state == TaskView::State::done; }));
  EXPECT_TRUE(eventually([&] { return witness_.view().hands.empty(); }));
  EXPECT_EQ(witness_.hands().back().change, HandChange::lost);
  EXPECT_FALSE(asks(bob_, GraspBody{.body = 2}));  // it is fixed now
  EXPECT_TRUE(asks(ann_, ResetTask{}));
  EXPECT_TRUE(eventually([&] { return witness_.view().task->state == TaskView::State::waiting; }));
}

// Twenty at once and two a second, each for themselves.
TEST_F(SessionTest, NobodySpeaksOrMarksFasterThanAnybodyCanFollow) {
  ASSERT_TRUE(asks(ann_, StartSharing{}));
  const auto begin = std::chrono::steady_clock::now();
  int said = 0;
  for (int i = 0; i < 60; ++i) said += asks(ann_, Say{"again"}) ? 1 : 0;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(said, 20);
  EXPECT_LE(said, 21 + 2 * seconds);
  EXPECT_TRUE(asks(bob_, PlaceMark{2, {}}));
  for (int i = 0; i < 60; ++i) said += asks(bob_, PlaceMark{2, {}}) ? 1 : 0;
  EXPECT_LE(said, 42 + 4 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

// Nothing came from others: there are none yet.
TEST_F(SessionTest, WhoeverHoldsSomethingWhenItIsSharedIsToldWhyItIsLetGo) {
  ASSERT_TRUE(asks(ann_, GraspBody{.body = 2}));
  ASSERT_TRUE(asks(ann_, StartSharing{}));
  ASSERT_TRUE(eventually([&] { return witness_.hands().back().change == HandChange::lost; }));
  EXPECT_EQ(witness_.hands().back().reason, "The scene is shared.");
}

}  // namespace
}  // namespace cotouch::this_file
