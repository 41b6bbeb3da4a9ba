#include <cotouch/device/reading_check.h>

#include <cotouch/base/realtime.h>
#include <cotouch/touch/loop.h>

#include "support/eventually.h"
#include "touch/fixtures.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

namespace cotouch::this_file {
namespace {

using testing::k_peg;
using testing::peg_model;
using testing::ProbeDevice;

// A hand that presses a peg 4 mm into a plate with the device going wrong in some way from `wrong_from` on.
struct Trouble {
  LocalWorld world{peg_model()};
  ProbeDevice device{k_peg};
  int reads = 0, wrong_from = 1 << 30, wrong_to = 1 << 30;
  std::function<void(DeviceReading&)> wrong = [](DeviceReading&) {};
  Trouble() {
    device.bears.speed = 5;
    device.bears.turn_speed = 100;
    device.on_read = [this](DeviceReading& reading) {
      ++reads;
      reading.pose = {{0, 0, std::max(5e-3 - 1e-4 * reads, -4e-3)}, {}};
      reading.clock = static_cast<std::uint64_t>(reads);
      if (reads >= wrong_from && reads < wrong_to) wrong(reading);
      return true;
    };
  }
};

TEST(ReadingCheck, WhatCannotBeTrueFadesToZeroWithinThirtyMilliseconds) {
  const std::vector<std::function<void(DeviceReading&)>> troubles{
      [](DeviceReading& r) { r.pose.position.y = std::nan(""); },
      [](DeviceReading& r) {
        r.pose.rotation = {0, 0, 0, 0};
      },
      [](DeviceReading& r) { r.pose.position.z = INFINITY; },
      [](DeviceReading& r) { r.pose.position.x = 0.1; },  // 10 cm in a millisecond
      [](DeviceReading& r) {
        r.pose.rotation = quat_from_rotation_vector({0, 0, 1});
      },                                         // 1000 rad/s
      [](DeviceReading& r) { r.clock = 299; }};  // the driver's has stopped
  for (std::size_t i = 0; i < troubles.size(); ++i) {
    Trouble t;
    t.wrong = troubles[i];
    t.wrong_from = 300;
    t.wrong_to = 400;
    TouchLoop loop({&t.device}, t.world, {});
    loop.run_cycles(299);
    ASSERT_GT(t.device.force.load(), 3.5) << i;
    double last = t.device.force.load();
    int noticed = 0, gone = 0;
    for (int ms = 1; ms <= 100; ++ms) {
      loop.run_cycles(1);
      const double now = t.device.force.load();
      EXPECT_LE(now, last + 1e-3) << i << " " << ms;
      EXPECT_GE(now, last - 0.5) << i << " " << ms;  // it fades
      if (noticed == 0 && loop.frame().devices[0] == DeviceState::faulty) noticed = ms;
      if (gone == 0 && now == 0) gone = ms;
      last = now;
      ASSERT_TRUE(is_finite(loop.world_frame().world.hands()[0].pose));
      EXPECT_NEAR(loop.world_frame().world.hands()[0].pose.position.x, 0, 1e-12) << i;
    }
    EXPECT_GT(noticed, 0) << i;
    EXPECT_LE(noticed, 20) << i;
    EXPECT_GT(gone, 0) << i;
    EXPECT_LE(gone, 30) << i;
    EXPECT_EQ(loop.frame().faults, 1U) << i;
    // Sound again: 0.1 s later it is trusted, and the force fades in.
    loop.run_cycles(95);
    EXPECT_EQ(t.device.force.load(), 0) << i;
    loop.run_cycles(150);
    EXPECT_EQ(loop.frame().devices[0], DeviceState::ready) << i;
    EXPECT_GT(t.device.force.load(), 3.5) << i;
  }
}

TEST(ReadingCheck, AHandThatRestsOrMovesFastIsSound) {
  Trouble t;
  t.wrong_from = 400;
  // Rests for seconds, then is pulled away at 3 m/s and turned at 50 rad/s.
  t.wrong = [&](DeviceReading& r) {
    const double moving = std::max(0, t.reads - 3000) * 1e-3;
    r.pose = {{0, 0, -4e-3 + 3 * moving}, quat_from_rotation_vector({0, 0, 50 * moving})};
  };
  TouchLoop loop({&t.device}, t.world, {});
  loop.run_cycles(3050);
  EXPECT_EQ(loop.frame().faults, 0U);
  EXPECT_EQ(loop.frame().devices[0], DeviceState::ready);
}

TEST(ReadingCheck, ASlowDriversClockMayStandBetweenItsSamples) {
  Trouble t;
  t.wrong_from = 1;
  t.wrong = [&](DeviceReading& r) { r.clock = static_cast<std::uint64_t>(t.reads / 10); };  // samples at 100 Hz
  TouchLoop loop({&t.device}, t.world, {});
  loop.run_cycles(2000);
  EXPECT_EQ(loop.frame().faults, 0U);
}

TEST(ReadingCheck, LateCyclesAllowAFartherWay) {
  DeviceLimits limits = k_without_motors;
  limits.speed = 5;
  ReadingCheck check;
  DeviceReading reading;
  EXPECT_TRUE(check.take(reading, limits, 1e-3));
  reading.pose.position.x = 0.045;
  EXPECT_TRUE(check.take(reading, limits, 9e-3));
  reading.pose.position.x = 0.065;
  EXPECT_FALSE(check.take(reading, limits, 1e-3));
  EXPECT_EQ(reading.pose.position.x, 0.045);
}

// The driver read first takes a tenth of a second now and then; meanwhile the other one's hand goes on.
TEST(ReadingCheck, ASlowDriverLetsOthersGoAFartherWay) {
  LocalWorld world(peg_model());
  ProbeDevice slow, moved;
  std::atomic<int> reads{0};
  slow.on_read = [&](DeviceReading&) {
    if (++reads % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return true;
  };
  moved.bears.speed = 5;
  moved.bears.turn_speed = 100;
  const std::int64_t begin = monotonic_ns();
  moved.on_read = [&](DeviceReading& reading) {
    reading.pose.position.x = 0.1 * static_cast<double>(monotonic_ns() - begin) * 1e-9;  // 0.1 m/s
    return true;
  };
  TouchLoop loop({&slow, &moved}, world, testing::patient());
  loop.start();
  ASSERT_TRUE(eventually([&] { return reads.load() > 40; }));
  loop.stop();
  EXPECT_EQ(loop.frame().faults, 0U);
}

TEST(ReadingCheck, WhatCannotBeTrueTakesHoldOfNothingButMayLetGo) {
  ReadingCheck check;
  DeviceReading reading;
  reading.action = HandInput::Action::grasp;
  EXPECT_TRUE(check.take(reading, k_without_motors, 1e-3));
  EXPECT_EQ(reading.action, HandInput::Action::grasp);
  reading.pose.position.x = std::nan("");
  EXPECT_FALSE(check.take(reading, k_without_motors, 1e-3));
  EXPECT_EQ(reading.action, HandInput::Action::none);
  reading.pose.position.x = std::nan("");
  reading.action = HandInput::Action::release;
  EXPECT_FALSE(check.take(reading, k_without_motors, 1e-3));
  EXPECT_EQ(reading.action, HandInput::Action::release);
}

TEST(ReadingCheck, ADeviceThatNeverReadAPoseHasNoHand) {
  Trouble t;
  t.wrong_from = 1;
  t.wrong = [](DeviceReading& r) { r.pose.position.x = std::nan(""); };
  TouchLoop loop({&t.device}, t.world, {});
  loop.run_cycles(50);
  EXPECT_FALSE(loop.frame().sample.hands[0].input.present);
  EXPECT_EQ(loop.frame().devices[0], DeviceState::faulty);
  EXPECT_EQ(t.device.force.load(), 0);
}

}  // namespace
}  // namespace cotouch::this_file
