// What a session does not lose, and what does not hold it up: recordings and parts after a crash, the scene that was
// open if another cannot be opened, a hand that is let go while the session is busy, and a mesh that takes for ever.
#include <cotouch/session/session.h>

#include <cotouch/base/invariant.h>

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "session/session_fixture.h"
#include "session/shared_recording.h"
#include "support/child_process.h"
#include "support/eventually.h"
#include "support/heap.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
namespace fs = std::filesystem;

class Witness final : public SessionListener {
 public:
  void problem(ParticipantId, const std::string& reason) override {
    const std::scoped_lock lock(mutex_);
    problems_ += reason + "\n";
  }
  void recordings_changed(const std::vector<RecordingEntry>& entries) override {
    const std::scoped_lock lock(mutex_);
    recordings_ = entries;
  }
  void job_changed(const JobStatus& job) override {
    const std::scoped_lock lock(mutex_);
    if (job.state == JobState::failed) problems_ += job.reason + "\n";
  }
  ViewDemand wanted() const override { return {true, false, false}; }
  void view(const SessionView& view) override {
    const std::scoped_lock lock(mutex_);
    view_ = view;
    ++views_;
  }
  template <class T>
  T get(T Witness::*what) const {
    const std::scoped_lock lock(mutex_);
    return this->*what;
  }
  bool was_told(const std::string& words) const { return get(&Witness::problems_).find(words) != std::string::npos; }

  std::string problems_;
  std::vector<RecordingEntry> recordings_;
  SessionView view_;
  int views_ = 0;

 private:
  mutable std::mutex mutex_;
};

// A disk that answers when it is told to.
class HangingLibrary final : public SceneLibrary {
 public:
  explicit HangingLibrary(fs::path folder) : library_(std::move(folder)) {}
  std::atomic<bool> hangs{false}, loading_hangs{false};
  std::atomic<int> hanging{0}, calls{0};

