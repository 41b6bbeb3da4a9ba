// What must always hold and does not: the hands are let go, at once and for good, and it is said why.
#include <cotouch/base/invariant.h>
#include <cotouch/contact/sampled/workspace.h>
#include <cotouch/touch/loop.h>

#include "fixtures.h"
#include "support/eventually.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace cotouch::this_file {
namespace {

using testing::patient;
using testing::peg_model;
using testing::Pressed;
using testing::Pulled;

// A force that may only sink by 0.1 N in a cycle: what is gone at once was let go.
TouchLoopSettings gentle() {
  TouchLoopSettings settings;
  settings.limits.force_rate = 100;
  return settings;
}

// Every force is gone in the cycle in which it was noticed, and stays away.
void expect_nothing_is_felt(TouchLoop& loop, Pressed& pressed, const char* broken) {
  EXPECT_EQ(pressed.device.force.load(), 0);
  EXPECT_STREQ(loop.frame().broken, broken);
  EXPECT_EQ(loop.frame().state, TouchState::broken);
  EXPECT_EQ(loop.frame().devices[0], DeviceState::halted);
  EXPECT_EQ(loop.device_state(0), DeviceState::halted);
  double most = 0;
  pressed.device.on_write = [&](const Wrench& wrench) { most = std::max(most, norm(wrench.force)); };
  const std::uint64_t cycle = loop.frame().cycle, shown = loop.world_frame().world.hash();
  EXPECT_EQ(loop.run_cycles(50), 0U);  // ends as if all devices were lost
  EXPECT_EQ(loop.world_frame().world.hash(), shown);
  EXPECT_EQ(loop.frame().cycle, cycle + 1);
  EXPECT_EQ(most, 0);
  EXPECT_EQ(loop.frame().wanted[0], Wrench{});
  EXPECT_EQ(loop.frame().sample.hands[0].felt, Wrench{});
}

TEST(BrokenInvariant, AHandOnABodyThatIsNoneIsLetGo) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, gentle());
  loop.run_cycles(300);
  ASSERT_GT(pressed.device.force.load(), 3);
  EXPECT_EQ(loop.frame().broken, nullptr);
  pressed.world.on_cycle = [&] { pressed.world.state().hands()[0].body = 2; };  // of two: 0 and 1
  const std::uint64_t before = RealtimeSection::breaches();
  EXPECT_EQ(loop.run_cycles(1), 0U);
  EXPECT_EQ(RealtimeSection::breaches(), before);
  pressed.world.on_cycle = [] {};
  expect_nothing_is_felt(loop, pressed, k_layout_invariant);
}

TEST(BrokenInvariant, AStateOfAnotherSizeIsNeitherSteppedNorShown) {
  Pressed pressed;
  const WorldState other(*peg_model(1e5, testing::k_tip, {}, 1e-3, {{0, 0, 0.005}, {}}, 2));
  TouchLoop loop({&pressed.device}, pressed.world, gentle());
  loop.run_cycles(300);
  const std::uint64_t shown = loop.world_frame().world.hash();
  pressed.world.on_cycle = [&] { pressed.world.state() = other; };
  EXPECT_EQ(loop.run_cycles(1), 0U);
  EXPECT_EQ(pressed.world.state(), other);
  EXPECT_STREQ(loop.frame().broken, k_layout_invariant);
  EXPECT_EQ(loop.world_frame().world.hash(), shown);
  expect_nothing_is_felt(loop, pressed, k_layout_invariant);
}

TEST(BrokenInvariant, AForceBeyondTheLimitsTakesAllHandsAway) {
  Pressed pressed;
  Pulled pulled;
  TouchLoop loop({&pressed.device, &pulled.device}, pressed.world, gentle());
  loop.run_cycles(300);
  ASSERT_GT(pressed.device.force.load(), 1);
  ASSERT_GT(pulled.device.force.load(), 1);
  double served = 0;  // the first hand in that cycle, before the second's limiter finds what is wrong
  pressed.device.on_write = [&](const Wrench& wrench) { served = std::max(served, norm(wrench.force)); };
  {
    const InjectedFault fault(k_force_invariant, 1);  // the first limiter is sound
    EXPECT_EQ(loop.run_cycles(1), 0U);
  }
  EXPECT_GT(served, 1);
  EXPECT_EQ(pressed.device.force.load(), 0);
  EXPECT_EQ(pulled.device.force.load(), 0);
  EXPECT_EQ(loop.device_state(1), DeviceState::halted);
  expect_nothing_is_felt(loop, pressed, k_force_invariant);
  EXPECT_EQ(pulled.device.force.load(), 0);
}

TEST(BrokenInvariant, EndsARunningLoopOrLeavesItWithoutForce) {
  for (const bool wait : {false, true}) {
    SCOPED_TRACE(wait);
    Pressed pressed;
    TouchLoopSettings settings = patient();
    settings.wait_for_device = wait;
    TouchLoop loop({&pressed.device}, pressed.world, settings);
    loop.start();
    ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 3; }));
    const InjectedFault fault(k_layout_invariant);
    EXPECT_TRUE(eventually([&] { return loop.frame().state == TouchState::broken; }));
    EXPECT_EQ(pressed.device.force.load(), 0);
    EXPECT_STREQ(loop.frame().broken, k_layout_invariant);
    const std::uint64_t cycle = loop.frame().cycle;
    if (wait) {
      EXPECT_TRUE(eventually([&] { return loop.frame().cycle > cycle + 20; }));
    } else {
      EXPECT_TRUE(eventually([&] { return !loop.running(); }));
    }
    loop.stop();
    EXPECT_EQ(loop.frame().state, TouchState::broken);  // that it was stopped says less
    EXPECT_EQ(pressed.device.force.load(), 0);
  }
}

TEST(BrokenInvariant, NothingIsRecordedOfIt) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, {});
  loop.run_cycles(10);
  pressed.world.on_cycle = [&] { pressed.world.state().hands()[0].body = std::numeric_limits<double>::quiet_NaN(); };
  for (int i = 0; i < 5; ++i) loop.run_cycles(1);
  int samples = 0;
  for (TouchSample sample; loop.next_sample(sample);) ++samples;
  EXPECT_EQ(samples, 10);
}

TEST(BrokenInvariant, AnotherLoopOverASoundWorldFeelsAgain) {
  Pressed pressed;
  {
    TouchLoop loop({&pressed.device}, pressed.world, {});
    const InjectedFault fault(k_layout_invariant);
    EXPECT_EQ(loop.run_cycles(1), 0U);
  }
  pressed.reads = 0;
  TouchLoop loop({&pressed.device}, pressed.world, {});
  EXPECT_EQ(loop.run_cycles(300), 300U);
  EXPECT_EQ(loop.device_state(0), DeviceState::ready);
}

}  // namespace
}  // namespace cotouch::this_file
