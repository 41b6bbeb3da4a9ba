// The pieces of the studio that need no socket.
#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/contact/asset.h>

#include <gtest/gtest.h>

#include <atomic>

#include "serve/serve_fixture.h"
#include "support/temporary_folder.h"

namespace cotouch {
namespace {

using namespace testing_serve;

TEST(SceneFiles, RoundTripKeepsEveryNumber) {
  SceneFile scene;
  scene.name = "a-b_1";
  scene.title = "A \"quoted\" \\ title";
  scene.contact_stiffness = 1234.5;
  scene.max_force = 0.1;
  scene.moving = Moving::field;
  SceneFilePart part;
  part.name = "part";
  part.asset = "x/part.cot";
  part.moving = true;
  part.pose = {{1.0 / 3, -2e-9, 5}, normalized(Quat{0.1, 0.2, 0.3, 0.4})};
  part.color = "#12abEF";
  SceneFilePart mesh;
  mesh.name = "mesh";
  mesh.mesh = "m.stl";
  mesh.unit = "mm";
  mesh.settings.field.resolution = 64;
  scene.parts = {part, mesh};
  const SceneFile again = parse_scene_file(format_scene_file(scene), "test");
  EXPECT_EQ(again.name, scene.name);
  EXPECT_EQ(again.title, scene.title);
  EXPECT_EQ(again.contact_stiffness, 1234.5);
  EXPECT_EQ(again.max_force, 0.1);
  EXPECT_EQ(again.moving, Moving::field);
  ASSERT_EQ(again.parts.size(), 2U);
  EXPECT_EQ(again.parts[0].pose.position, part.pose.position);
  EXPECT_NEAR(again.parts[0].pose.rotation.w, part.pose.rotation.w, 1e-15);
  EXPECT_EQ(again.parts[0].color, "#12abEF");
  EXPECT_TRUE(again.parts[0].moving);
  EXPECT_EQ(again.parts[1].mesh, "m.stl");
  EXPECT_EQ(again.parts[1].unit, "mm");
  EXPECT_EQ(again.parts[1].settings.field.resolution, 64);
}

TEST(SceneFiles, HostileOnesAreRefusedInOneSentence) {
  const std::string good = "cotouch = 1\n";
  const std::string part = good + "[[part]]\nasset = \"a.cot\"\n";
  EXPECT_NO_THROW(parse_scene_file(part, "test"));
  EXPECT_EQ(parse_scene_file(good + "title = \"gr\xc3\xb6\xc3\x9f\x65\" # \xc3\xa4", "test").title,
            "gr\xc3\xb6\xc3\x9f\x65");
  const std::vector<std::string> bad{
      "",
      "cotouch = 2",
      "cotouch = \"1\"",
      "cotouch = 1\ncotouch = 1",
      "not toml [",
      good + "name = \"../up\"",
      good + "name = 7",
      good + "contact_stiffness = nan",
      good + "contact_stiffness = inf",
      good + "max_force = 41",
      good + "max_froce = 4",
      part + "colour = \"#123456\"",
      good + "moving = \"both\"",
      good + "part = 3",
      good + "part = [1, 2]",
      good + "[[part]]",
      good + "[[part]]\nasset = \"/etc/passwd\"",
      good + "[[part]]\nasset = \"../../secret.cot\"",
      good + "[[part]]\nasset = \"a/../../b.cot\"",
      good + "[[part]]\nmesh = \"..\\\\x.stl\"",
      part + "mesh = \"b.stl\"",
      part + "position = [1, 2]",
      part + "position = [1, 2, nan]",
      part + "position = [1, 2, 1e9]",
      part + "position = \"here\"",
      part + "rotation = [0, 0, 0, 0]",
      part + "rotation = [1, 1, 0, 0]",
      part + "color = \"red\"",
      part + "color = \"#12345g\"",
      part + "unit = \"parsec\"",
      part + "resolution = 100000",
      part + "role = \"both\"",
      part + "role = \"moving\"\n[[part]]\nasset = \"b.cot\"\nrole = \"moving\"",
      good + "\xef\xbb\xbb",
      good + "0=-'1O\xef\xbb\xb6",
      good + "name \xc3\xa4 = 1",
      good + "title = \"" + std::string(1000, 'x') + "\"",
      good + "x = " + std::string(5000, '['),
      good + std::string(2 << 20, '#'),
  };
  for (const std::string& text : bad) EXPECT_THROW(parse_scene_file(text, "test"), Error) << text.substr(0, 80);
  std::string many = good;
  for (int i = 0; i < 17; ++i) many += "[[part]]\nasset = \"a.cot\"\n";
  EXPECT_THROW(parse_scene_file(many, "test"), Error);
}

TEST(SceneFiles, RandomDamageNeverDoesMoreThanThrow) {
  SceneFile scene;
  scene.parts.resize(2);
  scene.parts[0].asset = "a.cot";
  scene.parts[1].mesh = "b.stl";
  const std::string good = format_scene_file(scene);
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    for (int k = 0; k < 4; ++k) text[random.below(text.size())] = static_cast<char>(random.below(256));
    text.resize(random.below(text.size()) + 1);
    try {
      parse_scene_file(text, "test");
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
  }
}

TEST(SceneFiles, ASavedSceneOpensAgain) {
  const TemporaryFolder folder;
  const std::filesystem::path file = save_scene(two_balls(), "mine", folder / "mine");
  NoProgress none;
  const LoadedScene again = load_scene_file(file, none);
  EXPECT_EQ(again.name, "mine");
  ASSERT_EQ(again.parts.size(), 2U);
  EXPECT_TRUE(again.parts[1].moving);
  EXPECT_EQ(again.parts[1].pose.position, (Vec3d{0, 0, 0.05}));
  EXPECT_EQ(again.content_hash(), two_balls().content_hash());
  EXPECT_THROW(load_scene_file(folder / "none.toml", none), Error);
}

TEST(SceneLibraries, AFileKeepsItsNameOnlyWhereTheLibraryFindsItByThat) {
  const TemporaryFolder folder;
  FolderLibrary library(folder / "library", nullptr);
  NoProgress progress;
  const std::filesystem::path own = library.save(two_balls(), "mine");
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
  library.save(two_balls(), "mine");
  save_scene(two_balls(), "other", folder / "other");
  for (const char* name : {"ball-socket", "nothing", "../other", "", ".", "mine/.."})
    EXPECT_THROW(library.remove(name), Error) << name;
  library.remove("mine");
  EXPECT_FALSE(std::filesystem::exists(folder / "library/mine"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other/scene.toml"));
}

TEST(ViewerDevice, NeverJumpsAndStandsStillWithoutInput) {
  auto scene = std::make_shared<const LoadedScene>(two_balls());
  const auto contacts = make_contacts(*scene, {});
  HeldObject object(*contacts, object_settings(*scene, {}), {{0, 0, 0.05}, {}});
  ViewerDevice device;
  ViewerDeviceSettings settings;
  settings.max_speed = 0.1;
  settings.max_turn = 1;
  device.attach(object, settings);
  DeviceReading reading;
  ASSERT_TRUE(device.read(reading));
  EXPECT_EQ(reading.pose.position, (Vec3d{0, 0, 0.05}));
  device.move({{1, 0, 0}, {}}, 0, 1);  // nobody holds it: nothing happens
  device.read(reading);
  EXPECT_EQ(reading.pose.position, (Vec3d{0, 0, 0.05}));
  device.hold();
  device.move({{1, 0, 0.05}, {0, 0, 0, 1}}, 3, 2);
  Pose last = reading.pose;
  for (int i = 0; i < 1000; ++i) {
    device.read(reading);
    // 0.1 m/s and 1 rad/s at 1 kHz, with room for rounding.
    EXPECT_LE(norm(reading.pose.position - last.position), 1e-4 * 1.000001);
    EXPECT_LE(norm(rotation_vector(reading.pose.rotation * last.rotation.conjugate())), 1e-3 * 1.000001);
    last = reading.pose;
  }
  EXPECT_NEAR(last.position.x, 0.1, 1e-6);
  EXPECT_EQ(reading.buttons, 3U);
  EXPECT_EQ(device.applied_sequence(), 2U);
  // Reached, it stays.
  device.move(last, 0, 3);
  for (int i = 0; i < 10; ++i) device.read(reading);
  EXPECT_NEAR(norm(reading.pose.position - last.position), 0, 1e-12);
  // Let go, it rests on the object.
  device.release();
  device.read(reading);
  EXPECT_EQ(reading.pose.position, object.pose().position);
}

TEST(TouchSession, ACycleNeitherAllocatesNorLocks) {
  ViewerDevice device;
  TouchSession session(std::make_shared<const LoadedScene>(two_balls()), {}, device, two_balls().moving_part()->pose);
  const std::uint64_t before = RealtimeSection::breaches();
  device.hold();
  session.loop().run_cycles(10);
  device.move({{0.002, 0, 0.03}, {}}, 1, 1);
  session.loop().run_cycles(500);
  EXPECT_GT(session.loop().frame().sample.in_contact, 0U);
  session.change({.contact_stiffness = 2000});
  session.loop().run_cycles(10);
  device.release();
  session.loop().run_cycles(10);
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

TEST(ContactGroup, AddsWhatItsPairsAnswerAlone) {
  LoadedScene scene = two_balls();
  ScenePart third = make_scene_part(ball());
  third.id = 3;
  third.pose.position = {0.03, 0, 0};
  scene.parts.push_back(third);
  const auto group = make_contacts(scene, {});
  const Pose held{{0.015, 0, 0.034}, {}};
  ContactResult all;
  group->evaluate(held, {}, Moving::shell, all);
  Wrench sum;
  for (const Vec3d& place : {Vec3d{0, 0, 0}, Vec3d{0.03, 0, 0}}) {
    NestedContact pair(ball()->shell, ball()->field, {});
    ContactResult one;
    pair.evaluate(held, {place, {}}, Moving::shell, one);
    EXPECT_GT(one.stats.in_contact, 0U);
    sum = sum + one.wrench;
  }
  EXPECT_NEAR(norm(all.wrench.force - sum.force), 0, 1e-9);
  EXPECT_NEAR(norm(all.wrench.torque - sum.torque), 0, 1e-9);
  // Two balls of the same size, mirrored: the sideways forces cancel, both push up.
  EXPECT_GT(all.wrench.force.z, 0);
  EXPECT_NEAR(all.wrench.force.x, 0, 0.1 * all.wrench.force.z);
}

TEST(Sight, ClearanceOfTwoBallsIsTheirDistance) {
  Sight sight(std::make_shared<const LoadedScene>(two_balls()));
  // Between two balls of radius r at distance s: s - 2 r. The shell lies half a cell (0.8 mm) outside, its 256 points
  // are about 4.4 mm apart (a sagitta of 0.12 mm on the ball), and far away the mesh of 162 corners lies up to 4 % of
  // its radius inside the ball.
  for (const double s : {0.042, 0.045, 0.06, 0.1, 0.3}) {
    const float clearance = sight.clearance({{0, 0, s}, {}});
    EXPECT_NEAR(clearance, s - 0.04, 0.0018) << s;
  }
  EXPECT_LT(sight.clearance({{0, 0, 0.03}, {}}), -0.008F);
}

TEST(LoadedScenes, DecimationKeepsTheShapeWithinTheLimit) {
  const TriangleMesh sphere = make_sphere(1, 5);  // 20480 triangles
  const TriangleMesh coarse = decimated(sphere, 2000);
  EXPECT_LE(coarse.triangles.size(), 2000U);
  EXPECT_GT(coarse.triangles.size(), 300U);
  for (const Vec3d& v : coarse.vertices) EXPECT_NEAR(norm(v), 1, 0.1);
}

TEST(LoadedScenes, PartsHaveTheirOwnColourOrOneByTheirRole) {
  LoadedScene scene;
  for (std::uint32_t id = 1; id <= 3; ++id) {
    ScenePart part;
    part.id = id;
    part.moving = id == 2;
    scene.parts.push_back(part);
  }
  EXPECT_EQ(shown_color(scene, scene.parts[0]), palette_color(false, 0));
  EXPECT_EQ(shown_color(scene, scene.parts[1]), palette_color(true, 0));
  EXPECT_EQ(shown_color(scene, scene.parts[2]), palette_color(false, 1));
  EXPECT_NE(palette_color(false, 0), palette_color(false, 1));
  scene.parts[2].color = "#102030";
  EXPECT_EQ(shown_color(scene, scene.parts[2]), "#102030");
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
  const auto good = jobs.add("good", [](Progress& progress) { progress.update("half", 0.5); });
  const auto bad = jobs.add("bad", [](Progress&) { throw Error("It broke."); });
  std::atomic<bool> running{false};
  const auto endless = jobs.add("endless", [&](Progress& progress) {
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
  const auto waiting = jobs.add("waiting", [](Progress&) {});
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(jobs.add("more", [](Progress&) {}));
  EXPECT_FALSE(jobs.add("too many", [](Progress&) {}));
  EXPECT_TRUE(jobs.cancel(*waiting));
  EXPECT_TRUE(jobs.cancel(*endless));
  EXPECT_TRUE(ended(*waiting, JobState::cancelled));
  EXPECT_TRUE(ended(*endless, JobState::cancelled));
  EXPECT_FALSE(jobs.cancel(12345));
}

TEST(RecordedScenes, KeepTheirNumbersAndTakeBareNames) {
  RecordedScene scene;
  scene.name = "gears";
  scene.feel.contact_stiffness = 1234.5678901234567;
  scene.feel.warm_nodes = 16000;
  scene.bodies = "0123456789abcdef";
  const RecordedScene again = parse_recorded_scene(format_recorded_scene(scene));
  EXPECT_EQ(again.name, "gears");
  EXPECT_EQ(again.feel.contact_stiffness, scene.feel.contact_stiffness);
  EXPECT_EQ(again.feel.warm_nodes, 16000U);
  EXPECT_EQ(again.bodies, scene.bodies);
  EXPECT_EQ(parse_recorded_scene("gears").name, "gears");
}

}  // namespace
}  // namespace cotouch