  std::vector<SceneEntry> list() override { return library_.list(); }
  Scene load(const std::string& name, Progress& progress) override {
    while (loading_hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return library_.load(name, progress);
  }
  std::string thumbnail(const std::string& name) override { return library_.thumbnail(name); }
  fs::path save(const Scene& scene, const std::string& name, Replacing replacing) override {
    hang();
    return library_.save(scene, name, replacing);
  }
  std::shared_ptr<UnsavedPlace> keep_unsaved(const Scene& scene, std::shared_ptr<UnsavedPlace> place) override {
    hang();
    return library_.keep_unsaved(scene, std::move(place));
  }
  std::shared_ptr<UnsavedPlace> claim_unsaved(const std::string& name) override { return library_.claim_unsaved(name); }
  void forget_unsaved(const UnsavedPlace& place) override {
    hang();
    library_.forget_unsaved(place);
  }
  void remove(const std::string& name) override {
    hang();
    library_.remove(name);
  }

 private:
  void hang() {
    ++hanging;
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --hanging;
    ++calls;
  }
  TestLibrary library_;
};

class CrashTest : public ::testing::Test {
 protected:
  CrashTest() {
    ::setenv("COTOUCH_CACHE", (folder_ / "cache").c_str(), 1);
    settings_.recordings = folder_ / "recordings";
    settings_.added.field.resolution = 16;
    settings_.added.shell.points = 64;
    settings_.unsaved_after = 0.05;
  }
  ~CrashTest() override {
    if (session_) session_->stop();
  }
  void start() {
    session_ = std::make_unique<Session>(settings_, library_);
    session_->add_listener(witness_);
    session_->start();
    ann_ = session_->join(ParticipantKind::page, "Ann");
  }
  // However long a busy machine makes a scene, for which everything else waits.
  CommandResult ask(SessionCommand command) {
    const auto promise = std::make_shared<std::promise<CommandResult>>();
    std::future<CommandResult> answer = promise->get_future();
    session_->command(ann_, std::move(command), [promise](const CommandResult& result) { promise->set_value(result); });
    return answer.get();
  }
  std::string open_scene() { return session_->snapshot().scene->scene.name; }
  std::size_t bodies() { return session_->snapshot().scene->scene.bodies.size(); }
  static AddPart box(const char* name = "box") {
    return {name, [](Progress&) { return std::vector<AddedMesh>{{make_box({0.02, 0.02, 0.02})}}; }};
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  SessionSettings settings_;
  Witness witness_;
  std::unique_ptr<Session> session_;
  ParticipantId ann_{};
};

TEST_F(CrashTest, AKilledProgramLosesNeitherTheRecordingNorThePartsThatWereNotSaved) {
  constexpr double k_recorded = 0.5;  // seconds in each recording
  const pid_t child = fork();
  if (child == 0) {
    start();
    ask(ShowScene{three_balls()});
    ask(StartRecording{});
    eventually([&] { return session_->snapshot().recording_seconds > k_recorded; });
    ask(StopRecording{});
    ask(CopyBody{2});
    ask(StartRecording{});  // of a scene without a name
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const auto recordings = [&] {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator it(settings_.recordings, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".cotrec") found.push_back(it->path());
    return found;
  };
  // The first is whole then, and so is as much of the second, whose cycles take some more bytes: it has one body more.
  const auto are_written = [&] {
    const std::vector<fs::path> found = recordings();
    if (found.size() != 2) return false;
    const auto by_id = [](const fs::path& a, const fs::path& b) { return a.stem() < b.stem(); };
    const auto [first, second] = std::minmax(found[0], found[1], by_id);
    return fs::exists(fs::path(first).replace_extension(".json")) && fs::file_size(second) >= fs::file_size(first);
  };
  const bool ready = eventually([&] { return !library_.unsaved().empty() && are_written(); });
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(ready);

  start();
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::recordings_).size() == 2; }));
  const std::vector<RecordingEntry> entries = witness_.get(&Witness::recordings_);
  const bool newest = entries[0].id > entries[1].id;
  EXPECT_TRUE(entries[newest ? 0 : 1].recovered);
  EXPECT_GT(entries[newest ? 0 : 1].seconds, k_recorded / 2);
  EXPECT_FALSE(entries[newest ? 1 : 0].recovered);
  EXPECT_GT(entries[newest ? 1 : 0].seconds, k_recorded);
  EXPECT_TRUE(eventually([&] { return witness_.was_told("broke off"); }));
  for (const RecordingEntry& entry : entries) {
    const Recording recording = read_recording(session_->recordings().file(entry.id));
    NoProgress quiet;
    const Scene scene = library_.load(parse_recorded_scene(recording.scene).name, quiet);
    Replay replay(recording, recorded_model(recording, scene));
    while (replay.next()) {
    }
    EXPECT_TRUE(replay.identical()) << entry.id;
  }
  ASSERT_TRUE(ask(OpenScene{library_.unsaved().at(0)}).done());
  EXPECT_TRUE(eventually([&] { return bodies() == 4; }));
}

TEST_F(CrashTest, ADroppedPartIsKeptWithoutBeingSaved) {
  start();
  ASSERT_TRUE(ask(box("dropped")).done());
  const auto kept_name = [&]() -> std::string {
    if (library_.unsaved().empty()) return {};
    NoProgress quiet;
    return library_.load(library_.unsaved()[0], quiet).bodies.at(0).name;
  };
  EXPECT_TRUE(eventually([&] { return kept_name() == "dropped"; }));
}

// Before the time after which it would be kept anyway.
TEST_F(CrashTest, WhatWasJustChangedIsKeptWhenAnotherSceneIsOpenedOrTheProgramEnds) {
  settings_.unsaved_after = 1000;
  for (const bool ends : {false, true}) {
    start();
    ASSERT_TRUE(ask(ShowScene{three_balls()}).done());
    ASSERT_TRUE(ask(CopyBody{2}).done());
    if (!ends) {
      ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
    }
    session_->stop();
    ASSERT_EQ(library_.unsaved().size(), 1U) << ends;
    NoProgress quiet;
    EXPECT_EQ(library_.load(library_.unsaved()[0], quiet).bodies.size(), 4U);
    library_.remove(library_.unsaved()[0]);
  }
}

TEST_F(CrashTest, WhatIsSavedIsNotKeptBesides) {
  start();
  ASSERT_TRUE(ask(ShowScene{three_balls()}).done());
  ASSERT_TRUE(ask(CopyBody{2}).done());
  ASSERT_TRUE(eventually([&] { return !library_.unsaved().empty(); }));
  ASSERT_TRUE(session_->save_scene(ann_, "mine").done());
  EXPECT_TRUE(eventually([&] { return library_.unsaved().empty(); }));
}

