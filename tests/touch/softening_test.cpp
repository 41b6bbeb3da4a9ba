#include <cotouch/touch/softening.h>

#include <cotouch/touch/loop.h>

#include "fixtures.h"

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using testing::k_peg;
using testing::peg_model;
using testing::ProbeDevice;

// b = 1 N s/m and a delay of 0.2 ms: 1/0.7e-3 N/m at 1 kHz.
constexpr double k_damping = 1, k_delay = 2e-4;
DeviceLimits limits_of_phantom() {
  DeviceLimits limits = k_without_motors;
  limits.stiffness = k_damping / (0.5e-3 + k_delay);
  limits.angular_stiffness = 1e-3 * k_damping / (0.5e-3 + k_delay);
  limits.delay = k_delay;
  return limits;
}

TEST(Softening, FollowsColgateAtTheRateThatIsReached) {
  const CouplingSettings coupling{.linear_stiffness = 1000, .angular_stiffness = 1};
  const DeviceLimits limits = limits_of_phantom();
  EXPECT_EQ(bearable_share(limits, coupling, 1e-3), 1);
  for (const double held : {2e-3, 5e-3, 20e-3, 0.1}) {
    const double allowed = k_damping / (held / 2 + k_delay);  // N/m
    EXPECT_NEAR(bearable_share(limits, coupling, held), 0.9 * allowed / 1000, 1e-12) << held;
  }
  // The weaker of both decides, and a device without motors bears everything.
  DeviceLimits wobbly = limits;
  wobbly.angular_stiffness = 0.5;
  EXPECT_NEAR(bearable_share(wobbly, coupling, 1e-3), 0.45, 1e-12);
  EXPECT_EQ(bearable_share(k_without_motors, coupling, 0.5), 1);
}

TEST(Softening, IsAtOnceAndStiffensSlowly) {
  const CouplingSettings coupling{.linear_stiffness = 1000, .angular_stiffness = 1};
  const DeviceLimits limits = limits_of_phantom();
  Softening softening;
  EXPECT_EQ(softening.next(limits, coupling, 1e-3, 1e-3), 1);
  const double soft = softening.next(limits, coupling, 5e-3, 5e-3);
  EXPECT_NEAR(soft, 0.9 / 2.7, 1e-12);
  double share = soft;
  for (int i = 1; i <= 2000; ++i) {
    const double next = softening.next(limits, coupling, 1e-3, 1e-3);
    EXPECT_LE(next - share, 1e-3 / k_stiffening_seconds * (1 + 1e-9));
    share = next;
  }
  EXPECT_NEAR(share, soft + 2.0 / k_stiffening_seconds, 1e-9);
  for (int i = 0; i < 2000; ++i) share = softening.next(limits, coupling, 1e-3, 1e-3);
  EXPECT_EQ(share, 1);
}

// A handle of mass m with damping b on a sampled spring, held by nobody, whose force stands for 5 ms at a time.
TEST(Softening, KeepsASpringCalmThatIsServedFiveTimesTooSeldom) {
  const CouplingSettings coupling{.linear_stiffness = 1000, .angular_stiffness = 1};
  for (const bool soft : {false, true}) {
    const double share = soft ? bearable_share(limits_of_phantom(), coupling, 5e-3) : 1;
    const double mass = 0.075, step = 1e-5;
    double x = 1e-3, v = 0, force = 0, largest_late = 0;
    for (int i = 0; i < 100000; ++i) {
      if (i % 500 == 20) force = -1000 * share * x;  // 0.2 ms late
      v += step * (force - k_damping * v) / mass;
      x += step * v;
      if (i > 90000) largest_late = std::max(largest_late, std::fabs(x));
    }
    if (soft) {
      EXPECT_LT(largest_late, 1e-3);
    } else {
      EXPECT_GT(largest_late, 1e-2);  // it has grown more than tenfold in a second
    }
  }
}

TEST(TouchLoop, ThatComesLateSoftensTheCouplingAndSaysSo) {
  testing::HookedWorld world(peg_model());
  ProbeDevice device(k_peg);
  device.bears = limits_of_phantom();
  std::atomic<bool> slow{false};
  world.on_cycle = [&] {
    if (slow.load()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  double z = 0.005;
  device.on_read = [&](DeviceReading& reading) {
    reading.pose = {{0, 0, z = std::max(z - 1e-4, -4e-3)}, {}};
    return true;
  };
  TouchLoopSettings settings;
  settings.stall_seconds = 10;
  TouchLoop loop({&device}, world, settings);
  loop.run_cycles(300);
  const double force = device.force.load();  // 4 mm of the whole spring
  ASSERT_GT(force, 3.5);
  const auto hand = [&] { return loop.frame().sample.hands[0]; };
  loop.start();
  slow.store(true);
  ASSERT_TRUE(eventually([&] { return hand().stiffness < 0.4; }));
  const auto late = hand();
  slow.store(false);
  EXPECT_LT(norm(late.felt.force), 1.1 * force * late.stiffness);
  double least = late.stiffness;  // a busy machine may make it late once more
  EXPECT_TRUE(eventually([&] {
    const double now = hand().stiffness;
    least = std::min(least, now);
    return now > least + 0.02;
  }));
  EXPECT_GT(loop.frame().missed, 0U);
  ASSERT_TRUE(loop.stop());
  // All the way only where no cycle is late for seconds, which a busy machine does not promise.
  loop.run_cycles(4000);
  EXPECT_GT(hand().stiffness, 0.95);
  EXPECT_GT(device.force.load(), 0.95 * force);
}

TEST(TouchLoop, NeverHoldsAHandStifferThanItsDeviceBears) {
  CouplingSettings stiff;
  stiff.linear_stiffness = 1e5;  // whatever a scene says
  LocalWorld world(peg_model(1e6, testing::k_tip, stiff));
  ProbeDevice device(k_peg);
  device.bears.stiffness = 1000;
  double z = 0.0051;
  device.on_read = [&](DeviceReading& reading) {
    reading.pose = {{0, 0, z = std::max(z - 1e-4, -4e-3)}, {}};
    return true;
  };
  TouchLoop loop({&device}, world, {});
  loop.run_cycles(600);
  EXPECT_NEAR(device.force.load(), 4e-3 / (1 / 900.0 + 1 / 1e6), 0.02);
}

}  // namespace
}  // namespace cotouch::this_file
