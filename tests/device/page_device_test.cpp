// The hand of a page.
#include <cotouch/device/page_device.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

class OneBody final : public BodyPlaces {
 public:
  std::optional<Pose> pose_of(std::uint32_t body) const noexcept override {
    return body == 2 ? std::optional(Pose{{0, 0, 0.05}, {}}) : std::nullopt;
  }
};

TEST(PageDevice, NeverJumpsAndStandsStillWithoutInput) {
  const OneBody places;
  PageDevice device;
  device.fit({{}, 0.05});
  device.attach(places);
  DeviceReading reading;
  EXPECT_FALSE(device.read(reading));  // nobody holds it
  device.move({{1, 0, 0}, {}}, 0, 1);
  EXPECT_FALSE(device.read(reading));
  device.hold(2, {0.01, 0, 0});
  ASSERT_TRUE(device.read(reading));
  EXPECT_EQ(reading.pose.position, (Vec3d{0.01, 0, 0.05}));
  EXPECT_EQ(reading.action, HandInput::Action::grasp);
  EXPECT_EQ(reading.body, 2U);
  device.move({{1, 0, 0.05}, {0, 0, 0, 1}}, 3, 2);
  Pose last = reading.pose;
  for (int i = 0; i < 1000; ++i) {
    device.read(reading);
    EXPECT_EQ(reading.action, HandInput::Action::none);
    // 0.1 m/s (two scenes) and 8 rad/s at 1 kHz, with room for rounding.
    EXPECT_LE(norm(reading.pose.position - last.position), 1e-4 * 1.000001);
    EXPECT_LE(norm(rotation_vector(reading.pose.rotation * last.rotation.conjugate())), 8e-3 * 1.000001);
    last = reading.pose;
  }
  EXPECT_NEAR(last.position.x, 0.11, 1e-6);
  EXPECT_EQ(reading.buttons, 3U);
  EXPECT_EQ(device.applied_sequence(), 2U);
  // Reached, it stays.
  device.move(last, 0, 3);
  for (int i = 0; i < 10; ++i) device.read(reading);
  EXPECT_NEAR(norm(reading.pose.position - last.position), 0, 1e-12);
  device.release();
  EXPECT_FALSE(device.read(reading));
}

// A page that is fitted to a scene crosses it in half a second at the fastest.
TEST(PageDevice, ItsSpeedIsTwoSceneSizesASecond) {
  const OneBody places;
  PageDevice device;
  device.attach(places);
  device.fit({{}, 0.3});
  device.hold(2, {});
  DeviceReading reading;
  device.read(reading);
  device.move({{10, 0, 0.05}, {}}, 0, 1);
  for (int i = 0; i < 500; ++i) device.read(reading);
  EXPECT_NEAR(reading.pose.position.x, 0.3, 1e-9);
}

}  // namespace
}  // namespace cotouch::this_file