TEST_F(CrashTest, WhatIsChangedWhileASceneIsSavedIsKept) {
  const double stiffness = 123'456;
  for (const SessionCommand& change :
       {SessionCommand(SetGravity{1.62}), SessionCommand(ChangeSettings{.contact_stiffness = stiffness})}) {
    HangingLibrary library(folder_ / "scenes");
    Session session(settings_, library);
    session.start();
    const ParticipantId bob = session.join(ParticipantKind::page, "Bob");
    ASSERT_TRUE(session.command_and_wait(bob, ShowScene{three_balls()}).done());
    ASSERT_TRUE(session.command_and_wait(bob, CopyBody{2}).done());
    // Kept to its end, or that would be what hangs below.
    ASSERT_TRUE(eventually([&] { return !library_.unsaved().empty(); }));
    library.hangs = true;
    auto saving = std::async(std::launch::async, [&] { return session.save_scene(bob, "mine", Replacing::wanted); });
    const bool hung = eventually([&] { return library.hanging > 0; });
    const bool changed = session.command_and_wait(bob, change).done();
    library.hangs = false;
    EXPECT_TRUE(hung && changed && saving.get().done());
    session.stop();
    NoProgress quiet;
    const auto has_change = [&](const char* name) {
      const Scene scene = library_.load(name, quiet);
      return scene.gravity.z == -1.62 || scene.contact_stiffness == stiffness;
    };
    EXPECT_FALSE(has_change("mine"));
    ASSERT_EQ(library_.unsaved().size(), 1U);
    EXPECT_TRUE(has_change(library_.unsaved()[0].c_str()));
    library_.remove(library_.unsaved()[0]);
  }
}

TEST_F(CrashTest, SettingsThatChangeNothingOfTheSceneAreNoReasonToKeepIt) {
  start();
  ASSERT_TRUE(ask(ShowScene{three_balls()}).done());
  ASSERT_TRUE(ask(CopyBody{2}).done());
  ASSERT_TRUE(session_->save_scene(ann_, "mine").done());
  const double stiffness = session_->snapshot().feel.contact_stiffness;
  ASSERT_TRUE(ask(ChangeSettings{.contact_stiffness = stiffness, .budget_us = 123}).done());
  session_->stop();
  EXPECT_TRUE(library_.unsaved().empty());
}

TEST_F(CrashTest, ChangesThatDoNotEndAreKeptAllTheSame) {
  settings_.unsaved_after = 0.3;
  start();
  ASSERT_TRUE(ask(ShowScene{three_balls()}).done());
  ASSERT_TRUE(ask(CopyBody{2}).done());
  double stiffness = 100'000;
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(ask(ChangeSettings{.contact_stiffness = ++stiffness}).done());
    return !library_.unsaved().empty();
  }));
}

TEST_F(CrashTest, ARecordingEndsWithItsAllowanceOfTheDisk) {
  settings_.recording_bytes = 300'000;
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(ask(GraspBody{.body = 2}).done());
  ASSERT_TRUE(ask(StartRecording{}).done());
  ASSERT_TRUE(eventually([&] { return witness_.was_told("delete some"); }));
  EXPECT_FALSE(session_->snapshot().recording);
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::recordings_).size() == 1; }));
  EXPECT_LE(witness_.get(&Witness::recordings_)[0].bytes, 300'100U);
  settings_.recording_bytes = 100'000;
  session_->stop();
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(eventually([&] { return !ask(StartRecording{}).done() || !ask(StopRecording{}).done(); }));
}

// What two seconds hold takes 0.7 MB, if nobody takes it from memory to the disk.
TEST_F(CrashTest, MemoryDoesNotGrowWithARecording) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer brings its own allocator";
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(ask(GraspBody{.body = 2}).done());
  ASSERT_TRUE(ask(StartRecording{}).done());
  const auto has_recorded = [&](double seconds) {
    return eventually([&] { return session_->snapshot().recording_seconds >= seconds; });
  };
  ASSERT_TRUE(has_recorded(1));
  const std::size_t before = heap_bytes();
  ASSERT_TRUE(has_recorded(3));
  EXPECT_LT(heap_bytes(), before + (1U << 18U));
  ASSERT_TRUE(ask(StopRecording{}).done());
}

