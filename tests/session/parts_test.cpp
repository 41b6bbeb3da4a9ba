// The pieces a session is made of.
#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/session/job_queue.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/shown_scene.h>
#include <cotouch/session/sight.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "session/page_hands.h"
#include "session/session_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

TEST(SceneLibraries, AFileKeepsItsNameOnlyWhereTheLibraryFindsItByThat) {
  const TemporaryFolder folder;
  FolderLibrary library(folder / "library", nullptr);
  NoProgress progress;
  const std::filesystem::path own = library.save(two_balls(), "mine", Replacing::refused);
  EXPECT_EQ(library.load_file(own, progress).name, "mine");
  EXPECT_EQ(library.load_file(folder / "library/../library/mine/scene.toml", progress).name, "mine");
  // Elsewhere it may carry the name of a saved or a built-in scene, and be another one.
  for (const char* name : {"mine", "ball-socket"}) {
    const std::filesystem::path other = save_scene(two_balls(), name, folder / "elsewhere" / name);
    EXPECT_EQ(library.load_file(other, progress).name, "");
  }
}

TEST(SceneLibraries, DeleteWhatWasSavedAndNothingElse) {
  const TemporaryFolder folder;
  FolderLibrary library(folder / "library", nullptr);
  library.save(two_balls(), "mine", Replacing::refused);
  save_scene(two_balls(), "other", folder / "other");
  for (const char* name : {"ball-socket", "nothing", "../other", "", ".", "mine/.."})
    EXPECT_THROW(library.remove(name), Error) << name;
  library.remove("mine");
  EXPECT_FALSE(std::filesystem::exists(folder / "library/mine"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other/scene.toml"));
  std::filesystem::create_directory_symlink(folder / "other", folder / "library/link");
  library.remove("link");
  EXPECT_FALSE(std::filesystem::exists(folder / "library/link"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other/scene.toml"));
}

TEST(RunningWorlds, ACycleNeitherAllocatesNorLocks) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  PageHands devices;
  RunningWorld world(three_balls(), {}, devices);
  const std::uint64_t before = RealtimeSection::breaches();
  devices[0].hold(2, {});
  devices[1].hold(3, {});
  world.loop().run_cycles(10);
  devices[0].move({{0.002, 0, 0.03}, {}}, 1, 1);
  world.loop().run_cycles(500);
  EXPECT_GT(world.loop().frame().sample.in_contact, 0U);
  world.take(RunningWorld::make_change(three_balls(), {.contact_stiffness = 2000}, false));
  world.loop().run_cycles(10);
  devices[0].release();
  world.loop().run_cycles(10);
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

// As a watchdog does on a machine that stands.
TEST(RunningWorlds, AHandThatWasDisabledHoldsAgain) {
  PageHands devices;
  ForceLimiter(devices[1], {}).disable();
  RunningWorld world(two_balls(), {}, devices);
  devices[1].hold(2, {});
  EXPECT_EQ(world.loop().run_cycles(3), 3U);
  EXPECT_FALSE(world.loop().frame().sample.hands[1].input.present);
  world.enable_hands();
  EXPECT_EQ(world.loop().run_cycles(3), 3U);
  EXPECT_TRUE(world.loop().frame().sample.hands[1].input.present);
  EXPECT_EQ(world.loop().frame().devices[1], DeviceState::ready);
}

TEST(RunningWorlds, GoOnWhereTheyAreWhenSomethingChanges) {
  PageHands devices;
  RunningWorld world(two_balls(), {}, devices);
  devices[0].hold(2, {});
  world.loop().run_cycles(10);
  devices[0].move({{0.01, 0, 0.07}, {}}, 0, 1);
  world.loop().run_cycles(1000);
  const Pose before = world.loop().world_frame().world.bodies()[1].pose;
  EXPECT_NEAR(before.position.x, 0.01, 1e-4);
  Scene heavy = two_balls();
  heavy.gravity = {0, 0, -9.81};
  world.take(RunningWorld::make_change(heavy, {}, false));
  world.loop().run_cycles(1);
  EXPECT_NEAR(norm(world.loop().world_frame().world.bodies()[1].pose.position - before.position), 0, 1e-4);
  EXPECT_EQ(world.loop().world_frame().world.hands()[0].body, 1.0);
  devices[0].release();
  for (int i = 0; i < 200; ++i) world.loop().run_cycles(1);  // it ends as soon as nobody is there
  // The change did take effect: it fell, through what drags like oil, onto the ball below.
  EXPECT_LT(world.loop().world_frame().world.bodies()[1].pose.position.z, before.position.z - 0.01);
}

// Without a clock, so that no busy machine can excuse a force that fades.
TEST(RunningWorlds, KeepAPressedBodyPressedWhenSomethingChanges) {
  PageHands devices;
  RunningWorld world(two_balls(), {}, devices);
  devices[0].hold(2, {});
  world.loop().run_cycles(10);
  devices[0].move({{0, 0, 0.035}, {}}, 0, 1);
  world.loop().run_cycles(1000);
  const double before = world.loop().frame().sample.hands[0].felt.force.z;
  EXPECT_GT(before, 1);
  FeelSettings feel;
  for (int i = 0; i < 5; ++i) {
    feel.contact_stiffness *= 1.01;
    world.take(RunningWorld::make_change(two_balls(), feel, false));
    world.loop().change({nullptr, limit_settings(feel)});  // as a recording begins
    world.loop().run_cycles(1);
    EXPECT_EQ(world.loop().mark().mark.limiters[0].ramp, 1);
    EXPECT_EQ(world.loop().frame().sample.hands[0].motors, Motors::on);
    EXPECT_NEAR(world.loop().frame().sample.hands[0].felt.force.z, before, 0.02 * before);
    EXPECT_EQ(world.loop().world_frame().world.hands()[0].body, 1);
    world.collect(nullptr);
  }
}

TEST(RunningWorlds, ASecondHandTakesABodyWhereItIsAfterAChange) {
  PageHands devices;
  RunningWorld world(two_balls(), {}, devices);
  devices[0].hold(2, {});
  world.loop().run_cycles(10);
  world.take(RunningWorld::make_change(two_balls(), {.contact_stiffness = 2000}, false));
  world.loop().run_cycles(10);
  devices[0].move({{0.03, 0, 0.05}, {}}, 0, 1);
  world.loop().run_cycles(1500);
  devices[1].hold(2, {});
  world.loop().run_cycles(2);
  const WorldState& state = world.loop().world_frame().world;
  EXPECT_NEAR(state.bodies()[1].pose.position.x, 0.03, 1e-4);
  EXPECT_LT(norm(state.hands()[1].pose.position - state.bodies()[1].pose.position), 1e-4);
}

// More pairs than a recording has room for levels: a level that followed from the work done would be lost, and with it
// the replay.
TEST(RunningWorlds, ReplayBitForBitWithMorePairsThanARecordingHasLevels) {
  Scene scene = two_balls();
  scene.gravity = {0, 0, -9.81};
  auto fine = std::make_shared<Part>(*ball());
  fine->settings.shell.points = 4096;
  NoProgress none;
  fine->shell = build_shell(fine->field, fine->settings.shell, none);
  for (SceneBody& body : scene.bodies) body.parts[0].part = fine;
  scene.bodies[1].holding = Holding::dynamic;
  for (std::uint32_t id = 3; id <= 12; ++id) {
    scene.bodies.push_back(scene.bodies[1]);
    scene.bodies.back().id = id;
    scene.bodies.back().pose.position = {0.001 * id, -0.0005 * id, 0.05 + 0.042 * (id - 2)};  // a leaning tower
  }
  FeelSettings feel;
  feel.warm_nodes = 200;  // fewer than the deepest level takes, so that it matters what coherence saves
  PageHands devices;
  RunningWorld world(scene, feel, devices);
  ASSERT_GT(world.model().pairs().size(), k_recorded_pairs);
  devices[0].hold(2, {});
  world.loop().run_cycles(5);
  world.loop().change({nullptr, limit_settings(feel)});
  world.loop().run_cycles(1);
  Recording recording = begin_recording(world.model(), world.loop().mark(), limit_settings(feel), world.loop().hands(),
                                        format_recorded_scene({"tower", feel}));
  const std::uint32_t finest = fine->shell.levels() - 1;
  std::uint32_t coarse = 0;  // cycles
  for (std::uint32_t i = 0; i < 400; ++i) {
    if (i % 10 == 0) devices[0].move({{0.01 * std::sin(0.03 * i), 0, 0.042}, {}}, 0, i);
    world.loop().run_cycles(1);
    collect_samples(world.loop(), recording, world.loop().mark().mark.cycle);
    // The last body touches the one before it: the last pair, for which the recording has no room.
    const ContactStats& last = world.contacts().back();
    if (last.in_contact > 0 && last.level < finest) ++coarse;
  }
  std::uint32_t most = 0;
  for (const RecordedSample& sample : recording.samples) most = std::max(most, sample.in_contact);
  ASSERT_GT(most, 10U);
  ASSERT_GT(coarse, 20U);  // the budget did decide
  Replay replay(recording, recorded_model(recording, scene));
  while (replay.next()) {
  }
  EXPECT_TRUE(replay.identical()) << "from sample " << replay.same() << " of " << recording.samples.size();
}

TEST(Sight, ClearanceOfTwoBallsIsTheirDistance) {
  const auto shown = show(two_balls());
  const auto model = felt_model(shown->scene, {});
  Sight sight(shown, model);
  WorldState state(*model);
  const auto clearance_at = [&](double s) {
    state.bodies()[1].pose.position = {0, 0, s};
    return sight.clearance(state);
  };
  // Between two balls of radius r at distance s: s - 2 r. The shell lies half a cell (0.8 mm) outside, its 256 points
  // are about 4.4 mm apart (a sagitta of 0.12 mm on the ball), and far away the mesh of 162 corners lies up to 4 % of
  // its radius inside the ball.
  for (const double s : {0.042, 0.045, 0.06, 0.1, 0.3}) EXPECT_NEAR(clearance_at(s), s - 0.04, 0.0018) << s;
  EXPECT_LT(clearance_at(0.03), -0.008F);
}

TEST(Sight, ShowsWhatTouchesAndHowNearTheRestIs) {
  const auto shown = show(two_balls());
  const auto model = felt_model(shown->scene, {});
  Sight sight(shown, model);
  WorldState state(*model);
  EXPECT_TRUE(sight.look(state, false).contacts.empty());
  state.bodies()[1].pose.position = {0, 0, 0.038};
  EXPECT_TRUE(sight.look(state, true).contacts.empty());  // nobody holds it and it does not move
  EXPECT_FALSE(sight.look(state, true).traversed.empty());
  state.hands()[0].present = 1;
  state.hands()[0].body = 1;
  const ContactView view = sight.look(state, true);
  ASSERT_FALSE(view.contacts.empty());
  for (const MarkedPoint& point : view.contacts) EXPECT_NEAR(norm(Vec3d(point.position)), 0.0195, 0.0015);
  EXPECT_GE(view.traversed.size(), view.contacts.size());
  std::vector<std::uint8_t> values;
  ASSERT_TRUE(sight.nearness(state, shown->parts[0], values));
  ASSERT_EQ(values.size(), shown->parts[0].picture->mesh.vertices.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Vec3d& v = shown->parts[0].picture->mesh.vertices[i];
    const double distance = std::max(0.0, norm(v - Vec3d{0, 0, 0.038}) - 0.02);
    const double expected = std::min(255.0, distance / static_cast<double>(sight.range()) * 255);
    EXPECT_NEAR(values[i], expected, 20) << i;
  }
}

TEST(ShownScenes, PartsHaveTheirOwnColourOrOneByHowTheyMove) {
  Scene scene = three_balls();
  scene.bodies[2].parts[0].color = "#102030";
  const auto shown = show(scene);
  EXPECT_EQ(shown->parts[0].color, palette_color(false, 0));
  EXPECT_EQ(shown->parts[1].color, palette_color(true, 0));
  EXPECT_EQ(shown->parts[2].color, "#102030");
  EXPECT_NE(palette_color(false, 0), palette_color(false, 1));
  EXPECT_EQ(shown->parts[1].picture, shown->parts[2].picture);  // the same part is drawn once
}

TEST(JobQueue, RunsOneAfterAnotherAndReportsEnds) {
  std::mutex mutex;
  std::vector<JobStatus> seen;
  JobQueue jobs([&](const JobStatus& status) {
    const std::scoped_lock lock(mutex);
    seen.push_back(status);
  });
  const auto ended = [&](std::uint32_t id, JobState state) {
    return eventually([&] {
      const std::scoped_lock lock(mutex);
      return std::any_of(seen.begin(), seen.end(), [&](const JobStatus& s) { return s.id == id && s.state == state; });
    });
  };
  const auto good = jobs.add(JobLane::parts, "good", [](Progress& progress) { progress.update("half", 0.5); });
  const auto bad = jobs.add(JobLane::parts, "bad", [](Progress&) { throw Error("It broke."); });
  std::atomic<bool> running{false};
  const auto endless = jobs.add(JobLane::parts, "endless", [&](Progress& progress) {
    for (;;) {
      running = true;
      progress.update("going on", 0.1);
    }
  });
  ASSERT_TRUE(good && bad && endless);
  EXPECT_TRUE(ended(*good, JobState::done));
  EXPECT_TRUE(ended(*bad, JobState::failed));
  ASSERT_TRUE(eventually([&] { return running.load(); }));
  // While it runs, others wait, and only so many.
  const auto waiting = jobs.add(JobLane::parts, "waiting", [](Progress&) {});
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(jobs.add(JobLane::parts, "more", [](Progress&) {}));
  EXPECT_FALSE(jobs.add(JobLane::parts, "too many", [](Progress&) {}));
  EXPECT_TRUE(jobs.cancel(*waiting));
  EXPECT_TRUE(jobs.cancel(*endless));
  EXPECT_TRUE(ended(*waiting, JobState::cancelled));
  EXPECT_TRUE(ended(*endless, JobState::cancelled));
  EXPECT_FALSE(jobs.cancel(12345));
}

TEST(JobQueue, DoesNotWaitForWhatNobodyWantsAnyMore) {
  bool cancelled = false, begun_later = false;
  {
    std::atomic<bool> running{false};
    JobQueue jobs([](const JobStatus&) {});
    jobs.add(JobLane::parts, "long", [&](Progress& progress) {
      running = true;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      try {
        while (std::chrono::steady_clock::now() < end) progress.update("going on", 0.1);
      } catch (const Cancelled&) {
        cancelled = true;
        throw;
      }
    });
    jobs.add(JobLane::parts, "waits", [&](Progress&) { begun_later = true; });
    ASSERT_TRUE(eventually([&] { return running.load(); }));
  }
  EXPECT_TRUE(cancelled);
  EXPECT_FALSE(begun_later);
}

TEST(RecordedScenes, KeepTheirNumbersAndTakeBareNames) {
  RecordedScene scene;
  scene.name = "gears";
  scene.feel.contact_stiffness = 1234.5678901234567;
  scene.feel.warm_nodes = 16000;
  scene.feel.max_force = 3.5;
  const RecordedScene again = parse_recorded_scene(format_recorded_scene(scene));
  EXPECT_EQ(again.name, "gears");
  EXPECT_EQ(again.feel.contact_stiffness, scene.feel.contact_stiffness);
  EXPECT_EQ(again.feel.warm_nodes, 16000U);
  EXPECT_EQ(again.feel.max_force, 3.5);
  EXPECT_EQ(parse_recorded_scene("gears").name, "gears");
}

}  // namespace
}  // namespace cotouch::this_file
