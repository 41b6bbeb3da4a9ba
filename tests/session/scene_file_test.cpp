// Scene files: what is written reads back alike, and what a stranger wrote does no more than throw.
#include <cotouch/session/scene_file.h>

#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/world/step.h>

#include <gtest/gtest.h>

#include <bit>

#include <fstream>

#include "support/prepared.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

void expect_near(const Pose& a, const Pose& b) {
  EXPECT_EQ(a.position, b.position);
  EXPECT_NEAR(a.rotation.w, b.rotation.w, 1e-15);
  EXPECT_NEAR(a.rotation.x, b.rotation.x, 1e-15);
  EXPECT_NEAR(a.rotation.y, b.rotation.y, 1e-15);
  EXPECT_NEAR(a.rotation.z, b.rotation.z, 1e-15);
}

// A scene that uses every key.
SceneFile full_file() {
  SceneFile file;
  Scene& scene = file.scene;
  scene.name = "a-b_1";
  scene.title = "A \"quoted\" \\ title, gr\xc3\xb6\xc3\x9f\x65r, 100%25";
  scene.summary = "One sentence.";
  scene.gravity = {0.1, 0, -9.81};
  scene.friction = 0.45;
  scene.restitution = 0.15;
  scene.drag = 1.0 / 3;
  scene.contact_stiffness = 12345.5;
  scene.coupling.max_force = 0.1;

  SceneBody fixed;
  fixed.id = 1;
  fixed.name = "base";
  fixed.parts.resize(2);
  fixed.parts[0].name = "lower";
  fixed.parts[0].color = "#12abEF";
  fixed.parts[1].name = "upper";
  fixed.parts[1].place = {{1.0 / 3, -2e-9, 5}, normalized(Quat{0.1, 0.2, 0.3, 0.4})};
  fixed.parts[1].settings.field.resolution = 64;
  fixed.parts[1].settings.shell.points = 2048;

  SceneBody lift;
  lift.id = 2;
  lift.name = "lift";
  lift.motion = Motion::path;
  lift.path = {{{0, 0, 0.1}, {}}, {{0, 0, 0.2}, normalized(Quat{0.9, 0.1, 0, 0.2})}};
  lift.path_speed = 0.07;
  lift.clearance = 0.004;
  lift.parts.resize(1);
  lift.parts[0].name = "lift";

  SceneBody free;
  free.id = 3;
  free.name = "box";
  free.motion = Motion::free;
  free.holding = Holding::dynamic;
  free.pose = {{0.1, 0.2, 0.3}, normalized(Quat{0.5, 0.5, -0.5, 0.1})};
  free.velocity = {1, -2, 0.5};
  free.spin = {0.1, 0, 7};
  free.mass = MassProperties{2.5, {0.01, 0.02, 0.03}, {}};
  free.mass->inertia.m = {0.02, 0.001, 0.003, 0.001, 0.03, 0.002, 0.003, 0.002, 0.04};
  free.parts.resize(1);
  free.parts[0].name = "box";

  scene.bodies = {fixed, lift, free};
  scene.rules = {{1, 3, false}, {2, 3, false}, {1, 2, true, "exhaustive"}};
  Task task;
  task.body = 3;
  task.target = {{0, 0.1, 0.2}, {}};
  task.position_tolerance = 0.015;
  task.angle_tolerance = 0.25;
  task.summary = "Put it there.";
  scene.task = task;
  scene.scripts.push_back({3, {free.pose, {{0.1, 0.2, 1.0 / 3}, normalized(Quat{0.8, 0.1, 0.2, 0.3})}}, 0.03});
  scene.scripts.push_back({3, {task.target}});
  file.sources = {
      {{"x/part.cot", {}, {}, {}}, {{}, "m.stl", "mm", "y"}}, {{"lift.cot", {}, {}, {}}}, {{"x/part.cot", {}, {}, {}}}};
  return file;
}

