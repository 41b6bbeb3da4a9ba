#include <cotouch/touch/loop.h>

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>
#include <cotouch/device/scripted_device.h>

#include "fixtures.h"
#include "support/eventually.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

namespace cotouch::this_file {
namespace {

using testing::k_height;
using testing::k_peg;
using testing::patient;
using testing::peg_model;
using testing::Pressed;
using testing::ProbeDevice;

// Springs in series: 4 mm of 1 / (1/K + 1/k), with the contact's K and the coupling's k.
double settled(double stiffness) {
  return 4e-3 / (1 / stiffness + 1 / 1000.0);
}

TEST(TouchLoop, RendersAndPublishesWhileItRunsAndIsSilentAfterwards) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, patient());
  EXPECT_FALSE(loop.running());
  const RealtimeStatus status = loop.start();
  EXPECT_EQ(status.notes.empty(), status.fifo_priority && status.locked_memory);
  ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 3.9; }));
  ASSERT_TRUE(eventually([&] { return loop.frame().contact.in_contact == 1; }));
  EXPECT_EQ(loop.frame().state, TouchState::touching);
  EXPECT_EQ(loop.world_frame().world.hands()[0].body, 1);
  loop.stop();
  EXPECT_FALSE(loop.running());
  EXPECT_EQ(pressed.device.force.load(), 0);
  EXPECT_EQ(loop.frame().state, TouchState::stopped);
  EXPECT_EQ(loop.frame().sample.hands[0].felt, Wrench{});
  EXPECT_EQ(loop.cycle_times().count(), loop.frame().cycle);
  EXPECT_LE(loop.cycle_times().quantile(0.5), loop.cycle_times().quantile(0.99));
}

TEST(TouchLoop, CanBeStartedAgain) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, patient());
  for (int round = 0; round < 2; ++round) {
    loop.start();
    ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 3; }));
    loop.stop();
    EXPECT_EQ(pressed.device.force.load(), 0);
  }
}

TEST(TouchLoop, DestructionLeavesZeroForce) {
  Pressed pressed;
  {
    TouchLoop loop({&pressed.device}, pressed.world, patient());
    loop.start();
    ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 1; }));
  }
  EXPECT_EQ(pressed.device.force.load(), 0);
}

TEST(TouchLoop, OwnsItsDevicesFromTheFirstCycleOn) {
  Pressed pressed;
  LocalWorld world(peg_model());
  auto one = std::make_unique<TouchLoop>(std::vector<Device*>{&pressed.device}, pressed.world, TouchLoopSettings{});
  one->run_cycles(300);
  TouchLoop next({&pressed.device}, world, {});  // may be made ready meanwhile
  const double force = pressed.device.force.load();
  EXPECT_GT(force, 3);
  EXPECT_THROW(next.run_cycles(1), Error);
  EXPECT_THROW(next.start(), Error);
  EXPECT_FALSE(next.running());
  EXPECT_EQ(pressed.device.force.load(), force);  // and nobody was disturbed
  one.reset();
  EXPECT_EQ(pressed.device.force.load(), 0);
  EXPECT_EQ(next.run_cycles(1), 1U);
  TouchLoop twice({&pressed.device, &pressed.device}, world, {});
  next.stop();
  EXPECT_THROW(twice.run_cycles(1), Error);
}

TEST(TouchLoop, ThoseWhoTakeTheForceAwayRunAboveTheThreadThatIsWatched) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, patient());
  const RealtimeStatus status = loop.start();
  std::vector<int> priorities;  // of this process's SCHED_FIFO threads, as the kernel has them
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string field;
    for (int i = 3; i < 40; ++i) fields >> field;  // the first behind the name is field 3
    int priority = 0, policy = 0;
    fields >> priority >> policy;
    if (policy == SCHED_FIFO) priorities.push_back(priority);
  }
  std::sort(priorities.begin(), priorities.end());
  if (!status.fifo_priority) GTEST_SKIP() << "real-time priority was refused: " << status.notes;
  EXPECT_TRUE(status.fifo_watchdog);
  // One that lets the device go, and the watch thread, which a driver that waits in a loop there must not keep away.
  EXPECT_EQ(priorities, (std::vector<int>{k_touch_priority, k_touch_priority + 1, k_touch_priority + 2}));
}

