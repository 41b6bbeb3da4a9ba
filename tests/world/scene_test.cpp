// Built-in scenes: each becomes a world that starts free of deep contact; led by its script it touches something.
#include <cotouch/world/scene.h>

#include <cotouch/base/error.h>
#include <cotouch/part/asset.h>
#include <cotouch/part/part.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/world/hand_path.h>
#include <cotouch/world/step.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/questions.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

// As users see it; its parts come from the cache if they are there.
Scene shown_scene(const std::string& name) {
  Scene scene = builtin_scene(name);
  NoProgress quiet;
  prepare(scene, quiet);
  return scene;
}

std::vector<HandInput> script_inputs(const Scene& scene, double seconds, bool grasp) {
  std::vector<HandInput> inputs;
  for (const HandScript& script : scene.scripts) {
    HandInput input;
    input.present = true;
    input.body = script.body;
    input.action = grasp ? HandInput::Action::grasp : HandInput::Action::none;
    input.pose = HandPath(script.keys, script.speed).at(seconds);
    inputs.push_back(input);
  }
  return inputs;
}

double script_duration(const Scene& scene) {
  double duration = 0;
  for (const HandScript& script : scene.scripts)
    duration = std::max(duration, HandPath(script.keys, script.speed).duration());
  return duration;
}

TEST(Scenes, HaveNamesOfTheirOwnAndOneSentenceForTheGallery) {
  const std::vector<std::string> names = builtin_scene_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) {
    const Scene scene = builtin_scene(name);
    EXPECT_EQ(scene.name, name);
    EXPECT_FALSE(scene.title.empty());
    ASSERT_FALSE(scene.summary.empty()) << name;
    EXPECT_EQ(scene.summary.find_first_of(".?!"), scene.summary.size() - 1) << name;
  }
}

TEST(Scenes, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  try {
    builtin_scene("kitchen");
    FAIL();
  } catch (const Error& error) {
    for (const std::string& name : builtin_scene_names())
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name;
  }
}

TEST(Scenes, AreTheSameEveryTime) {
  for (const std::string& name : builtin_scene_names()) {
    const Scene a = builtin_scene(name), b = builtin_scene(name);
    ASSERT_EQ(a.bodies.size(), b.bodies.size());
    for (std::size_t i = 0; i < a.bodies.size(); ++i) {
      EXPECT_EQ(a.bodies[i].pose, b.bodies[i].pose) << name;
      EXPECT_EQ(a.bodies[i].parts[0].mesh->vertices, b.bodies[i].parts[0].mesh->vertices) << name;
    }
  }
}

TEST(Scenes, EqualBodiesShareOneMesh) {
  for (const auto& [name, meshes] : {std::pair{"stack", 6U}, {"assembly", 9U}, {"billiard", 2U}}) {
    const Scene scene = builtin_scene(name);
    std::set<const TriangleMesh*> seen;
    for (const SceneBody& body : scene.bodies) seen.insert(body.parts[0].mesh.get());
    EXPECT_EQ(seen.size(), meshes) << name;
  }
}

TEST(ScenesSlow, StartFreeAndTouchSomethingWhenLed) {
  for (const std::string& name : builtin_scene_names()) {
    SCOPED_TRACE(name);
    const Scene scene = shown_scene(name);
    const auto model = make_model(scene, {4e-3, 2, {}});
    StepScratch scratch(*model, true);
    WorldState state(*model);
    step(*model, state, script_inputs(scene, 0, true), scratch);
    for (std::size_t i = 0; i < model->pairs().size(); ++i)
      EXPECT_LE(static_cast<double>(scratch.contact(i).stats.deepest),
                0.25 * model->engine(model->pairs()[i]).extent().finest_feature)
          << i;
    for (const HandScript& script : scene.scripts) EXPECT_NE(scene.find(script.body), nullptr);
    if (scene.scripts.empty()) continue;

    bool touched = false;
    const double end = script_duration(scene);
    for (double t = 0; t < end && !touched; t += 4e-3) {
      step(*model, state, script_inputs(scene, t, false), scratch);
      touched = scratch.stats().in_contact > 0;
    }
    EXPECT_TRUE(touched);
  }
}

