#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/device/limits.h>
#include <cotouch/device/scripted_device.h>
#include <cotouch/device/simulated_device.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace cotouch::this_file {
namespace {

// A device without encoder steps, delay or friction, held by nothing.
DeviceDynamics plain_device() {
  DeviceDynamics device;
  device.resolution = device.angular_resolution = device.delay = device.friction = device.angular_friction = 0;
  return device;
}
const ArmImpedance k_no_arm{
    .mass = 0, .stiffness = 0, .damping = 0, .inertia = 0, .angular_stiffness = 0, .angular_damping = 0};
const LimitSettings k_open{
    .max_force = 100, .max_torque = 100, .force_rate = 1e9, .torque_rate = 1e9, .ramp_seconds = 0, .period = 1e-3};

// A hand that wants to stay where it is; a key repeated is a pause of 0.2 s.
HandPath resting(int pauses) {
  return HandPath(std::vector<Pose>(static_cast<std::size_t>(pauses) + 1));
}

TEST(ScriptedDevice, TakesItsBodyAtTheStartAndEndsWithItsPath) {
  ScriptedDevice device(HandPath({Pose{}, Pose{{0.1, 0, 0}, {}}}, 1), 7);
  DeviceReading reading;
  int cycles = 0;
  for (; device.read(reading); ++cycles) {
    EXPECT_EQ(reading.action, cycles == 0 ? HandInput::Action::grasp : HandInput::Action::none);
    EXPECT_EQ(reading.body, cycles == 0 ? 7U : 0U);
  }
  EXPECT_EQ(cycles, 101);  // 0 to 100 ms, both ends
  EXPECT_NEAR(reading.pose.position.x, 0.1, 1e-15);
}

TEST(SimulatedDevice, FollowsTheClosedFormOfADampedSpring) {
  // Mass on the arm's spring, pushed by a constant force from rest:
  // x = F/k (1 - e^(-s t) (cos w t + s/w sin w t)), s = b / 2m, w^2 = k/m - s^2.
  ArmImpedance arm = k_no_arm;
  arm.stiffness = 300;
  arm.damping = 0.5;
  arm.angular_stiffness = 0.1;
  SimulatedDevice device(plain_device(), arm, resting(2), 0);
  ForceLimiter limiter(device, k_open);
  const double mass = 0.075, s = 1.5 / (2 * mass), w = std::sqrt(300 / mass - s * s);
  const double inertia = 2e-5, sr = 1e-3 / (2 * inertia), wr = std::sqrt(0.1 / inertia - sr * sr);
  DeviceReading reading;
  for (int cycle = 0; device.read(reading); ++cycle) {
    limiter.write({{0, 2, 0}, {0.01, 0, 0}});
    const double t = cycle * 1e-3;
    const double x = 2.0 / 300 * (1 - std::exp(-s * t) * (std::cos(w * t) + s / w * std::sin(w * t)));
    const double turn = 0.01 / 0.1 * (1 - std::exp(-sr * t) * (std::cos(wr * t) + sr / wr * std::sin(wr * t)));
    // The midpoint rule's phase error is (w h)^2 / 12 per radian: 1.3e-7 for w h = 1.3e-3, 25 rad in all, damped; of 7
    // mm that is below 2e-8 m.
    EXPECT_NEAR(reading.pose.position.y, x, 2e-8);
    EXPECT_NEAR(rotation_vector(reading.pose.rotation).x, turn, 2e-6);
  }
}

TEST(SimulatedDevice, FrictionHoldsBelowItsForceAndBrakesAboveIt) {
  DeviceDynamics settings = plain_device();
  settings.friction = 0.04;
  settings.damping = 0;
  for (const double force : {0.03, 0.05}) {
    SimulatedDevice device(settings, k_no_arm, resting(1), 0);
    ForceLimiter limiter(device, k_open);
    DeviceReading reading;
    while (device.read(reading)) limiter.write({{force, 0, 0}, {}});
    // Constant net force from rest: x = (F - c) t^2 / 2m, one period passed after the last sample.
    const double expected = force < 0.04 ? 0 : 0.01 * 0.201 * 0.201 / (2 * 0.075);
    EXPECT_NEAR(device.pose().position.x, expected, 1e-12);
  }
}

TEST(SimulatedDevice, CommandTakesEffectAfterTheDelayAndIsHeld) {
  for (const double delay : {0.0, 2e-4, 1e-3, 2.6e-3}) {
    DeviceDynamics settings = plain_device();
    settings.damping = 0;
    settings.delay = delay;
    SimulatedDevice device(settings, k_no_arm, resting(1), 0);
    ForceLimiter limiter(device, k_open);
    DeviceReading reading;
    // A push of one period's length leaves an impulse of 1 N * 1 ms, begun `delay` after its sample at 3 ms.
    for (int cycle = 0; device.read(reading); ++cycle) {
      limiter.write({{cycle == 3 ? 1.0 : 0.0, 0, 0}, {}});
      const double since = cycle * 1e-3 - 3e-3 - delay;
      double x = 0;
      if (since > 0) x = since < 1e-3 ? since * since / 2 : 1e-3 * (since - 0.5e-3);
      EXPECT_NEAR(device.pose().position.x, x / 0.075, 1e-12) << delay << " " << cycle;
    }
  }
}

TEST(SimulatedDevice, EncodersRoundToTheirResolution) {
  DeviceDynamics settings;
  SimulatedDevice device(settings, {},
                         HandPath({Pose{}, Pose{{0.02, 0.01, 0}, quat_from_rotation_vector({0, 0.2, 0})}}, 0.2), 0);
  DeviceReading reading;
  while (device.read(reading)) {
    const double steps = reading.pose.position.x / 3e-5;
    EXPECT_NEAR(steps, std::round(steps), 1e-9);
    EXPECT_LE(std::fabs(reading.pose.position.x - device.pose().position.x), 1.5e-5 * (1 + 1e-9));
    const double turns = rotation_vector(reading.pose.rotation).y / 1.4e-4;
    EXPECT_NEAR(turns, std::round(turns), 1e-8);
  }
}

TEST(SimulatedDevice, EnergyBalanceClosesWithTheArmsOwnWork) {
  // The arm's work on the handle, computed from the arm's side: spring and damper towards the path minus what its own
  // mass takes up. With no spring, damper or friction in the arm but a mass, the arm's kinetic energy is all it has.
  DeviceDynamics settings;
  ArmImpedance arm = k_no_arm;
  arm.mass = 0.2;
  arm.inertia = 1e-4;
  SimulatedDevice device(settings, arm, resting(2), 0);
  ForceLimiter limiter(device, k_open);
  DeviceReading reading;
  for (int cycle = 0; device.read(reading); ++cycle) {
    const double s = std::sin(cycle * 0.1);
    limiter.write({{s, 0.3, -s * s}, {0.01 * s, 0, 0.004}});
    const double arms =
        0.5 * (0.2 * norm_squared(device.velocity().linear) + 1e-4 * norm_squared(device.velocity().angular));
    EXPECT_NEAR(device.energy().from_hand, -arms, 1e-12);
  }
  EXPECT_GT(device.energy().from_environment, 1e-4);
  EXPECT_GT(device.energy().dissipated, 1e-6);
}

TEST(SimulatedDevice, RefusesSettingsThatCannotExist) {
  DeviceDynamics settings;
  settings.delay = 1;
  EXPECT_THROW(SimulatedDevice(settings, {}, resting(1), 0), Error);
  settings = {};
  settings.jitter = 2 * settings.period;
  EXPECT_THROW(SimulatedDevice(settings, {}, resting(1), 0), Error);
  settings = {};
  settings.damping = -1;
  EXPECT_THROW(SimulatedDevice(settings, {}, resting(1), 0), Error);
  settings = {};
  settings.mass = 0;
  EXPECT_THROW(SimulatedDevice(settings, k_no_arm, resting(1), 0), Error);
}

TEST(SimulatedDevice, StatesColgatesLimit) {
  DeviceDynamics settings;
  settings.delay = 0;
  EXPECT_DOUBLE_EQ(settings.passive_stiffness(), 2 * 1.0 / 1e-3);  // 2 b / T
  settings.delay = 2e-4;
  EXPECT_DOUBLE_EQ(settings.passive_stiffness(), 1.0 / 7e-4);
  settings.jitter = 4e-4;  // the longest hold lasts 1.4 ms
  EXPECT_DOUBLE_EQ(settings.passive_stiffness(), 1.0 / 9e-4);
}

// Force is held from late sample to late sample: constant 1 N from the first sample on moves the handle as F t^2 / 2m
// at whatever instant is sampled, and the instants lie between n T and n T + jitter.
TEST(SimulatedDevice, SamplesComeLateByUpToTheJitter) {
  DeviceDynamics settings = plain_device();
  settings.damping = 0;
  settings.jitter = 3e-4;
  SimulatedDevice device(settings, k_no_arm, resting(1), 0);
  ForceLimiter limiter(device, k_open);
  DeviceReading reading;
  double least = 1, most = 0, sum = 0;
  int cycles = 0;
  for (; device.read(reading); ++cycles) {
    limiter.write({{1, 0, 0}, {}});
    if (cycles == 0) continue;
    const double late = std::sqrt(2 * 0.075 * reading.pose.position.x) - cycles * 1e-3;
    least = std::min(least, late);
    most = std::max(most, late);
    sum += late;
  }
  EXPECT_NEAR(cycles, 200, 1);  // late samples do not add up
  EXPECT_GT(least, -1e-9);
  EXPECT_LT(least, 0.3e-4);
  EXPECT_LT(most, 3e-4 + 1e-9);
  EXPECT_GT(most, 2.7e-4);
  // In whole substeps below an even spread: half of the jitter less half a substep; 200 of them scatter by 6e-6.
  EXPECT_NEAR(sum / (cycles - 1), 1.5e-4 - 1e-5, 2e-5);
}

// Moved in and out of a held spring at a steady speed v, the hand gets K late() v^2 less than it puts in a second, less
// what viscous damping and friction take: (b - K late()) v^2 + c v. Energy is created above the speed at which that is
// zero, and dry_stiffness says which.
TEST(SimulatedDevice, FrictionPaysForASampledSpringUpToASpeed) {
  constexpr double k_stiffness = 2000, k_way = 0.02;
  for (const double jitter : {0.0, 4e-4})
    for (const double speed : {0.01, 0.04, 0.08, 0.15}) {
      SCOPED_TRACE(speed);
      DeviceDynamics settings = plain_device();
      settings.damping = 0.5;
      settings.friction = 0.04;
      settings.delay = 2e-4;
      settings.jitter = jitter;
      settings.mass = 1e-6;                        // what it has of motion at the ends is nothing
      settings.motors = {100, 100, 100, 100, 60};  // 40 N at the far end
      ArmImpedance arm = k_no_arm;
      arm.stiffness = 1e6;  // goes where it wants to be
      arm.damping = 1e4;
      // Even speed: HandPath reaches with minimum jerk, whose mean of v^2 is 10/7 of the mean speed squared.
      SimulatedDevice device(settings, arm, HandPath({Pose{}, Pose{{k_way, 0, 0}, {}}, Pose{}}, speed), 0);
      ForceLimiter limiter(device, k_open);
      DeviceReading reading;
      while (device.read(reading)) limiter.write({reading.pose.position * -k_stiffness, {}});
      const double seconds = 2 * k_way / speed, squares = 10.0 / 7 * speed * speed;
      // A force held for t is late by t/2 on average, weighted by t: T/2 + J^2 / 12 T for even spreads of width J.
      const double late = 0.5e-3 + jitter * jitter / 12e-3 + 2e-4;
      const double taken = seconds * ((0.5 - k_stiffness * late) * squares + 0.04 * speed);
      EXPECT_NEAR(device.energy().from_hand, taken, 0.03 * seconds * (0.5 * squares + 0.04 * speed));
      const bool above = k_stiffness > settings.dry_stiffness(10.0 / 7 * speed);
      EXPECT_TRUE(jitter > 0 || above == (device.energy().from_hand < 0));
    }
  EXPECT_DOUBLE_EQ(DeviceDynamics{}.dry_stiffness(0.04), 2.0 / 7e-4);  // b + c / v = 1 + 1
  EXPECT_EQ(k_dry_device.passive_stiffness(), 0);
}

// A handle at rest between two encoder steps is pulled by up to half a step of the spring; friction holds it below
// 2 c / step and not above.
TEST(SimulatedDevice, FrictionHoldsHalfAnEncoderStep) {
  for (const double share : {0.95, 1.05}) {
    DeviceDynamics settings = plain_device();
    settings.friction = 0.04;
    settings.resolution = 3e-5;
    const double stiffness = share * settings.encoder_stiffness();
    SimulatedDevice device(settings, k_no_arm, resting(2), 0);
    ForceLimiter limiter(device, k_open);
    DeviceReading reading;
    while (device.read(reading)) limiter.write({{stiffness * (1.4999e-5 - reading.pose.position.x), 0, 0}, {}});
    EXPECT_EQ(device.pose().position.x != 0, share > 1) << share;
  }
}

}  // namespace
}  // namespace cotouch::this_file