TEST(TouchLoop, ALostDeviceIsSilencedAndEndsTheLoopOrIsAwaited) {
  for (const bool wait : {false, true}) {
    Pressed pressed;
    TouchLoopSettings settings = patient();
    settings.wait_for_device = wait;
    TouchLoop loop({&pressed.device}, pressed.world, settings);
    loop.start();
    ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 1; }));
    pressed.present.store(false);
    EXPECT_TRUE(eventually([&] { return pressed.device.force.load() == 0; }));
    EXPECT_TRUE(eventually([&] { return loop.frame().state == TouchState::device_lost; }));
    if (wait) {
      EXPECT_TRUE(loop.running());
      pressed.present.store(true);
      EXPECT_TRUE(eventually([&] { return pressed.device.force.load() > 1; }));
    } else {
      EXPECT_TRUE(eventually([&] { return !loop.running(); }));
      EXPECT_EQ(pressed.device.force.load(), 0);
    }
  }
}

// Two hands at one peg that is pressed onto the plate: what both feel adds up to what the plate gives. One is lost, and
// the other goes on alone.
TEST(TouchLoop, ServesTwoHandsAndGoesOnWithOne) {
  LocalWorld world(peg_model());
  ProbeDevice left(k_peg), right(k_peg);
  int cycle = 0;
  left.on_read = [&](DeviceReading& reading) {
    reading.pose = {{-0.02, 0, cycle == 0 ? k_height : -0.002}, {}};
    return cycle < 400;
  };
  right.on_read = [&](DeviceReading& reading) {
    reading.pose = {{0.02, 0, cycle++ == 0 ? k_height : -0.003}, {}};
    return true;
  };
  TouchLoop loop({&left, &right}, world, {});
  EXPECT_EQ(loop.hands(), 2U);
  loop.run_cycles(390);
  const TouchFrame both = loop.frame();
  EXPECT_EQ(both.state, TouchState::touching);
  const double sum = both.sample.hands[0].felt.force.z + both.sample.hands[1].felt.force.z;
  // Each coupling is displaced from where the peg's grips are, on average 2.5 mm above the hands.
  EXPECT_NEAR(sum, 2 * 1000 * 0.0025, 0.1);
  EXPECT_NEAR(sum, world.scratch().contact(0).on_shell.wrench.force.z, 0.01);
  EXPECT_LT(both.sample.hands[0].felt.force.z, both.sample.hands[1].felt.force.z);
  loop.run_cycles(200);
  const TouchFrame& one = loop.frame();
  EXPECT_EQ(left.force.load(), 0);
  EXPECT_EQ(one.sample.hands[0].motors, Motors::off);
  EXPECT_FALSE(one.sample.hands[0].input.present);
  EXPECT_EQ(one.state, TouchState::touching);
  EXPECT_GT(one.sample.hands[1].felt.force.z, 1);
}

TEST(TouchLoop, NoHandFeelsMoreThanTheLimitsWhateverTheWorldWants) {
  CouplingSettings strong;
  strong.linear_stiffness = 1e5;
  strong.max_force = 1000;
  LocalWorld world(peg_model(1e6, testing::k_tip, strong));
  ProbeDevice device(k_peg);
  int reads = 0;
  device.on_read = [&](DeviceReading& reading) {
    reading.pose = {{0, 0, reads++ == 0 ? k_height : reads % 50 < 25 ? 0.01 : -0.02}, {}};
    return true;
  };
  Wrench last;
  double most = 0, fastest = 0;
  device.on_write = [&](const Wrench& now) {
    most = std::max(most, norm(now.force));
    fastest = std::max(fastest, norm(now.force - last.force));
    last = now;
  };
  TouchLoop loop({&device}, world, {});
  double wanted = 0;
  for (int i = 0; i < 500; ++i) {
    loop.run_cycles(1);
    wanted = std::max(wanted, norm(loop.frame().wanted[0].force));
  }
  EXPECT_GT(wanted, 100);
  EXPECT_LE(most, 8.5 * (1 + 1e-12));
  EXPECT_LE(fastest, 5 * (1 + 1e-12));
  EXPECT_GT(most, 8);
}