TEST_F(CrashTest, ABrokenInvariantIsToldAndAnotherSceneIsFelt) {
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(ask(GraspBody{.body = 2}).done());
  {
    const InjectedFault fault(k_layout_invariant);
    ASSERT_TRUE(eventually([&] { return witness_.was_told(k_layout_invariant); }));
  }
  EXPECT_TRUE(witness_.was_told("Nothing is felt any more. "));
  const int views = witness_.get(&Witness::views_);
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::views_) > views + 5; }));
  const std::string told = witness_.get(&Witness::problems_);
  EXPECT_EQ(told.find(k_layout_invariant), told.rfind(k_layout_invariant));  // once
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  EXPECT_TRUE(ask(GraspBody{.body = 2}).done());
  EXPECT_TRUE(ask(StartRecording{}).done());  // for which the loop has to answer
  EXPECT_EQ(witness_.get(&Witness::problems_), told);
}

TEST_F(CrashTest, ASceneThatWasSavedForARecordingIsThereAsLongAsTheRecording) {
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(ask(SetGravity{1}).done());  // which makes it a scene without a name
  ASSERT_TRUE(ask(StartRecording{}).done());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(ask(StopRecording{}).done());
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::recordings_).size() == 1; }));
  const RecordingEntry recording = witness_.get(&Witness::recordings_)[0];
  ASSERT_EQ(recording.scene, "recorded-" + recording.id);
  EXPECT_NE(session_->snapshot().scene->scene.title, two_balls().title);
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());  // another one
  const fs::path saved = folder_ / "scenes" / recording.scene;
  ASSERT_TRUE(eventually([&] { return fs::exists(saved); }));
  EXPECT_FALSE(ask(DeleteScene{recording.scene}).done());
  EXPECT_TRUE(fs::exists(saved));
  EXPECT_TRUE(ask(DeleteRecording{recording.id}).done());
  EXPECT_FALSE(fs::exists(saved));
}

TEST_F(CrashTest, RecordingsAreNotBegunFasterThanAnybodyMakesThem) {
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  int begun = 0;
  for (int i = 0; i < 100; ++i) {
    begun += ask(StartRecording{}).done() ? 1 : 0;
    ask(StopRecording{});
  }
  EXPECT_GE(begun, 10);
  EXPECT_LT(begun, 50);
}

TEST_F(CrashTest, ThereAreNoMoreRecordingsThanAllowed) {
  settings_.most_recordings = 2;
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  for (std::size_t i = 1; i <= 2; ++i) {
    ASSERT_TRUE(ask(StartRecording{}).done());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(ask(StopRecording{}).done());
    ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::recordings_).size() == i; }));
  }
  const CommandResult refused = ask(StartRecording{});
  EXPECT_FALSE(refused.done());
  EXPECT_NE(refused.reason.find("delete some"), std::string::npos);
  ASSERT_TRUE(ask(DeleteRecording{witness_.get(&Witness::recordings_)[0].id}).done());
  EXPECT_TRUE(ask(StartRecording{}).done());
}

// Whatever there is on the disk counts: what a program before this one recorded, and what the list is too short for.
TEST_F(CrashTest, RecordingsTogetherTakeNoMoreThanTheirAllowance) {
  const RecordingStore store(settings_.recordings);
  const auto lay = [&](const std::string& id, std::uint64_t bytes) {
    fs::create_directories(settings_.recordings);
    std::ofstream(settings_.recordings / (id + ".json")) << "{}";
    std::ofstream(settings_.recordings / (id + ".cotrec")) << "x";
    fs::resize_file(settings_.recordings / (id + ".cotrec"), bytes);
  };
  constexpr std::uint64_t k_old = 2'000'000, k_more = 300'000;
  settings_.recording_bytes = k_old + k_more;
  lay("2020", k_old);
  start();
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::recordings_).size() == 1; }));
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(ask(GraspBody{.body = 2}).done());
  ASSERT_TRUE(ask(StartRecording{}).done());
  ASSERT_TRUE(eventually([&] { return witness_.was_told("delete some"); }));
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::recordings_).size() == 2; }));
  EXPECT_LE(store.used_bytes(), k_old + k_more + 100);
  session_->stop();

  // One that takes everything, and more of later ones than are listed.
  fs::remove_all(settings_.recordings);
  for (int i = 0; i <= 500; ++i) lay("2021-" + std::to_string(1000 + i), i == 0 ? settings_.recording_bytes : 1);
  start();
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::recordings_).size() == 500; }));
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  EXPECT_FALSE(ask(StartRecording{}).done());
}

