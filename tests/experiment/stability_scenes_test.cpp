// Where the experiment `stability` presses, and how hard.
#include <cotouch/experiment/stability_scenes.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

TEST(StabilityScenes, EveryBuiltInSceneHasAHandThatStartsWhereItsBodyIs) {
  for (const std::string& name : builtin_scene_names()) {
    const Scene scene = builtin_scene(name);
    const HandScript script = script_of(scene);
    ASSERT_NE(scene.find(script.body), nullptr) << name;
    EXPECT_EQ(scene.find(script.body)->motion, Motion::free) << name;
    ASSERT_GE(script.keys.size(), 3U) << name;
    EXPECT_EQ(script.keys.front(), scene.find(script.body)->pose) << name;
    EXPECT_TRUE(scene.scripts.empty() || script.keys == scene.scripts.front().keys) << name;
  }
}

TEST(StabilityScenes, AMadeUpHandPushesTheFirstFreeBodyIntoTheNext) {
  Scene scene;
  for (std::uint32_t id = 1; id <= 4; ++id) {
    SceneBody body;
    body.id = id;
    body.motion = id % 2 == 0 ? Motion::free : Motion::fixed;
    body.pose.position.x = id;
    scene.bodies.push_back(body);
  }
  const HandScript script = script_of(scene);
  EXPECT_EQ(script.body, 2U);
  ASSERT_EQ(script.keys.size(), 3U);
  EXPECT_EQ(script.keys[1].position, (Vec3d{4, 0, 0}));
  EXPECT_EQ(script.keys[2], script.keys[0]);
}

// Eight newtons on a point of 5000 N/m in cells of a 64th of 0.2 m.
TEST(StabilityScenes, AHandThatPressesAsHardAsItMayGetsAsDeepAsItsForceSays) {
  NoProgress quiet;
  TouchedScene wall = rigid_wall(quiet);
  EXPECT_TRUE(wall.theory_holds);
  WorldSettings soft = wall.model->settings();
  soft.contact.stiffness = 5000;
  wall.model = wall.model->with(soft);
  for (const bool quick : {true, false}) {
    const Pressed pressed = press_hard(wall, quick);
    EXPECT_NEAR(pressed.force, CouplingSettings{}.max_force, 1e-3) << quick;
    EXPECT_NEAR(pressed.deepest, 8.0 / 5000, 0.1 * 8 / 5000) << quick;
    EXPECT_NEAR(pressed.cells, pressed.deepest / (0.2 / 64), 0.1 * pressed.cells) << quick;
  }
}

// Two springs in series: K k / (K + k).
TEST(StabilityScenes, AHandFeelsCouplingAndContactInSeries) {
  NoProgress quiet;
  TouchedScene wall = rigid_wall(quiet);
  for (const double contact : {1000.0, 5000.0, 1e7})
    for (const double coupling : {700.0, 1500.0}) {
      WorldSettings settings = wall.model->settings();
      settings.contact.stiffness = contact;
      wall.model = wall.model->with(settings);
      const double series = contact * coupling / (contact + coupling);
      EXPECT_NEAR(felt_stiffness(wall, coupling), series, 0.02 * series) << contact << " " << coupling;
    }
  for (Pose& key : wall.script.keys) key.position.z = wall.script.keys.front().position.z;
  EXPECT_EQ(felt_stiffness(wall, 1000), 0);
}

TEST(StabilityScenes, TheTheorySpeaksOnlyOfOneBodyThatMovesAndNoneThatBends) {
  for (const char* name : {"gears", "engine-bay", "ball-socket"}) {
    const Scene scene = builtin_scene(name);
    EXPECT_TRUE(theory_holds(scene, script_of(scene).body)) << name;
  }
  for (const char* name : {"hoses", "soft-soft", "bridge-creature-soft", "snap-clip", "stack", "docking"}) {
    const Scene scene = builtin_scene(name);
    EXPECT_FALSE(theory_holds(scene, script_of(scene).body)) << name;
  }
}

}  // namespace
}  // namespace cotouch::this_file
