#include <cotouch/touch/loop.h>

#include <cotouch/base/error.h>
#include <cotouch/touch/scripted_device.h>

#include "fixtures.h"
#include "support/eventually.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include <sched.h>

namespace cotouch::this_file {
namespace {

using testing::k_peg;
using testing::peg_model;
using testing::ProbeDevice;
using testing::Stall;

constexpr double k_height = 0.005;  // of the peg over the plate at the start

// For tests that are not about stalls: on a very busy machine every short gap would let the force fade in anew.
TouchLoopSettings patient() {
  TouchLoopSettings settings;
  settings.stall_seconds = 10;
  return settings;
}

// A hand that takes a peg and presses it 4 mm into a stiff plate.
struct Pressed {
  testing::HookedWorld world{peg_model()};
  ProbeDevice device{k_peg};
  std::atomic<bool> present{true};
  int reads = 0;  // since it is there
  Pressed() {
    device.on_read = [this](DeviceReading& reading) {
      reads = present.load() ? reads + 1 : 0;
      reading.pose = {{0, 0, reads == 1 ? k_height : -4e-3}, {}};
      return present.load();
    };
  }
};

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

// Pulls at the same peg from the side.
struct Pulled {
  ProbeDevice device{k_peg};
  int reads = 0;
  Pulled() {
    device.on_read = [this](DeviceReading& reading) {
      reading.pose = {{reads++ == 0 ? 0 : 0.004, 0, k_height}, {}};
      return true;
    };
  }
};

TEST(TouchLoop, AStalledCycleLosesTheForceOfEveryHandAndFadesInAgain) {
  Pressed pressed;
  Pulled second;
  Stall stall;
  pressed.world.on_cycle = [&] { stall.wait(); };
  TouchLoop loop({&pressed.device, &second.device}, pressed.world, {});
  loop.start();
  const auto both_push = [&] { return pressed.device.force.load() > 1 && second.device.force.load() > 1; };
  ASSERT_TRUE(eventually(both_push));
  stall.begin();
  const bool silenced = eventually([&] { return pressed.device.force.load() == 0 && second.device.force.load() == 0; });
  stall.end();  // before any assertion, or the thread would never end
  EXPECT_TRUE(silenced);
  EXPECT_TRUE(eventually(both_push));
  EXPECT_TRUE(eventually([&] { return loop.frame().stalls >= 1; }));
  EXPECT_EQ(pressed.device.disables.load(), 0);
}

TEST(TouchLoop, ADeviceWhoseDriverHangsIsDisabledUntilItIsEnabledOnPurpose) {
  for (const bool in_write : {true, false}) {
    Pressed pressed;
    Pulled second;
    Stall stall;
    const auto press = pressed.device.on_read;
    if (in_write)
      pressed.device.on_write = [&](const Wrench&) { stall.wait(); };
    else
      pressed.device.on_read = [&](DeviceReading& reading) {
        stall.wait();
        return press(reading);
      };
    TouchLoop loop({&pressed.device, &second.device}, pressed.world, {});
    loop.start();
    const auto both_push = [&] { return pressed.device.force.load() > 1 && second.device.force.load() > 1; };
    ASSERT_TRUE(eventually(both_push));
    stall.begin();
    // While it hangs: its power is cut, the other's force is taken away, and it can be seen.
    const bool silenced = eventually([&] {
      return pressed.device.disables.load() == 1 && pressed.device.force.load() == 0 &&
             second.device.force.load() == 0 && loop.device_state(0) == DeviceState::disabled;
    });
    const bool enabled = loop.enable(0);  // not while it hangs
    stall.end();
    EXPECT_TRUE(silenced) << in_write;
    EXPECT_FALSE(enabled) << in_write;
    EXPECT_EQ(second.device.disables.load(), 0);
    // The other goes on; this one stays without force, and without being asked.
    EXPECT_TRUE(eventually([&] { return loop.frame().devices[0] == DeviceState::disabled; }));
    EXPECT_EQ(loop.frame().devices[1], DeviceState::ready);
    const std::uint64_t writes = pressed.device.writes.load(), cycle = loop.frame().cycle;
    ASSERT_TRUE(eventually([&] { return loop.frame().cycle > cycle + 20; }));
    EXPECT_EQ(pressed.device.writes.load(), writes);
    EXPECT_FALSE(loop.frame().sample.hands[0].input.present);  // it has let go
    EXPECT_TRUE(loop.frame().sample.hands[1].input.present);
    pressed.reads = 0;
    EXPECT_TRUE(loop.enable(0));
    EXPECT_TRUE(eventually(both_push));
    EXPECT_TRUE(eventually([&] { return loop.frame().devices[0] == DeviceState::ready; }));
  }
}

// Devices whose driver may still be on its way out when their test has ended: never destroyed, and never lost.
ProbeDevice* left_behind() {
  static auto& devices = *new std::vector<std::unique_ptr<ProbeDevice>>;
  return devices.emplace_back(std::make_unique<ProbeDevice>(k_peg)).get();
}

// The driver never comes back: the loop goes, the thread stays behind and touches nothing of it when it is woken.
TEST(TouchLoop, StoppingDoesNotWaitForEverForADriver) {
  // With a watchdog that sees it first, and with one that never would.
  for (const auto& [in_write, settings] : {std::pair(true, TouchLoopSettings{}), std::pair(false, TouchLoopSettings{}),
                                           std::pair(true, patient()), std::pair(false, patient())}) {
    static Stall stall;  // the thread that is left behind may outlive this test
    ProbeDevice* const hanging = left_behind();
    if (in_write)
      hanging->on_write = [](const Wrench&) { stall.wait(); };
    else
      hanging->on_read = [](DeviceReading&) {
        stall.wait();
        return true;
      };
    auto second = std::make_unique<Pulled>();
    auto world = std::make_unique<LocalWorld>(peg_model());
    auto loop = std::make_unique<TouchLoop>(std::vector<Device*>{hanging, &second->device}, *world, settings);
    loop->start();
    ASSERT_TRUE(eventually([&] { return second->device.force.load() > 0.1; }));
    ASSERT_TRUE(stall.begin());
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(loop->stop());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_FALSE(loop->running());
    EXPECT_EQ(hanging->force.load(), 0);
    EXPECT_GE(hanging->disables.load(), 1);
    EXPECT_EQ(loop->device_state(0), DeviceState::disabled);
    EXPECT_EQ(second->device.force.load(), 0);
    EXPECT_FALSE(loop->stop());
    EXPECT_THROW(loop->start(), Error);
    EXPECT_FALSE(loop->enable(0));
    {
      // The one that answers can be used by another loop, the one that hangs cannot.
      LocalWorld other(peg_model());
      EXPECT_EQ(TouchLoop({&second->device}, other, {}).run_cycles(1), 1U);
      EXPECT_THROW(TouchLoop({hanging}, other, {}).run_cycles(1), Error);
    }
    loop.reset();
    world.reset();  // the address sanitizer sees it if anybody comes back to these
    second.reset();
    const std::uint64_t writes = hanging->writes.load();
    stall.end();
    EXPECT_TRUE(!in_write || eventually([&] { return hanging->writes.load() > writes; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LE(hanging->writes.load(), writes + 1);  // that one call, and no more
  }
}

TEST(TouchLoop, TheWatchdogStuckInADriverIsLeftBehindToo) {
  static Stall world_stall, driver_stall;
  ProbeDevice* const device = left_behind();
  // While the touch thread is inside the world, it is the watchdog that writes.
  device->on_write = [](const Wrench& wrench) {
    if (world_stall.inside() && wrench == Wrench{}) driver_stall.wait();
  };
  auto world = std::make_unique<testing::HookedWorld>(peg_model(1e5, testing::k_tip, {}, 0.04));
  world->on_cycle = [] { world_stall.wait(); };
  auto second = std::make_unique<Pulled>();
  static std::atomic<bool> second_silenced{false};
  second->device.on_write = [](const Wrench& wrench) {
    if (world_stall.inside() && wrench == Wrench{}) second_silenced.store(true);
  };
  // The watchdog counts from the end of the last cycle, most of which passes before the next one begins: by its own
  // clock that one hardly stood.
  TouchLoopSettings settings;
  settings.limits.period = 0.04;
  settings.stall_seconds = 0.05;
  auto loop = std::make_unique<TouchLoop>(std::vector<Device*>{device, &second->device}, *world, settings);
  loop->start();
  ASSERT_TRUE(eventually([&] { return second->device.force.load() > 0.1; }));
  driver_stall.arm();
  ASSERT_TRUE(world_stall.begin());
  ASSERT_TRUE(driver_stall.reached());  // the watchdog writes its zero there
  EXPECT_FALSE(second_silenced.load());
  world_stall.end();
  // The touch thread is back and finds the watchdog still inside. It lets go of what that did not come to.
  EXPECT_TRUE(eventually([&] { return second_silenced.load(); }));
  EXPECT_TRUE(eventually([&] { return device->disables.load() >= 1; }));
  EXPECT_EQ(loop->device_state(0), DeviceState::disabled);
  EXPECT_FALSE(loop->stop());
  loop.reset();
  world.reset();
  second.reset();
  driver_stall.end();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
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

TEST(TouchLoop, TheWatchdogRunsAboveTheThreadThatItWatches) {
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
  EXPECT_EQ(priorities, (std::vector<int>{k_touch_priority, k_touch_priority + 1}));
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