TEST(SceneFiles, RoundTripKeepsEverything) {
  const SceneFile file = full_file();
  const SceneFile again = parse_scene_file(format_scene_file(file), "test");
  const Scene &a = file.scene, &b = again.scene;
  EXPECT_EQ(b.name, a.name);
  EXPECT_EQ(b.title, a.title);
  EXPECT_EQ(b.summary, a.summary);
  EXPECT_EQ(b.gravity, a.gravity);
  EXPECT_EQ(b.friction, a.friction);
  EXPECT_EQ(b.restitution, a.restitution);
  EXPECT_EQ(b.drag, a.drag);
  EXPECT_EQ(b.contact_stiffness, a.contact_stiffness);
  EXPECT_EQ(b.coupling.max_force, a.coupling.max_force);
  EXPECT_EQ(b.rules, a.rules);
  EXPECT_TRUE(b.editable);
  ASSERT_TRUE(b.task);
  EXPECT_EQ(b.task->body, 3U);
  expect_near(b.task->target, a.task->target);
  EXPECT_EQ(b.task->position_tolerance, 0.015);
  EXPECT_NEAR(b.task->angle_tolerance, 0.25, 1e-15);
  EXPECT_EQ(b.task->summary, a.task->summary);

  ASSERT_EQ(b.scripts.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(b.scripts[i].body, 3U);
    EXPECT_EQ(b.scripts[i].speed, a.scripts[i].speed);
    ASSERT_EQ(b.scripts[i].keys.size(), a.scripts[i].keys.size());
    for (std::size_t k = 0; k < a.scripts[i].keys.size(); ++k) expect_near(b.scripts[i].keys[k], a.scripts[i].keys[k]);
  }

  ASSERT_EQ(b.bodies.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const SceneBody &x = a.bodies[i], &y = b.bodies[i];
    EXPECT_EQ(y.id, x.id);
    EXPECT_EQ(y.name, x.name);
    EXPECT_EQ(y.motion, x.motion);
    EXPECT_EQ(y.holding, x.holding);
    expect_near(y.pose, x.pose);
    EXPECT_EQ(y.velocity, x.velocity);
    EXPECT_EQ(y.spin, x.spin);
    EXPECT_EQ(y.density, x.density);
    EXPECT_EQ(y.mass, x.mass);
    EXPECT_EQ(y.clearance, x.clearance);
    EXPECT_EQ(y.path_speed, x.path_speed);
    ASSERT_EQ(y.path.size(), x.path.size());
    for (std::size_t k = 0; k < x.path.size(); ++k) expect_near(y.path[k], x.path[k]);
    ASSERT_EQ(y.parts.size(), x.parts.size());
    for (std::size_t k = 0; k < x.parts.size(); ++k) {
      EXPECT_EQ(y.parts[k].name, x.parts[k].name);
      EXPECT_EQ(y.parts[k].color, x.parts[k].color);
      expect_near(y.parts[k].place, x.parts[k].place);
      EXPECT_EQ(y.parts[k].settings, x.parts[k].settings);
      EXPECT_EQ(again.sources[i][k].asset, file.sources[i][k].asset);
      EXPECT_EQ(again.sources[i][k].mesh, file.sources[i][k].mesh);
      EXPECT_EQ(again.sources[i][k].unit, file.sources[i][k].unit);
      EXPECT_EQ(again.sources[i][k].up, file.sources[i][k].up);
    }
  }
}

// Or a recording made in a saved scene would not be of the scene that is opened later.
TEST(SceneFiles, RotationsComeBackToTheLastBit) {
  Random random(91);
  for (int i = 0; i < 200; ++i) {
    SceneFile file = full_file();
    const Quat q = quat_from_rotation_vector(random.vector(0, 3));
    file.scene.bodies[0].pose.rotation = i % 2 ? q : normalized(q);
    const Quat back = parse_scene_file(format_scene_file(file), "test").scene.bodies[0].pose.rotation;
    const Quat& there = file.scene.bodies[0].pose.rotation;
    EXPECT_TRUE(back.w == there.w && back.x == there.x && back.y == there.y && back.z == there.z) << i;
  }
}

