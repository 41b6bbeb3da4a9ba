// A device with a workspace of its own as a hand in a scene.
#include <cotouch/device/workspace_hand.h>

#include <cotouch/device/limits.h>
#include <cotouch/device/simulated_device.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

namespace cotouch::this_file {
namespace {

constexpr SceneExtent k_scene{{1, 2, 3}, 0.4};  // half of it is twice the reach below

// A handle that is where it is put.
class Handle final : public Device {
 public:
  std::string name() const override { return "handle"; }
  DeviceLimits limits() const noexcept override { return {{8, 2, 0.4, 0.1, 60}, 1400, 1.4, 2e-4, 5, 100}; }
  Workspace workspace() const noexcept override { return {0.1}; }
  bool read(DeviceReading& out) noexcept override {
    out = reading;
    return there;
  }
  void write(const LimitedWrench& wrench) noexcept override { written = wrench.get(); }
  void disable() noexcept override {}
  bool enable() noexcept override { return true; }

  DeviceReading reading;
  bool there = true;
  Wrench written;
};

class WorkspaceHandTest : public ::testing::Test {
 protected:
  WorkspaceHandTest() { hand.fit(k_scene); }
  DeviceReading read() {
    DeviceReading reading;
    EXPECT_TRUE(hand.read(reading));
    return reading;
  }
  void press(std::uint32_t buttons) { handle.reading.buttons = buttons; }