// Another program on this machine may look while it is made.
TEST_F(CrashTest, ARecordingThatIsStillBeingMadeIsNotTakenForOneThatBrokeOff) {
  const RecordingStore store(settings_.recordings);
  {
    RecordingStream stream(store.new_file("now"), 1U << 30U, nullptr);
    Recording recording = shared_press();
    stream.take(recording);
    ASSERT_TRUE(eventually([&] { return store.used_bytes() > 1000; }));
    EXPECT_EQ(store.recover(), 0U);
    EXPECT_TRUE(store.list().empty());
  }
  EXPECT_EQ(store.recover(), 0U);
  ASSERT_EQ(store.list().size(), 1U);
  EXPECT_FALSE(store.list()[0].recovered);
}

TEST_F(CrashTest, ASceneThatCannotBeOpenedLeavesTheOldOneFeltAndShown) {
  save_scene(two_balls(), "damaged", folder_ / "scenes/damaged");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "scenes/damaged"))
    if (entry.path().extension() == ".cot") fs::resize_file(entry.path(), 1000);
  // One that can be read, but no loop can be made for.
  Scene heavy = two_balls();
  heavy.gravity = {0, 0, -20};
  heavy.bodies[1].mass = MassProperties{1e5, {}, {}};
  heavy.bodies[1].mass->inertia.m = {1, 0, 0, 0, 1, 0, 0, 0, 1};

  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(ask(GraspBody{.body = 2}).done());
  const std::uint32_t generation = session_->snapshot().generation;
  const auto still_felt = [&] {
    const std::uint64_t before = witness_.get(&Witness::view_).cycles;
    return eventually([&] {
      const SessionView view = witness_.get(&Witness::view_);
      return view.running && view.cycles > before + 20 && view.hands.size() == 1;
    });
  };
  EXPECT_TRUE(ask(OpenScene{"damaged"}).done());  // that it begins
  ASSERT_TRUE(eventually([&] { return witness_.was_told("damaged"); }));
  EXPECT_FALSE(ask(ShowScene{heavy}).done());
  EXPECT_EQ(session_->snapshot().generation, generation);
  EXPECT_EQ(open_scene(), "balls");
  EXPECT_TRUE(still_felt());
}

// By a command, and by leaving, which is what happens when a page's connection or its link ends.
TEST_F(CrashTest, AHandIsLetGoAtOnceThoughTheSessionIsBusy) {
  constexpr std::size_t k_cycles = 100;
  for (const bool leaves : {false, true}) {
    fs::remove_all(settings_.recordings);
    start();
    const ParticipantId bob = session_->join(ParticipantKind::page, "Bob");
    ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
    ASSERT_TRUE(session_->command_and_wait(bob, StartRecording{}).done());
    ASSERT_TRUE(ask(GraspBody{.body = 2}).done());
    const auto cycles_pass = [&](std::uint64_t cycles) {
      const std::uint64_t end = session_->cycle_times()->count() + cycles;
      return eventually([&] { return session_->cycle_times()->count() >= end; });
    };
    ASSERT_TRUE(cycles_pass(k_cycles));
    // Something keeps the session's thread: an answer that takes its time.
    std::promise<void> busy, go_on;
    session_->command(bob, ResetTask{}, [&](const CommandResult&) {
      busy.set_value();
      go_on.get_future().wait();
    });
    busy.get_future().wait();
    if (leaves)
      session_->leave(ann_);
    else
      session_->command(ann_, ReleaseHand{});
    EXPECT_TRUE(cycles_pass(2 * k_cycles));
    go_on.set_value();
    ASSERT_TRUE(session_->command_and_wait(bob, StopRecording{}).done());
    ASSERT_TRUE(eventually([&] { return session_->recordings().list().size() == 1; }));
    const Recording recording = read_recording(session_->recordings().file(session_->recordings().list()[0].id));
    std::size_t held = 0, free = 0;  // cycles; the newest of the latter
    for (const RecordedSample& sample : recording.samples) {
      const bool holds = sample.hand(0).input.present;
      held += holds ? 1U : 0U;
      free = holds ? 0 : free + 1;
    }
    EXPECT_GT(held, k_cycles / 2) << leaves;
    EXPECT_GT(free, k_cycles) << leaves;  // while the session's thread was busy
    session_->stop();
  }
}