TEST(SceneFiles, NumbersComeBackToTheLastBit) {
  Random random(17);
  const auto same = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  for (int i = 0; i < 300; ++i) {
    SceneFile file = full_file();
    SceneBody& body = file.scene.bodies[0];
    body.pose.position = random.direction();
    body.pose.position = body.pose.position * random.uniform(0, 500);
    body.velocity = random.direction();
    file.scene.gravity = {0, random.uniform(-1, 1), -random.uniform(0, 20)};
    file.scene.contact_stiffness = random.uniform(1e4, 1e6);
    file.scene.task->angle_tolerance = i == 0 ? Task{}.angle_tolerance : random.uniform(0, 3.1);
    file.scene.task->position_tolerance = random.uniform(0, 1);
    const Scene& a = file.scene;
    const Scene b = parse_scene_file(format_scene_file(file), "test").scene;
    EXPECT_TRUE(same(a.task->angle_tolerance, b.task->angle_tolerance)) << i;
    EXPECT_TRUE(same(a.task->position_tolerance, b.task->position_tolerance)) << i;
    EXPECT_TRUE(same(a.contact_stiffness, b.contact_stiffness)) << i;
    for (const auto& [from, to] :
         {std::pair(a.bodies[0].pose.position, b.bodies[0].pose.position),
          std::pair(a.bodies[0].velocity, b.bodies[0].velocity), std::pair(a.gravity, b.gravity)})
      EXPECT_TRUE(same(from.x, to.x) && same(from.y, to.y) && same(from.z, to.z)) << i;
  }
}

TEST(SceneFiles, AnglesThatSomebodyWroteInDegreesStayDegrees) {
  SceneFile file = full_file();
  for (const double degrees : {9.5, 1.0, 33.3, 180.0}) {
    file.scene.task->angle_tolerance = degrees * 3.14159265358979323846 / 180;
    const std::string text = format_scene_file(file);
    EXPECT_EQ(text.find("angle_radians"), std::string::npos) << degrees;
    EXPECT_EQ(parse_scene_file(text, "test").scene.task->angle_tolerance, file.scene.task->angle_tolerance);
  }
  const std::string task =
      "cotouch = 2\n[[body]]\nmotion = \"free\"\n[[body.part]]\nasset = \"a.cot\"\n[task]\nbody = 1\n";
  EXPECT_EQ(parse_scene_file(task + "angle_radians = 0.25", "test").scene.task->angle_tolerance, 0.25);
  EXPECT_EQ(parse_scene_file(task, "test").scene.task->angle_tolerance, Task{}.angle_tolerance);
  for (const char* wrong : {"angle = 1\nangle_radians = 0.1", "angle_radians = 4", "angle_radians = -1"})
    EXPECT_THROW(parse_scene_file(task + wrong, "test"), Error) << wrong;
}

TEST(SceneFiles, TextsMayBeAsLongInAnyScript) {
  const auto titled = [](const std::string& title) { return "cotouch = 2\ntitle = \"" + title + "\""; };
  std::string greek;
  while (greek.size() < 500) greek += "α";
  EXPECT_EQ(parse_scene_file(titled(greek), "test").scene.title, greek);
  EXPECT_THROW(parse_scene_file(titled(greek + "α"), "test"), Error);
  EXPECT_EQ(parse_scene_file(titled(std::string(500, '%')), "test").scene.title, std::string(500, '%'));
}

