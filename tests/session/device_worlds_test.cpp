// Worlds that run with devices of several kinds, without a clock.
#include <cotouch/base/realtime.h>
#include <cotouch/device/steered_device.h>
#include <cotouch/device/workspace_hand.h>
#include <cotouch/session/reach.h>
#include <cotouch/session/running_world.h>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <utility>

#include "session/page_hands.h"
#include "session/session_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class Handle final : public Device {
 public:
  std::string name() const override { return "handle"; }
  DeviceLimits limits() const noexcept override { return {{8, 8, 0.4, 0.4, 60}, 2000, 2, 0, 1e6, 1e6}; }
  bool read(DeviceReading& reading) noexcept override {
    reading.pose.position = at;
    reading.buttons = k_grasp_button;
    reading.clock = ++clock;
    return true;
  }
  void write(const LimitedWrench& wrench) noexcept override { force = wrench.get().force; }
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

  Vec3d at, force{1e9, 0, 0};
  std::uint64_t clock = 0;
};

// A page is hand 0, a device with motors hand 1.
class PageAndDevice : public ::testing::Test {
 protected:
  // Where the tip is, in the scene.
  void put(const Vec3d& tip) { handle.at = tip - three_balls().bounds().center(); }

  std::unique_ptr<Handle> owned = std::make_unique<Handle>();
  Handle& handle = *owned;
  WorkspaceHand device{std::move(owned)};
  PageDevice page;
  HandDevices hands{&page, &device};
};

TEST_F(PageAndDevice, BothHoldTheSameBodyAndFeelEachOther) {
  RunningWorld world(three_balls(), {}, hands);
  ASSERT_EQ(device.scale(), 1);
  put({0, 0, 0.05});
  page.hold(2, {});
  device.hold(2, {});
  world.loop().run_cycles(200);
  EXPECT_EQ(world.loop().world_frame().world.hands()[0].body, 1);
  EXPECT_EQ(world.loop().world_frame().world.hands()[1].body, 1);
  put({0.004, 0, 0.05});
  world.loop().run_cycles(500);
  // Two springs of 1000 N/m in a row.
  EXPECT_NEAR(handle.force.x, -2, 0.05);
  device.release();
  world.loop().run_cycles(1);
  EXPECT_EQ(handle.force, Vec3d{});
  EXPECT_EQ(world.loop().world_frame().world.hands()[1].body, -1);
}

TEST_F(PageAndDevice, ADeviceWithMotorsFeelsAWorldThatIsFollowed) {
  RunningWorld world(three_balls(), {}, hands, Following{5});
  const auto model = felt_model(three_balls(), {}, k_shared_pace);
  WorldState shared(*model);
  StepScratch scratch(*model);
  std::array<HandInput, k_shared_pace.hands> inputs{};
  std::uint32_t told = 0;
  const auto pass = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      const LocalHand hand = world.local_hands()[5];
      inputs[5] = shared_input(hand, told);
      told = hand.grasps;
      step(*model, shared, inputs, scratch);
      ASSERT_TRUE(world.follow(shared));
      world.loop().run_cycles(10);
    }
  };
  put({0, 0, 0.05});
  pass(5);
  EXPECT_EQ(world.hand_of(1), 5U);  // the only one that is there
  EXPECT_EQ(shared.hands()[5].present, 1);
  EXPECT_EQ(handle.force, Vec3d{});
  device.hold(2, {});
  pass(5);
  EXPECT_EQ(shared.hands()[5].body, 1);
  put({0, 0, 0.035});
  pass(100);
  EXPECT_GT(handle.force.z, 1);
  // The page takes over, and the device is without force.
  device.release();
  page.hold(3, {});
  pass(5);
  EXPECT_EQ(world.hand_of(0), 5U);
  EXPECT_EQ(shared.hands()[5].body, 2);
  EXPECT_EQ(handle.force, Vec3d{});
  page.release();
  pass(5);
  EXPECT_EQ(world.hand_of(1), 5U);
  EXPECT_EQ(shared.hands()[5].body, -1);
}

TEST_F(PageAndDevice, ACycleNeitherAllocatesNorLocks) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  RunningWorld world(three_balls(), {}, hands);
  put({0, 0, 0.05});
  device.hold(2, {});
  world.loop().run_cycles(5);
  const std::uint64_t before = RealtimeSection::breaches();
  put({0, 0, 0.035});
  world.loop().run_cycles(300);
  EXPECT_GT(handle.force.z, 1);
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

// As a watchdog disables them. What has motors waits for somebody, what has none does not, unless it was switched off.
TEST_F(PageAndDevice, OnlyWhatHasNoMotorsIsEnabledAgainByItself) {
  ForceLimiter(device, {}).disable();
  ForceLimiter(page, {}).disable();
  RunningWorld world(three_balls(), {}, hands);
  world.loop().run_cycles(1);
  page.set_switched_off(true);
  world.enable_hands();
  world.loop().run_cycles(1);
  EXPECT_EQ(world.loop().device_state(0), DeviceState::disabled);
  page.set_switched_off(false);
  world.enable_hands();
  world.loop().run_cycles(1);
  EXPECT_NE(world.loop().device_state(0), DeviceState::disabled);
  EXPECT_EQ(world.loop().device_state(1), DeviceState::disabled);
}