// Saving a scene for a recording, keeping what was not saved, deleting: all the while there are views.
TEST_F(CrashTest, ADiskThatHangsDoesNotHoldUpViews) {
  HangingLibrary library(folder_ / "scenes");
  Session session(settings_, library);
  session.add_listener(witness_);
  session.start();
  const ParticipantId bob = session.join(ParticipantKind::page, "Bob");
  ASSERT_TRUE(session.command_and_wait(bob, ShowScene{three_balls()}).done());
  ASSERT_TRUE(session.save_scene(bob, "mine").done());
  const auto views_go_on = [&] {
    if (!eventually([&] { return library.hanging > 0; })) return false;
    const double before = witness_.get(&Witness::view_).time;
    return eventually([&] { return witness_.get(&Witness::view_).time > before + 0.3; }) && library.hanging > 0;
  };
  const auto go_on = [&] {
    const int calls = library.calls;
    library.hangs = false;
    const bool done = eventually([&] { return library.calls > calls; });
    library.hangs = true;
    return done;
  };
  library.hangs = true;
  std::promise<CommandResult> deleted;
  session.command(bob, DeleteScene{"mine"}, [&](const CommandResult& result) { deleted.set_value(result); });
  EXPECT_TRUE(views_go_on());
  EXPECT_TRUE(go_on());
  EXPECT_TRUE(deleted.get_future().get().done());
  EXPECT_TRUE(session.command_and_wait(bob, CopyBody{2}).done());
  EXPECT_TRUE(views_go_on());  // what was not saved is being kept
  EXPECT_TRUE(go_on());
  EXPECT_TRUE(session.command_and_wait(bob, StartRecording{}).done());  // which saves the scene that has no name
  EXPECT_TRUE(views_go_on());
  EXPECT_TRUE(session.command_and_wait(bob, StopRecording{}).done());
  library.hangs = false;
  session.stop();
}

// A ball with so many triangles that drawing it takes a while.
Scene slow_to_show(const std::string& name) {
  Scene scene = two_balls();
  scene.name = name;
  auto fine = std::make_shared<Part>(*ball());
  fine->mesh = make_sphere(0.02, 7);
  scene.bodies[1].parts[0].part = fine;
  return scene;
}

TEST_F(CrashTest, ASceneThatTakesAWhileToShowDoesNotHoldUpViews) {
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(eventually([&] { return witness_.get(&Witness::views_) > 0; }));
  const int before = witness_.get(&Witness::views_);
  std::promise<int> shown;
  session_->command(ann_, ShowScene{slow_to_show("fine")},
                    [&](const CommandResult&) { shown.set_value(witness_.get(&Witness::views_)); });
  EXPECT_GT(shown.get_future().get(), before + 3);
  EXPECT_EQ(open_scene(), "fine");
}

TEST_F(CrashTest, WhatIsAskedForWhileASceneIsMadeIsDoneAfterwardsInItsOrder) {
  start();
  std::mutex mutex;
  std::vector<std::string> answers;
  const auto answered = [&](const std::string& what) {
    return [&, what](const CommandResult& result) {
      const std::scoped_lock lock(mutex);
      answers.push_back(what + (result.done() ? "" : ": " + result.reason));
    };
  };
  session_->command(ann_, ShowScene{slow_to_show("fine")}, answered("show"));
  session_->command(ann_, SetGravity{9.81}, answered("gravity"));
  session_->command(ann_, CopyBody{2}, answered("copy"));
  session_->command(ann_, RemoveBody{3}, answered("remove"));
  session_->command(ann_, ChangeSettings{.max_force = 3}, answered("settings"));
  session_->command(ann_, GraspBody{.body = 2}, answered("grasp"));
  ASSERT_TRUE(ask(ReleaseHand{}).done());
  {
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(answers, (std::vector<std::string>{"show", "gravity", "copy", "remove", "settings", "grasp"}));
  }
  EXPECT_EQ(bodies(), 2U);
  EXPECT_DOUBLE_EQ(session_->snapshot().feel.max_force, 3);
  EXPECT_DOUBLE_EQ(session_->snapshot().scene->scene.gravity.z, -9.81);
}