TEST(SceneFiles, GravityMayBeANumberThatPullsDown) {
  EXPECT_EQ(parse_scene_file("cotouch = 2\ngravity = 9.81", "test").scene.gravity, (Vec3d{0, 0, -9.81}));
  EXPECT_EQ(parse_scene_file("cotouch = 2\ngravity = [1, 0, 2]", "test").scene.gravity, (Vec3d{1, 0, 2}));
  EXPECT_EQ(parse_scene_file("cotouch = 2", "test").scene.gravity, Vec3d{});
}

TEST(SceneFiles, BodiesAreNamedByNumberOrByName) {
  const std::string bodies =
      "[[body]]\nname = \"a\"\nmotion = \"free\"\n[[body.part]]\nasset = \"a.cot\"\n"
      "[[body]]\nname = \"b\"\n[[body.part]]\nasset = \"a.cot\"\n"
      "[[body]]\nname = \"b\"\n[[body.part]]\nasset = \"a.cot\"\n";
  const Scene scene =
      parse_scene_file("cotouch = 2\nexclude = [[\"a\", 3]]\n[task]\nbody = \"a\"\n" + bodies, "test").scene;
  EXPECT_EQ(scene.rules.at(0), (PairRule{1, 3, false}));
  EXPECT_EQ(scene.task->body, 1U);
  EXPECT_THROW(parse_scene_file("cotouch = 2\nexclude = [[\"a\", \"b\"]]\n" + bodies, "test"), Error);
  EXPECT_THROW(parse_scene_file("cotouch = 2\nexclude = [[\"a\", 4]]\n" + bodies, "test"), Error);
  EXPECT_THROW(parse_scene_file("cotouch = 2\nexclude = [[1, 1]]\n" + bodies, "test"), Error);
}