// Blocks and parts that lie on a table, at the tick of a shared world and at that of a local one.
TEST(ScenesSlow, WhatLiesComesToRestAndStays) {
  for (const char* name : {"stack", "assembly", "docking"}) {
    const Scene scene = shown_scene(name);
    for (const double tick : {1e-2, 1e-3}) {
      SCOPED_TRACE(std::string(name) + " at " + std::to_string(tick));
      const auto model = make_model(scene, {tick, 0, {}});
      StepScratch scratch(*model, true);
      WorldState state(*model);
      const double begin = energy(*model, state).potential;
      double most = begin, least = begin, rise = 0;
      const auto run = [&](double seconds) {
        for (int i = 0; i * tick < seconds; ++i) {
          step(*model, state, {}, scratch);
          const WorldEnergy now = energy(*model, state);
          most = std::max(most, now.kinetic + now.potential);
          least = std::min(least, now.kinetic + now.potential);
          rise = std::max(rise, now.kinetic + now.potential - least);
        }
      };
      run(2);
      EXPECT_LT(energy(*model, state).kinetic, 1e-6);
      // Landing makes no energy. A bounce gives back what the contacts took: a fraction of the 25 mJ that all blocks of
      // the stack have over the plate.
      EXPECT_LT(most, begin + 1e-9);
      EXPECT_LT(rise, 1e-3);
      const WorldState rest = state;
      run(2);
      for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
        const Vec3d drift = state.bodies()[i].pose.position - rest.bodies()[i].pose.position;
        EXPECT_LT(norm(drift), 1e-4) << scene.bodies[i].name;
        // Nothing is thrown about or falls through: blocks that fall on an edge go farthest.
        const Vec3d moved = rest.bodies()[i].pose.position - scene.bodies[i].pose.position;
        EXPECT_LT(norm(moved), 0.06) << scene.bodies[i].name;
      }
    }
  }
}

TEST(ScenesSlow, TwoHandsDockTheBox) {
  const Scene scene = shown_scene("docking");
  ASSERT_EQ(scene.scripts.size(), 2U);
  EXPECT_NEAR(mass_of(*scene.find(scene.task->body)).mass, 0.5, 0.02);
  const auto model = make_model(scene, {1e-2, 2, {}});
  StepScratch scratch(*model, true);
  WorldState state(*model);
  const double end = script_duration(scene) + 0.5;
  for (int i = 0; i * 1e-2 < end; ++i) step(*model, state, script_inputs(scene, i * 1e-2, i == 0), scratch);
  EXPECT_EQ(state.head().task.done, 1);
  EXPECT_EQ(state.bodies()[*model->index_of(scene.task->body)].pose, scene.task->target);
}

TEST(ScenesSlow, BallsPassTheirMotionOnAndStop) {
  const Scene scene = shown_scene("billiard");
  const auto model = make_model(scene, {1e-2, 0, {}});
  StepScratch scratch(*model, true);
  WorldState state(*model);
  const double begin = energy(*model, state).kinetic;
  int moved = 0;
  for (int i = 0; i < 600; ++i) {
    step(*model, state, {}, scratch);
    // Coarser shells begin a quarter of a millimetre in the table: a millijoule for each ball.
    EXPECT_LE(energy(*model, state).kinetic, begin + 0.012);
    for (const BodyRecord& body : state.bodies()) {
      EXPECT_LT(std::max(std::abs(body.pose.position.x), std::abs(body.pose.position.y)), 0.25);
      EXPECT_GT(body.pose.position.z, -0.001);
    }
  }
  for (std::size_t i = 0; i < scene.bodies.size(); ++i)
    if (norm(state.bodies()[i].pose.position - scene.bodies[i].pose.position) > 0.005) ++moved;
  EXPECT_GE(moved, 6);
  EXPECT_LT(energy(*model, state).kinetic, 0.01 * begin);
}

// Sessions ask for it many times a second, on the thread that makes their views.
TEST(Scene, OfPreparedPartsKnowsItsBoundsWithoutLookingAtThem) {
  PartSettings settings;
  settings.field.resolution = 8;
  settings.shell.points = 64;
  NoProgress quiet;
  Scene scene;
  ScenePart& part = scene.bodies.emplace_back().parts.emplace_back();
  auto sphere = std::make_shared<TriangleMesh>(make_sphere(0.05, 2));
  part.mesh = sphere;
  const Box3d looked_at = scene.bounds();
  ASSERT_GT(questions_of([&] { scene.bounds(); }), 0U);  // as all that goes through a mesh
  part.part = std::make_shared<const Part>(prepare_part(*sphere, settings, quiet));
  EXPECT_EQ(questions_of([&] { scene.bounds(); }), 0U);
  EXPECT_EQ(scene.bounds().low, looked_at.low);
  EXPECT_EQ(scene.bounds().high, looked_at.high);
  const TemporaryFolder folder;
  write_asset(*part.part, folder / "a.cot");
  part.part = std::make_shared<const Part>(read_asset(folder / "a.cot"));
  EXPECT_EQ(questions_of([&] { scene.bounds(); }), 0U);
  EXPECT_EQ(scene.bounds().low, looked_at.low);
  EXPECT_EQ(scene.bounds().high, looked_at.high);
}

}  // namespace
}  // namespace cotouch::this_file