// A hand that is nowhere, and a moment between the beginning of a cycle and the reading of the devices behind it.
class Moment final : public HandDevice {
 public:
  std::string name() const override { return "moment"; }
  DeviceLimits limits() const noexcept override { return k_without_motors; }
  void fit(const SceneExtent&) noexcept override {}
  void hold(std::uint32_t, const Vec3d&) noexcept override {}
  void release() noexcept override {}
  bool has_taken_hold() const noexcept override { return true; }
  bool read(DeviceReading&) noexcept override {
    if (const auto now = std::exchange(then, nullptr)) now();
    return false;
  }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

  std::function<void()> then;
};

class PushedToTheStop final : public SteeringSource {
 public:
  std::string name() const override { return "cap"; }
  bool poll(Deflection& now) noexcept override {
    now.push = {0, 1, 0};
    return true;
  }
};

// A world that takes over in the next cycle still has its bodies where they start in this one.
TEST(SteeredDevices, AHandDoesNotJumpWhenTheWorldIsExchanged) {
  Moment moment;
  SteeredDevice steered(std::make_unique<PushedToTheStop>());
  const Scene scene = three_balls();
  RunningWorld world(scene, {}, HandDevices{&moment, &steered});
  steered.hold(2, {});
  const auto pass = [&](int cycles) {
    for (int i = 0; i < cycles; ++i) {
      if (i % 20 == 0) steered.request();
      world.loop().run_cycles(1);
    }
    return world.loop().frame().sample.hands[1].input.pose.position;
  };
  Vec3d before = pass(1000);
  const double leash = 0.25 * scene.size(), step = 0.5 * scene.size() * 1e-3;
  ASSERT_GT(norm(before - scene.bodies[1].pose.position), leash + 10 * step);
  moment.then = [&] { world.take(RunningWorld::make_change(scene, {.contact_stiffness = 2000}, false)); };
  for (int cycle = 0; cycle < 20; ++cycle) {
    const Vec3d now = pass(1);
    EXPECT_LT(norm(now - before), 1.01 * step) << cycle;
    before = now;
    world.collect(nullptr);
  }
  EXPECT_EQ(world.loop().frame().change, 1U);
}

// A replay knows nothing of scales: what is recorded is the scene's.
TEST_F(PageAndDevice, AReplayOfAScaledDeviceIsTheSameBitForBit) {
  Scene scene = three_balls();
  RunningWorld world(scene, {}, hands);
  device.fit({scene.bounds().center(), 1}, 2);
  handle.at = {-0.015, 0, 0.0125};  // of the middle, half as far as the ball
  device.hold(2, {});
  world.loop().run_cycles(5);
  world.loop().change({nullptr, limit_settings({})});
  world.loop().run_cycles(1);
  Recording recording = begin_recording(world.model(), world.loop().mark(), limit_settings({}), world.loop().hands(),
                                        format_recorded_scene({"three", {}}));
  for (int i = 0; i < 300; ++i) {
    handle.at.z -= 3e-5;
    world.loop().run_cycles(1);
  }
  collect_samples(world.loop(), recording, world.loop().mark().mark.cycle);
  ASSERT_GT(norm(handle.force), 0.5);
  Replay replay(recording, recorded_model(recording, scene));
  while (replay.next()) {
  }
  EXPECT_TRUE(replay.identical()) << replay.same();
}

TEST(Reach, TheBodyWithTheNearestSurfaceIsTaken) {
  const Scene scene = three_balls();
  const auto model = felt_model(scene, {});
  WorldState state(*model);
  const auto reached = nearest_body(scene, state, {0.026, 0, 0.05});
  ASSERT_TRUE(reached);
  EXPECT_EQ(reached->body, 2U);  // 6 mm away; the third is 14 mm away
  EXPECT_NEAR(reached->distance, 0.006, 1e-3);
  EXPECT_NEAR(reached->point.x, 0.026, 1e-12);
  EXPECT_EQ(nearest_body(scene, state, {0.036, 0, 0.05})->body, 3U);
  // What cannot be held is not taken, however near, and nothing is from afar.
  EXPECT_FALSE(nearest_body(scene, state, {0, 0, 0}));
  EXPECT_FALSE(nearest_body(scene, state, {0, 0, 0.2}));
  // Where it is now.
  state.bodies()[1].pose.position.x = -0.1;
  EXPECT_EQ(nearest_body(scene, state, {-0.1, 0, 0.05})->body, 2U);
  EXPECT_EQ(first_body(scene), 2U);
}

// As an engine with data of its own may have it: how far it is then follows from its triangles.
TEST(Reach, ABodyWithoutAFieldIsTakenIfItsMeshIsNear) {
  Scene scene = three_balls();
  const auto model = felt_model(scene, {});
  const WorldState state(*model);
  auto bare = std::make_shared<Part>(*scene.bodies[1].parts[0].part);
  bare->field = {};
  scene.bodies[1].parts[0].part = bare;
  const auto reached = nearest_body(scene, state, {-0.026, 0, 0.05});
  ASSERT_TRUE(reached);
  EXPECT_EQ(reached->body, 2U);
  EXPECT_NEAR(reached->distance, 0.006, 1e-3);  // a ball of 2 cm, of triangles
  EXPECT_EQ(nearest_body(scene, state, {0.04, 0, 0.05})->body, 3U);
  EXPECT_FALSE(nearest_body(scene, state, {0, 0, 0.2}));
}

}  // namespace
}  // namespace cotouch::this_file