TEST_F(CrashTest, AHandThatWasAskedForByOneWhoLeftMeanwhileIsFree) {
  start();
  const ParticipantId bob = session_->join(ParticipantKind::page, "Bob");
  session_->command(bob, ShowScene{slow_to_show("fine")});
  session_->command(bob, GraspBody{.body = 2});
  session_->leave(bob);
  ASSERT_TRUE(ask(ReleaseHand{}).done());  // after all of that
  for (const HandView& hand : session_->snapshot().hands) EXPECT_NE(hand.holder, bob);
  EXPECT_TRUE(ask(ChangeSettings{.max_force = 3}).done());  // which is refused while somebody holds a hand
}

TEST_F(CrashTest, WhoeverAsksForEverMoreDoesNotKeepOthersWaiting) {
  start();
  const ParticipantId bob = session_->join(ParticipantKind::page, "Bob");
  std::atomic<int> refused{0};
  session_->command(bob, ShowScene{slow_to_show("fine")});
  for (int i = 0; i < 1000; ++i)
    session_->command(bob, SetGravity{1}, [&](const CommandResult& result) { refused += result.done() ? 0 : 1; });
  EXPECT_TRUE(ask(SetGravity{2}).done());
  EXPECT_EQ(refused, 968);
}

TEST_F(CrashTest, ASceneIsNotOpenedUnderTheHandOfSomebodyWhoTookHoldMeanwhile) {
  HangingLibrary library(folder_ / "scenes");
  Session session(settings_, library);
  session.add_listener(witness_);
  session.start();
  const ParticipantId ann = session.join(ParticipantKind::page, "Ann");
  const ParticipantId bob = session.join(ParticipantKind::page, "Bob");
  ASSERT_TRUE(session.command_and_wait(bob, ShowScene{two_balls()}).done());
  library.loading_hangs = true;
  ASSERT_TRUE(session.command_and_wait(bob, OpenScene{"three"}).done());
  ASSERT_TRUE(session.command_and_wait(ann, GraspBody{.body = 2}).done());
  library.loading_hangs = false;
  EXPECT_TRUE(eventually([&] { return witness_.was_told("Ann is holding"); }));
  EXPECT_EQ(session.snapshot().scene->scene.name, "balls");
  EXPECT_EQ(session.snapshot().hands.size(), 1U);
  session.stop();
}

TEST_F(CrashTest, ARecordingEndsWhenItIsTooLongAndIsNotDeletedBefore) {
  settings_.recording_seconds = 1;
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  ASSERT_TRUE(ask(StartRecording{}).done());
  fs::path file;
  ASSERT_TRUE(eventually([&] {
    std::error_code error;
    for (fs::directory_iterator it(settings_.recordings, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".cotrec") file = it->path();
    return !file.empty();
  }));
  EXPECT_FALSE(ask(DeleteRecording{file.stem().string()}).done());
  EXPECT_TRUE(fs::exists(file));
  EXPECT_TRUE(eventually([&] { return witness_.was_told("very long"); }));
  EXPECT_FALSE(session_->snapshot().recording);
}

TEST_F(CrashTest, AMeshThatTakesForEverDoesNotKeepASceneFromOpening) {
  start();
  ASSERT_TRUE(ask(ShowScene{two_balls()}).done());
  std::promise<void> enough;
  const std::shared_future<void> wait = enough.get_future().share();
  AddPart slow = box("slow");
  slow.meshes = [wait](Progress&) {
    wait.wait();
    return std::vector<AddedMesh>{{make_box({0.02, 0.02, 0.02})}};
  };
  ASSERT_TRUE(ask(slow).done());
  ASSERT_TRUE(ask(OpenScene{"three"}).done());
  EXPECT_TRUE(eventually([&] { return open_scene() == "three"; }));
  enough.set_value();
  // It was meant for the scene before.
  EXPECT_TRUE(eventually([&] { return witness_.was_told("drop it again"); }));
  EXPECT_EQ(bodies(), 3U);
}

}  // namespace
}  // namespace cotouch::this_file
