// Devices that steer by speed.
#include <cotouch/device/steered_device.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using namespace std::chrono_literals;

class Cap final : public SteeringSource {
 public:
  std::string name() const override { return "cap"; }
  bool poll(Deflection& now) noexcept override {
    now = deflection;
    return there;
  }
  Deflection deflection;
  bool there = true;
};

class OneBody final : public BodyPlaces {
 public:
  std::optional<Pose> pose_of(std::uint32_t body) const noexcept override {
    return body == 2 ? std::optional(pose) : std::nullopt;
  }
  Pose pose{{0.1, 0, 0}, {}};
};

class SteeredDeviceTest : public ::testing::Test {
 protected:
  SteeredDeviceTest() {
    device.attach(places);
    device.fit({{}, 0.4});
  }
  HandRequest::Kind ask() { return device.request_at(now).kind; }
  // A second with the source asked fifty times.
  DeviceReading pass(double seconds, bool body_follows) {
    DeviceReading reading;
    for (int i = 0; i < static_cast<int>(seconds * 1000); ++i) {
      if (i % 20 == 0) device.request_at(now);
      now += 1ms;
      if (device.read(reading) && body_follows) places.pose = {reading.pose.position - Vec3d{0, 0, 0.01}, {}};
    }
    return reading;
  }

  OneBody places;
  std::unique_ptr<Cap> owned = std::make_unique<Cap>();
  Cap& cap = *owned;
  SteeredDevice device{std::move(owned)};
  SteeredDevice::Clock::time_point now = SteeredDevice::Clock::time_point(1h);
};

TEST_F(SteeredDeviceTest, IsThereOnlyWhileItHoldsSomething) {
  DeviceReading reading;
  EXPECT_EQ(ask(), HandRequest::Kind::none);
  EXPECT_FALSE(device.read(reading));
  cap.deflection.push = {0.5, 0, 0};
  EXPECT_EQ(ask(), HandRequest::Kind::take);
  device.hold(2, {0, 0, 0.01});
  ASSERT_TRUE(device.read(reading));
  EXPECT_EQ(reading.action, HandInput::Action::grasp);
  EXPECT_EQ(reading.body, 2U);
  EXPECT_LT(norm(reading.pose.position - Vec3d{0.1, 0, 0.01}), 1e-4);
  EXPECT_TRUE(device.has_taken_hold());
  device.release();
  EXPECT_FALSE(device.read(reading));
  EXPECT_FALSE(device.has_motors());
}

TEST_F(SteeredDeviceTest, CrossesTheSceneInTwoSecondsAtTheStop) {
  cap.deflection.push = {0, 1, 0};
  device.hold(2, {0, 0, 0.01});
  const DeviceReading reading = pass(2, true);
  EXPECT_NEAR(reading.pose.position.y, 0.4, 0.4 * 0.03);  // but for the moment in which it gets going
  EXPECT_NEAR(reading.pose.position.x, 0.1, 1e-9);
}

TEST_F(SteeredDeviceTest, ItsHandIsOnALeashWhenTheBodyIsHeldUp) {
  cap.deflection.push = {1, 0, 0};
  device.hold(2, {});
  DeviceReading reading = pass(5, false);
  EXPECT_NEAR(reading.pose.position.x, 0.1 + 0.25 * 0.4, 1e-9);
  // So it comes back at once.
  cap.deflection.push = {-1, 0, 0};
  reading = pass(0.5, false);
  EXPECT_LT(reading.pose.position.x, 0.1 + 0.25 * 0.4 - 0.08);
}

TEST_F(SteeredDeviceTest, LetsGoHalfASecondAfterTheCapIsAtRest) {
  cap.deflection.turn = {0, 0, 0.5};
  ask();
  device.hold(2, {});
  cap.deflection = {};
  EXPECT_EQ(ask(), HandRequest::Kind::none);
  now += 490ms;
  EXPECT_EQ(ask(), HandRequest::Kind::none);
  now += 20ms;
  EXPECT_EQ(ask(), HandRequest::Kind::let_go);
}

TEST_F(SteeredDeviceTest, StandsStillWhenNothingIsHeardOfItsSource) {
  cap.deflection.push = {1, 0, 0};
  device.hold(2, {});
  ask();
  DeviceReading reading;
  for (int i = 0; i < 400; ++i) device.read(reading);
  const double x = reading.pose.position.x;
  for (int i = 0; i < 400; ++i) device.read(reading);
  EXPECT_NEAR(reading.pose.position.x, x, 1e-5);  // but for the smoothing
  // At 0.2 m/s for a quarter of a second.
  EXPECT_GT(x, 0.1 + 0.2 * 0.2);
  EXPECT_LT(x, 0.1 + 0.2 * 0.3);
}

TEST_F(SteeredDeviceTest, OneThatIsGoneIsThereNoMore) {
  cap.deflection.push = {1, 0, 0};
  device.hold(2, {});
  ask();
  DeviceReading reading;
  EXPECT_TRUE(device.read(reading));
  cap.there = false;
  ask();
  EXPECT_FALSE(device.is_there());
  EXPECT_FALSE(device.read(reading));
}

}  // namespace
}  // namespace cotouch::this_file