TEST(TouchLoop, RefusesPeriodsAndHandsThatDoNotFitItsWorld) {
  LocalWorld world(peg_model(1e5, testing::k_tip, {}, 1e-3, {{0, 0, k_height}, {}}, 1));
  ProbeDevice one, two;
  TouchLoopSettings settings;
  settings.limits.period = 2e-3;
  EXPECT_THROW(TouchLoop({&one}, world, settings), Error);
  settings.limits.period = 0;
  EXPECT_THROW(TouchLoop({&one}, world, settings), Error);
  EXPECT_THROW(TouchLoop({&one, &two}, world, {}), Error);
  EXPECT_NO_THROW(TouchLoop({&one}, world, {}));
}

TEST(TouchLoop, WithoutTheClockEveryRunGivesTheSameBits) {
  std::vector<TouchSample> runs[2];
  for (auto& run : runs) {
    LocalWorld world(peg_model());
    ProbeDevice device(k_peg);
    double z = k_height;
    device.on_read = [&](DeviceReading& reading) {
      reading.pose = {{0, 0, z -= 2e-5}, quat_from_rotation_vector({z, 2 * z, 0})};
      return z > -3e-3;
    };
    TouchLoop loop({&device}, world, {});
    EXPECT_EQ(loop.run_cycles(10000), 399U);
    for (TouchSample sample; loop.next_sample(sample);) run.push_back(sample);
    loop.stop();
    EXPECT_EQ(device.force.load(), 0);
  }
  ASSERT_EQ(runs[0].size(), 399U);
  ASSERT_EQ(runs[1].size(), 399U);
  for (std::size_t i = 0; i < 399; ++i) {
    EXPECT_EQ(runs[0][i].hands, runs[1][i].hands);
    EXPECT_EQ(runs[0][i].state_hash, runs[1][i].state_hash);
  }
}

TEST(TouchLoop, AChangeIsTakenOverBetweenTwoCyclesAndTheForceGoesOn) {
  Pressed pressed;
  LocalWorld softer(peg_model(500));
  TouchLoop loop({&pressed.device}, pressed.world, {});
  loop.run_cycles(300);
  ASSERT_NEAR(loop.frame().sample.hands[0].felt.force.z, settled(1e5), 0.01);
  ASSERT_EQ(loop.change({&softer, {}}), 1U);
  EXPECT_EQ(loop.mark().mark.change, 0U);
  double least = 1e9;
  for (int i = 0; i < 300; ++i) {
    loop.run_cycles(1);
    least = std::min(least, loop.frame().sample.hands[0].felt.force.z);
  }
  EXPECT_EQ(loop.frame().change, 1U);
  EXPECT_EQ(loop.mark().mark.change, 1U);
  EXPECT_EQ(loop.mark().mark.cycle, 300U);
  EXPECT_EQ(loop.mark().mark.limiters[0].ramp, 1);
  EXPECT_NEAR(loop.frame().sample.hands[0].felt.force.z, settled(500), 0.01);
  EXPECT_GT(least, 0.99 * settled(500));  // it went there directly, not by way of zero
}