TEST(SceneFiles, HostileOnesAreRefusedInOneSentence) {
  const std::string good = "cotouch = 2\n";
  const std::string body = good + "[[body]]\n[[body.part]]\nasset = \"a.cot\"\n";
  const std::string of_body = "[[body.part]]\nasset = \"a.cot\"\n";
  const std::string free = good + "[[body]]\nmotion = \"free\"\n";
  EXPECT_NO_THROW(parse_scene_file(body, "test"));
  EXPECT_NO_THROW(parse_scene_file(free + of_body, "test"));
  const std::vector<std::string> bad{
      "",
      "cotouch = 3",
      "cotouch = \"2\"",
      "cotouch = 2\ncotouch = 2",
      "not toml [",
      good + "name = \"../up\"",
      good + "name = 7",
      good + "contact_stiffness = nan",
      good + "contact_stiffness = 9999",
      good + "contact_stiffness = 1.1e6",
      good + "max_force = 8.6",
      good + "max_froce = 4",
      good + "gravity = [0, 0]",
      good + "gravity = -9.81",
      good + "gravity = \"down\"",
      good + "gravity = [0, 0, 1e308]",
      good + "friction = -0.1",
      good + "restitution = 1.1",
      good + "drag = inf",
      good + "part = 3",
      good + "body = 3",
      good + "body = [1, 2]",
      good + "[[body]]",
      good + "[[body]]\npart = 3",
      body + "colour = \"#123456\"",
      good + "[[body]]\n[[body.part]]\nasset = \"/etc/passwd\"",
      good + "[[body]]\n[[body.part]]\nasset = \"../../secret.cot\"",
      good + "[[body]]\n[[body.part]]\nasset = \"a/../../b.cot\"",
      good + "[[body]]\n[[body.part]]\nmesh = \"..\\\\x.stl\"",
      body + "mesh = \"b.stl\"",
      body + "position = [1, 2]",
      body + "position = [1, 2, nan]",
      body + "position = [1, 2, 1e9]",
      body + "position = \"here\"",
      body + "rotation = [0, 0, 0, 0]",
      body + "rotation = [1, 1, 0, 0]",
      body + "color = \"red\"",
      body + "color = \"#12345g\"",
      body + "unit = \"parsec\"",
      body + "resolution = 100000",
      body + "points = 1e9",
      good + "[[body]]\nmotion = \"sideways\"\n" + of_body,
      good + "[[body]]\nholding = \"both\"\n" + of_body,
      good + "[[body]]\ndensity = 0\n" + of_body,
      free + "mass = 1\n" + of_body,
      free + "mass = 1\ncenter = [0, 0, 0]\ninertia = [1, 1, 3, 0, 0, 0]\n" + of_body,
      free + "mass = 1\ncenter = [0, 0, 0]\ninertia = [1, 1, 1]\n" + of_body,
      free + "density = 7\nmass = 1\ncenter = [0, 0, 0]\ninertia = [1, 1, 1, 0, 0, 0]\n" + of_body,
      free + "velocity = [200, 0, 0]\n" + of_body,
      free + "path = [[0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0]]\n" + of_body,
      good + "[[body]]\nmotion = \"path\"\n" + of_body,
      good + "[[body]]\nmotion = \"path\"\npath = [[0, 0, 0, 1, 0, 0, 0]]\n" + of_body,
      good + "[[body]]\nmotion = \"path\"\npath = [[0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 2, 0, 0, 0]]\n" + of_body,
      good + "[task]\nbody = 1\n",
      good + "[task]\nbody = 1\n[[body]]\n" + of_body,
      good + "[task]\n[[body]]\nmotion = \"free\"\n" + of_body,
      good + "[task]\nbody = 1\nangel = 3\n[[body]]\nmotion = \"free\"\n" + of_body,
      free + of_body + "[hand]\nbody = 1\npath = [[0, 0, 0, 1, 0, 0, 0]]\n",
      free + of_body + "[[hand]]\nbody = 2\npath = [[0, 0, 0, 1, 0, 0, 0]]\n",
      free + of_body + "[[hand]]\nbody = 1\n",
      free + of_body + "[[hand]]\npath = [[0, 0, 0, 1, 0, 0, 0]]\n",
      free + of_body + "[[hand]]\nbody = 1\npath = []\n",
      free + of_body + "[[hand]]\nbody = 1\npath = [[0, 0, 1e9, 1, 0, 0, 0]]\n",
      free + of_body + "[[hand]]\nbody = 1\npath = [[0, 0, 0, 1, 0, 0, 0]]\nspeed = 0\n",
      free + of_body + "[[hand]]\nbody = 1\npath = [[0, 0, 0, 1, 0, 0, 0]]\nkeys = 0\n",
      good + "[[body]]\n[[body.part]]\nmesh = \"a.obj\"\n[[hand]]\nbody = 1\npath = [[0, 0, 0, 1, 0, 0, 0]]\n",
      good + "exclude = 1",
      good + "exclude = [[1]]",
      good + "exclude = [[1, 2.5]]",
      good + "\xef\xbb\xbb",
      good + "0=-'1O\xef\xbb\xb6",
      good + "name \xc3\xa4 = 1",
      good + "title = \"" + std::string(1000, 'x') + "\"",
      good + "x = " + std::string(5000, '['),
      good + std::string(2 << 20, '#'),
  };
  for (const std::string& text : bad) {
    try {
      parse_scene_file(text, "test");
      ADD_FAILURE() << text.substr(0, 120);
    } catch (const Error& error) {
      const std::string sentence = error.what();
      EXPECT_TRUE(sentence.starts_with("The scene test ")) << sentence;
      EXPECT_EQ(sentence.back(), '.') << sentence;
    }
  }
}

TEST(SceneFiles, AMisspeltKeyIsNamed) {
  try {
    parse_scene_file("cotouch = 2\n[[body]]\ndensty = 3\n[[body.part]]\nasset = \"a.cot\"\n", "test");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "The scene test cannot be used: body 1: nothing is called `densty` here.");
  }
}

TEST(SceneFiles, ARangeIsNamedWithoutExponents) {
  try {
    parse_scene_file("cotouch = 2\ncontact_stiffness = 100", "test");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "The scene test cannot be used: `contact_stiffness` is not a number from 10000 to 1000000.");
  }
}