  std::unique_ptr<Handle> owned = std::make_unique<Handle>();
  Handle& handle = *owned;
  WorkspaceHand hand{std::move(owned)};
};

double distance(const Vec3d& a, const Vec3d& b) {
  return norm(a - b);
}

TEST_F(WorkspaceHandTest, ItsMiddleIsTheScenesAndItReachesTheScenesEnds) {
  EXPECT_EQ(hand.scale(), 2);
  EXPECT_LT(distance(read().pose.position, k_scene.center), 1e-12);
  handle.reading.pose.position.z = 0.1;
  EXPECT_LT(distance(read().pose.position, {1, 2, 3.2}), 1e-12);
  handle.reading.pose.rotation = quat_from_rotation_vector({0, 0, 0.5});
  EXPECT_NEAR(rotation_vector(read().pose.rotation).z, 0.5, 1e-12);
  // A small scene is not blown up, and a large one not shrunk beyond what a hand can aim in.
  hand.fit({{}, 0.01});
  EXPECT_EQ(hand.scale(), 1);
  hand.fit({{}, 100});
  EXPECT_EQ(hand.scale(), WorkspaceHand::k_largest_scale);
}

TEST_F(WorkspaceHandTest, TheClutchMovesTheHandleAndNotTheScenesHand) {
  handle.reading.pose.position.x = 0.06;
  press(k_grasp_button);
  hand.hold(7, {});
  const Pose before = read().pose;
  press(k_grasp_button | k_clutch_button);
  EXPECT_EQ(read().motors, Motors::off);
  handle.reading.pose = {{-0.05, 0.02, 0.01}, quat_from_rotation_vector({0.3, 0, 0})};
  EXPECT_LT(distance(read().pose.position, before.position), 1e-12);
  press(k_grasp_button);
  const DeviceReading after = read();
  EXPECT_LT(distance(after.pose.position, before.position), 1e-12);
  EXPECT_NEAR(norm(rotation_vector(after.pose.rotation * before.rotation.conjugate())), 0, 1e-12);
  EXPECT_EQ(after.motors, Motors::on);
  handle.reading.pose.position.y += 0.01;
  EXPECT_LT(distance(read().pose.position, before.position + Vec3d{0, 0.02, 0}), 1e-12);
}

// As the person at it may hold it when a scene is opened.
TEST_F(WorkspaceHandTest, AClutchThatIsDownAtFirstBeginsAtTheScenesMiddle) {
  const auto begins_there = [&](const SceneExtent& scene) {
    hand.fit(scene);
    press(k_clutch_button);
    EXPECT_LT(distance(read().pose.position, scene.center), 1e-12);
    handle.reading.pose.position = {0.05, -0.03, 0.02};
    EXPECT_LT(distance(read().pose.position, scene.center), 1e-12);
    press(0);
    EXPECT_LT(distance(read().pose.position, scene.center), 1e-12);
  };
  begins_there(k_scene);
  begins_there({{-4, 0, 1}, 0.3});  // and not where it was in the scene before
}

// The device's work is the scene's times a constant, whatever way the handle goes: dx along and dtheta about anything.
TEST_F(WorkspaceHandTest, GivesTheHandleAConstantShareOfTheScenesWork) {
  LimitSettings settings;
  settings.ramp_seconds = 0;
  settings.force_rate = settings.torque_rate = 1e9;
  for (const double scale : {0.25, 0.5, 1.0, 2.0, 3.5}) {
    hand.fit(k_scene, scale);
    hand.hold(7, {});
    ForceLimiter limiter(hand, settings);
    const Wrench felt{{0.3, -0.2, 0.5}, {0.01, 0.02, -0.015}};
    double share = 0;
    for (int axis = 0; axis < 6; ++axis) {
      handle.reading.pose = {{0.02, 0.01, -0.03}, quat_from_rotation_vector({0.2, 0.1, 0})};
      const Pose from = handle.reading.pose, seen = read().pose;
      Vec6 step;
      (axis < 3 ? step.linear : step.angular) = {axis % 3 == 0 ? 1e-5 : 0, axis % 3 == 1 ? 1e-5 : 0,
                                                 axis % 3 == 2 ? 1e-5 : 0};
      handle.reading.pose = moved(from, step);
      const Pose now = read().pose;
      limiter.write(felt);
      limiter.write(felt);
      const double scenes = dot(felt.force, now.position - seen.position) +
                            dot(felt.torque, rotation_vector(now.rotation * seen.rotation.conjugate()));
      const double handles = dot(handle.written.force, step.linear) + dot(handle.written.torque, step.angular);
      ASSERT_GT(std::fabs(scenes), 1e-8);
      if (axis == 0) share = handles / scenes;
      EXPECT_NEAR(handles / scenes, share, 1e-6) << scale << " " << axis;
    }
    EXPECT_NEAR(share, scale > 1 ? 1 / scale : 1, 1e-6);
    EXPECT_LE(norm(handle.written.force), norm(felt.force));
  }
}

// What the handle feels of a stiffness K is g s K.
TEST_F(WorkspaceHandTest, StatesTheLimitsOfTheHandleInTheScenesUnits) {
  const DeviceLimits own = handle.limits();
  for (const double scale : {0.5, 1.0, 2.0}) {
    hand.fit(k_scene, scale);
    const DeviceLimits limits = hand.limits();
    const double g = hand.force_share(), l = hand.torque_share();
    EXPECT_DOUBLE_EQ(limits.stiffness * g * scale, own.stiffness);
    EXPECT_DOUBLE_EQ(limits.angular_stiffness * l, own.angular_stiffness);
    EXPECT_DOUBLE_EQ(limits.motors.peak_force * g, own.motors.peak_force);
    EXPECT_DOUBLE_EQ(limits.motors.continuous_torque * l, own.motors.continuous_torque);
    EXPECT_DOUBLE_EQ(limits.speed, own.speed * scale);
    EXPECT_EQ(limits.turn_speed, own.turn_speed);
  }
  EXPECT_TRUE(hand.has_motors());
}

// A session makes the next world ready, and asks for limits, while another scene is opened. Found by TSan.
TEST_F(WorkspaceHandTest, LimitsMayBeAskedForWhileASceneIsFitted) {
  const double own = handle.limits().stiffness;
  std::atomic<bool> done{false};
  std::thread fitting([&] {
    for (int i = 0; i < 2000; ++i) hand.fit(k_scene, i % 2 == 0 ? 1 : 2);
    done = true;
  });
  bool is_either = true;
  do {
    const double stiffness = hand.limits().stiffness;  // g is 1 at both scales
    is_either = is_either && (stiffness == own || stiffness == own / 2);
  } while (!done);
  fitting.join();
  EXPECT_TRUE(is_either);
}

TEST_F(WorkspaceHandTest, PushesOnlyWhileItHoldsSomething) {
  press(k_grasp_button);
  EXPECT_EQ(read().motors, Motors::off);
  hand.hold(7, {});
  EXPECT_FALSE(hand.has_taken_hold());
  DeviceReading reading = read();
  EXPECT_TRUE(hand.has_taken_hold());
  EXPECT_EQ(reading.action, HandInput::Action::grasp);
  EXPECT_EQ(reading.body, 7U);
  EXPECT_EQ(reading.motors, Motors::on);
  EXPECT_EQ(read().action, HandInput::Action::none);
  hand.release();
  reading = read();
  EXPECT_EQ(reading.action, HandInput::Action::release);
  EXPECT_EQ(reading.motors, Motors::off);
  // Its own switches count as well.
  hand.hold(7, {});
  handle.reading.motors = Motors::off;
  EXPECT_EQ(read().motors, Motors::off);
}

// Nobody has to be asked: the session may be busy for long.
TEST_F(WorkspaceHandTest, StopsPushingInTheCycleInWhichItsButtonIsReleased) {
  press(k_grasp_button);
  hand.hold(7, {});
  EXPECT_EQ(read().motors, Motors::on);
  press(0);
  for (int cycle = 0; cycle < 3; ++cycle) EXPECT_EQ(read().motors, Motors::off) << cycle;
  EXPECT_EQ(hand.request().kind, HandRequest::Kind::let_go);
  hand.release();
  EXPECT_EQ(read().action, HandInput::Action::release);
}

TEST_F(WorkspaceHandTest, ItsButtonAsksAndDecidesNothing) {
  EXPECT_EQ(hand.request().kind, HandRequest::Kind::none);
  handle.reading.pose.position.z = 0.05;
  press(k_grasp_button);
  handle.reading.action = HandInput::Action::grasp;  // what its driver wants
  handle.reading.body = 9;
  EXPECT_EQ(read().action, HandInput::Action::none);
  const HandRequest request = hand.request();
  EXPECT_EQ(request.kind, HandRequest::Kind::take);
  EXPECT_LT(distance(*request.at, {1, 2, 3.1}), 1e-12);
  read();
  EXPECT_EQ(hand.request().kind, HandRequest::Kind::none);  // once for each press
  hand.hold(7, {});
  read();
  EXPECT_EQ(hand.request().kind, HandRequest::Kind::none);
  press(0);
  read();
  EXPECT_EQ(hand.request().kind, HandRequest::Kind::let_go);
}

TEST_F(WorkspaceHandTest, OneThatIsLostLetsGoAndComesBackHoldingNothing) {
  press(k_grasp_button);
  hand.hold(7, {});
  read();
  handle.there = false;
  DeviceReading reading;
  EXPECT_FALSE(hand.read(reading));
  EXPECT_FALSE(hand.is_there());
  EXPECT_EQ(hand.request().kind, HandRequest::Kind::let_go);
  handle.there = true;
  reading = read();
  EXPECT_EQ(reading.motors, Motors::off);
  EXPECT_EQ(reading.action, HandInput::Action::none);
}

TEST_F(WorkspaceHandTest, WhatCannotBeTrueIsPassedOnAndSpoilsNothing) {
  const Pose before = read().pose;
  press(k_clutch_button);
  read();
  handle.reading.pose.position.x = std::numeric_limits<double>::quiet_NaN();
  press(0);
  EXPECT_FALSE(is_finite(read().pose));
  handle.reading.pose.position.x = 0;
  EXPECT_LT(distance(read().pose.position, before.position), 1e-12);
}

// A wall in the scene, as stiff as the limits allow at each scale, against an arm that leans into it and draws back.
TEST(WorkspaceHandEnergy, AWallAtAnyScaleGivesTheHandNothingForFree) {
  for (const double scale : {0.5, 1.0, 2.0, 4.0}) {
    const HandPath path({{{0, 0, 0.03}, {}}, {{0, 0, -0.03}, {}}, {{0, 0, 0.03}, {}}}, 0.2);
    const ArmImpedance arm;
    DeviceDynamics exact;
    exact.resolution = exact.angular_resolution = 0;
    auto owned = std::make_unique<SimulatedDevice>(exact, arm, path, 0);
    SimulatedDevice& device = *owned;
    WorkspaceHand hand(std::move(owned));
    hand.fit({{}, 1}, scale);
    hand.hold(7, {});
    LimitSettings settings;
    settings.force_rate = 1e9;
    ForceLimiter limiter(hand, settings);
    const double stiffness = 0.9 * std::min(1000.0, hand.limits().stiffness);
    DeviceReading reading;
    double least = 0, hardest = 0;
    while (hand.read(reading)) {
      const double depth = std::max(0.0, -reading.pose.position.z);
      limiter.write({{0, 0, stiffness * depth}, {}});
      hardest = std::max(hardest, stiffness * depth * hand.force_share());
      least = std::min(least, device.energy().from_hand);
    }
    EXPECT_GT(hardest, 0.5) << scale;
    EXPECT_GT(least, -1e-9) << scale;
  }
}

}  // namespace
}  // namespace cotouch::this_file