TEST(TouchLoop, AWorldOfAnotherLayoutOrTickIsRefused) {
  Pressed pressed;
  LocalWorld fewer_hands(peg_model(1e5, testing::k_tip, {}, 1e-3, {{0, 0, 0.2}, {}}, 2));
  LocalWorld slower(peg_model(1e5, testing::k_tip, {}, 1e-2));
  TouchLoop loop({&pressed.device}, pressed.world, {});
  loop.run_cycles(300);
  EXPECT_THROW(loop.change({&fewer_hands, {}}), Error);
  EXPECT_THROW(loop.change({&slower, {}}), Error);
  loop.run_cycles(1);
  EXPECT_EQ(loop.frame().change, 0U);
  EXPECT_NEAR(loop.frame().sample.hands[0].felt.force.z, settled(1e5), 0.01);
}

TEST(TouchLoop, AfterAStateThatIsNoneTheNewWorldBeginsAtItsStartAndFadesIn) {
  Pressed pressed;
  LocalWorld fresh(peg_model(1e5, testing::k_tip, {}, 1e-3, {{0, 0, 0.2}, {}}));
  TouchLoop loop({&pressed.device}, pressed.world, {});
  loop.run_cycles(300);
  ASSERT_EQ(loop.mark().mark.limiters[0].ramp, 0);  // none was taken yet
  pressed.world.state().bodies()[1].velocity.x = std::numeric_limits<double>::quiet_NaN();
  ASSERT_EQ(loop.change({&fresh, {}}), 1U);
  const std::uint64_t before = RealtimeSection::breaches();
  loop.run_cycles(1);
  EXPECT_EQ(RealtimeSection::breaches(), before);
  EXPECT_EQ(loop.frame().restarts, 1U);
  EXPECT_EQ(loop.mark().world.bodies()[1].pose.position.z, 0.2);
  EXPECT_EQ(loop.mark().mark.limiters[0].ramp, 0);
  EXPECT_EQ(loop.mark().mark.limiters[0].last, Wrench{});
  EXPECT_EQ(loop.frame().wanted[0], Wrench{});  // nothing is held there yet
  for (const BodyRecord& body : loop.world_frame().world.bodies()) EXPECT_TRUE(is_finite(body.velocity));
}

TEST(TouchLoop, NewLimitsAreTakenOverWhileItRuns) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, patient());
  loop.start();
  ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 3.9; }));
  TouchChange change;
  change.limits.max_force = 1;
  EXPECT_EQ(loop.change(change), 1U);
  EXPECT_TRUE(eventually([&] { return std::fabs(pressed.device.force.load() - 1) < 1e-9; }));
  EXPECT_TRUE(eventually([&] { return loop.frame().change == 1; }));
}

TEST(TouchLoop, ChangesNobodyTakesAreRefusedInTheEnd) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, {});
  std::uint64_t taken = 0;
  while (loop.change({nullptr, {}}) != 0) ASSERT_LT(++taken, 1000U);
  EXPECT_GT(taken, 1U);
  loop.run_cycles(1);
  EXPECT_EQ(loop.frame().change, taken);
}

TEST(TouchLoop, AFullQueueDropsSamplesAndSaysSo) {
  Pressed pressed;
  TouchLoopSettings settings;
  settings.queued_samples = 16;
  TouchLoop loop({&pressed.device}, pressed.world, settings);
  loop.run_cycles(100);
  EXPECT_EQ(loop.frame().samples_dropped, 84U);
}

// 100 ms, by cycles of 5 ms.
TEST(TouchLoop, FadesInByTheClockThoughItsCyclesComeLate) {
  Pressed pressed;
  TouchLoop loop({&pressed.device}, pressed.world, {});
  for (int i = 1; i <= 25; ++i) {
    loop.run_cycles(1, 4e-3);
    const double share = std::min(1.0, 0.01 + (i - 1) * 0.05);
    EXPECT_NEAR(pressed.device.force.load(), loop.frame().wanted[0].force.z * share, 1e-9) << i;
    EXPECT_EQ(loop.frame().sample.late, 4e-3);
  }
  EXPECT_GT(pressed.device.force.load(), 3);
}