TEST(SceneFiles, SizesAreBounded) {
  const std::string part = "[[body.part]]\nasset = \"a.cot\"\n";
  const auto bodies = [&](std::size_t count, std::size_t parts) {
    std::string text = "cotouch = 2\n";
    for (std::size_t i = 0; i < count; ++i) {
      text += "[[body]]\n";
      for (std::size_t k = 0; k < parts; ++k) text += part;
    }
    return text;
  };
  EXPECT_NO_THROW(parse_scene_file(bodies(64, 2), "test"));
  EXPECT_THROW(parse_scene_file(bodies(65, 1), "test"), Error);
  EXPECT_NO_THROW(parse_scene_file(bodies(1, 16), "test"));
  EXPECT_THROW(parse_scene_file(bodies(1, 17), "test"), Error);
  EXPECT_THROW(parse_scene_file(bodies(43, 3), "test"), Error);  // 129 parts
  const auto hands = [&](std::size_t count) {
    std::string text = "cotouch = 2\n[[body]]\nmotion = \"free\"\n" + part;
    for (std::size_t i = 0; i < count; ++i) text += "[[hand]]\nbody = 1\npath = [[0, 0, 0, 1, 0, 0, 0]]\n";
    return text;
  };
  EXPECT_NO_THROW(parse_scene_file(hands(8), "test"));
  EXPECT_THROW(parse_scene_file(hands(9), "test"), Error);
}

TEST(SceneFiles, VersionOneIsStillRead) {
  const Scene scene = parse_scene_file(
                          "cotouch = 1\nname = \"old\"\nmoving = \"field\"\nmax_force = 40\ncontact_stiffness = 1000\n"
                          "[[part]]\nasset = \"housing.cot\"\nposition = [0, 0, 1]\ncolor = \"#102030\"\n"
                          "[[part]]\nname = \"peg\"\nmesh = \"peg.stl\"\nrole = \"moving\"\nrotation = [0, 1, 0, 0]\n",
                          "test")
                          .scene;
  EXPECT_EQ(scene.name, "old");
  EXPECT_EQ(scene.coupling.max_force, 8.5);
  EXPECT_EQ(scene.contact_stiffness, Scene{}.contact_stiffness);
  ASSERT_EQ(scene.bodies.size(), 2U);
  EXPECT_EQ(scene.bodies[0].name, "housing");
  EXPECT_EQ(scene.bodies[0].motion, Motion::fixed);
  EXPECT_EQ(scene.bodies[0].pose.position, (Vec3d{0, 0, 1}));
  EXPECT_EQ(scene.bodies[0].parts.at(0).place, Pose{});
  EXPECT_EQ(scene.bodies[0].parts.at(0).color, "#102030");
  EXPECT_EQ(scene.bodies[1].name, "peg");
  EXPECT_EQ(scene.bodies[1].motion, Motion::free);
  EXPECT_EQ(scene.bodies[1].pose.rotation, (Quat{0, 1, 0, 0}));

  const std::string good = "cotouch = 1\n", part = good + "[[part]]\nasset = \"a.cot\"\n";
  for (const std::string& text :
       {good + "moving = \"both\"", good + "max_force = 41", good + "gravity = 3", good + "[[body]]",
        part + "role = \"both\"", part + "role = \"moving\"\n[[part]]\nasset = \"b.cot\"\nrole = \"moving\""})
    EXPECT_THROW(parse_scene_file(text, "test"), Error) << text;
}

TEST(SceneFiles, RandomDamageNeverDoesMoreThanThrow) {
  const std::string good = format_scene_file(full_file());
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

Scene two_balls() {
  PartSettings settings;
  settings.field.resolution = 24;
  settings.shell.points = 256;
  const auto part = testing_support::prepared(make_sphere(0.02, 2), settings);
  Scene scene;
  for (const std::uint32_t id : {4U, 9U}) {
    SceneBody body;
    body.id = id;
    body.name = "ball " + std::to_string(id);
    ScenePart& only = body.parts.emplace_back();
    only.name = body.name;
    only.settings = settings;
    only.part = part;
    scene.bodies.push_back(body);
  }
  scene.bodies[1].motion = Motion::free;
  scene.bodies[1].pose.position = {0, 0, 0.05};
  scene.gravity = {0, 0, -1};
  Task task;
  task.body = 9;
  scene.task = task;
  scene.rules = {{9, 4, false}, {4, 77, false}};
  return scene;
}

TEST(SceneFiles, ASavedSceneOpensAgain) {
  const TemporaryFolder folder;
  Scene scene = two_balls();
  // Of three hand motions, one is of a body that was taken out and one of a body that is fixed.
  for (const std::uint32_t body : {99U, scene.bodies[1].id, scene.bodies[0].id})
    scene.scripts.push_back({body, {{{0, 0, 0.05}, {}}, {{0, 0, 0.04}, {}}}, 0.02});
  save_scene(scene, "mine", folder / "mine");
  std::ofstream(folder / "mine" / "part-7.cot") << "of an earlier save";
  const std::filesystem::path file = save_scene(scene, "mine", folder / "mine");
  EXPECT_FALSE(std::filesystem::exists(folder / "mine" / "part-7.cot"));
  // Both balls are one part.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "mine"), {}), 2);

  NoProgress none;
  const Scene again = load_scene_file(file, none);
  EXPECT_EQ(again.name, "mine");
  ASSERT_EQ(again.bodies.size(), 2U);
  ASSERT_TRUE(again.is_prepared());
  EXPECT_EQ(again.bodies[0].parts[0].part, again.bodies[1].parts[0].part);
  EXPECT_EQ(again.bodies[1].motion, Motion::free);
  EXPECT_EQ(again.bodies[1].pose.position, (Vec3d{0, 0, 0.05}));
  // Numbers are given anew, and what they referred to still is what it was.
  EXPECT_EQ(again.task->body, again.bodies[1].id);
  ASSERT_EQ(again.rules.size(), 1U);
  EXPECT_EQ(again.rules[0], (PairRule{again.bodies[1].id, again.bodies[0].id, false}));
  ASSERT_EQ(again.scripts.size(), 1U);
  EXPECT_EQ(again.scripts[0].body, again.bodies[1].id);
  EXPECT_EQ(again.scripts[0].keys, scene.scripts[1].keys);
  EXPECT_EQ(again.scripts[0].speed, 0.02);
  EXPECT_EQ(mass_of(again.bodies[1]).mass, mass_of(scene.bodies[1]).mass);
  EXPECT_THROW(load_scene_file(folder / "none.toml", none), Error);
}

TEST(SceneFiles, ASavedSceneRemembersHowItsPartsWereRead) {
  const TemporaryFolder folder;
  Scene scene = two_balls();
  PartImport import;
  import.facts = {"in", 0.0254, ImportFacts::From::stated, 'y', ImportFacts::From::guessed, {}};
  scene.bodies[0].parts[0].import = std::make_shared<const PartImport>(import);
  import.facts.unit = "0.002 m";  // which has no name that a file could say
  scene.bodies[1].parts[0].import = std::make_shared<const PartImport>(import);
  NoProgress none;
  const Scene again = load_scene_file(save_scene(scene, "mine", folder / "mine"), none);
  ASSERT_TRUE(again.bodies[0].parts[0].import);
  const ImportFacts& facts = again.bodies[0].parts[0].import->facts;
  EXPECT_EQ(facts.unit, "in");
  EXPECT_EQ(facts.metres_per_unit, 0.0254);
  EXPECT_EQ(facts.up_axis, 'y');
  EXPECT_FALSE(again.bodies[1].parts[0].import);
}

TEST(SceneFiles, MeshesArePreparedAndShared) {
  const TemporaryFolder folder;
  std::ofstream(folder / "t.obj") << "v 0 0 0\nv 30 0 0\nv 0 30 0\nv 0 0 30\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  const std::string part = "[[body.part]]\nmesh = \"t.obj\"\nunit = \"mm\"\nresolution = 24\npoints = 128\n";
  std::ofstream(folder / "s.toml") << "cotouch = 2\n[[body]]\n" << part << "[[body]]\nmotion = \"free\"\n" << part;
  NoProgress none;
  const Scene scene = load_scene_file(folder / "s.toml", none);
  EXPECT_EQ(scene.name, "s");
  ASSERT_TRUE(scene.is_prepared());
  EXPECT_EQ(scene.bodies[0].parts[0].part, scene.bodies[1].parts[0].part);
  EXPECT_NEAR(mass_of(scene.bodies[1]).mass, 1000 * 0.03 * 0.03 * 0.03 / 6, 2e-4);
  EXPECT_EQ(make_model(scene)->bodies().size(), 2U);
  ASSERT_TRUE(scene.bodies[0].parts[0].import);
  EXPECT_EQ(scene.bodies[0].parts[0].import->facts.unit, "mm");
}

TEST(SceneFiles, NoLinkLeadsOutOfTheirFolder) {
  const TemporaryFolder folder;
  std::ofstream(folder / "secret.obj") << "v 0 0 0\nv 30 0 0\nv 0 30 0\nv 0 0 30\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  const std::filesystem::path saved = save_scene(two_balls(), "mine", folder / "mine").parent_path();
  std::filesystem::create_directories(folder / "scene/below");
  for (const std::filesystem::directory_entry& file : std::filesystem::directory_iterator(saved))
    if (file.path().extension() == ".cot") std::filesystem::create_symlink(file.path(), folder / "scene/link.cot");
  std::filesystem::create_symlink("../secret.obj", folder / "scene/link.obj");
  std::filesystem::create_symlink(folder.path(), folder / "scene/up");
  std::filesystem::copy_file(folder / "secret.obj", folder / "scene/below/own.obj");
  std::filesystem::create_symlink("below/own.obj", folder / "scene/inside.obj");
  NoProgress none;
  const auto open = [&](const std::string& part) {
    std::ofstream(folder / "scene/scene.toml") << "cotouch = 2\n[[body]]\n[[body.part]]\n" << part << "\n";
    return load_scene_file(folder / "scene/scene.toml", none).bodies.size();
  };
  const std::string coarse = "\"\nunit = \"mm\"\nresolution = 24\npoints = 128";
  for (const char* mesh : {"link.obj", "up/secret.obj"})
    EXPECT_THROW(open("mesh = \"" + std::string(mesh) + coarse), Error) << mesh;
  EXPECT_THROW(open("asset = \"link.cot\""), Error);
  EXPECT_EQ(open("mesh = \"inside.obj" + coarse), 1U);
}

TEST(SceneFiles, TheExampleComesToRest) {
  NoProgress none;
  const Scene scene = load_scene_file(COTOUCH_SOURCE_DIR "/examples/blocks/scene.toml", none);
  const auto model = make_model(scene, {1e-2, 1, {}});
  StepScratch scratch(*model);
  WorldState state(*model);
  for (int i = 0; i < 200; ++i) step(*model, state, {}, scratch);
  EXPECT_LT(energy(*model, state).kinetic, 1e-9);
  // A block of 40 mm on a shell half a cell thick (0.42 mm), and another one on top of it.
  EXPECT_NEAR(state.bodies()[1].pose.position.z, 0.0204, 2e-4);
  EXPECT_NEAR(state.bodies()[2].pose.position.z, 0.0608, 4e-4);
}

}  // namespace
}  // namespace cotouch::this_file