// Steps that take 18 ms alternate with short ones, so that the short one's forces come a millisecond after the long
// one's, though its cycle began 19 ms after that one. The device has a clock of its own.
TEST(TouchLoop, ForcesGoByTheTimeBetweenTwoWrites) {
  Pressed pressed;
  std::uint64_t steps = 0;
  pressed.world.on_cycle = [&] {
    if (++steps % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(18));
  };
  std::vector<std::pair<std::uint64_t, double>> written;  // step and seconds
  pressed.device.on_write = [&](const Wrench&) {
    written.emplace_back(steps, static_cast<double>(monotonic_ns()) * 1e-9);
  };
  TouchLoop loop({&pressed.device}, pressed.world, patient());
  loop.start();
  ASSERT_TRUE(eventually([&] { return loop.frame().cycle > 40; }));
  loop.stop();
  std::vector<double> off, after_long;
  std::vector<TouchSample> samples;
  for (TouchSample sample; loop.next_sample(sample);) samples.push_back(sample);
  for (std::size_t i = 1; i < written.size(); ++i) {
    const auto [step, time] = written[i];
    if (step < 2 || step > samples.size() || written[i - 1].first + 1 != step) continue;  // the zeros of begin and end
    const double gap = time - written[i - 1].second - 1e-3, late = samples[step - 1].late;
    off.push_back(std::abs(gap - late));
    if (step % 2 == 0) after_long.push_back(late);
  }
  const auto median = [](std::vector<double>& all) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    return all[all.size() / 2];
  };
  ASSERT_GT(off.size(), 30U);
  EXPECT_LT(median(off), 0.002);
  EXPECT_GT(median(after_long), 0.015);
}

TEST(TouchLoop, CycleNeitherAllocatesNorLocks) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "the real-time guard does not work in this build";
#endif
  Pressed pressed;
  ScriptedDevice second(HandPath({{{0, 0, k_height}, {}}, {{0.01, 0, -0.004}, {}}}, 0.01), k_peg);
  TouchLoop loop({&pressed.device, &second}, pressed.world, {});
  // All of it is watched: the world, and what drivers do.
  std::atomic<int> unseen{0};
  const auto look = [&] { unseen += RealtimeSection::active() ? 0 : 1; };
  const auto read = pressed.device.on_read;
  pressed.world.on_cycle = look;
  pressed.device.on_read = [&](DeviceReading& reading) {
    look();
    return read(reading);
  };
  pressed.device.on_write = [&](const Wrench& wrench) {
    if (wrench != Wrench{}) look();  // the first zero and the last are no cycle's
  };
  const std::uint64_t before = RealtimeSection::breaches();
  loop.run_cycles(500);
  EXPECT_EQ(unseen.load(), 0);
  LocalWorld other(peg_model(5e4));
  loop.change({&other, {}});
  loop.run_cycles(1);
  loop.start();
  EXPECT_TRUE(eventually([&] { return loop.frame().cycle > 600; }));
  loop.stop();
  EXPECT_EQ(RealtimeSection::breaches(), before);
  EXPECT_EQ(unseen.load(), 0);
}

TEST(CycleHistogram, QuantilesAreBucketEdgesAndTheLongestIsExact) {
  CycleHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  for (int i = 1; i <= 100; ++i) histogram.add(i * 1000 - 500);  // 0.5, 1.5, ... 99.5 us
  EXPECT_DOUBLE_EQ(histogram.quantile(0.5), 50e-6);
  EXPECT_DOUBLE_EQ(histogram.quantile(0.99), 99e-6);
  histogram.add(7'000'123);
  EXPECT_DOUBLE_EQ(histogram.longest(), 7'000'123e-9);
  EXPECT_DOUBLE_EQ(histogram.quantile(1), 7'000'123e-9);
}

}  // namespace
}  // namespace cotouch::this_file
