#include <cotouch/touch/loop.h>

#include "fixtures.h"
#include "support/eventually.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace cotouch {
namespace {

using testing::HalfspaceContact;
using testing::ProbeDevice;

// For tests that are not about stalls: on a very busy machine every short gap would let the force fade in anew.
TouchLoopSettings patient() {
  TouchLoopSettings settings;
  settings.stall_seconds = 10;
  return settings;
}

// A hand pressed 4 mm into a stiff floor.
struct Pressed {
  HalfspaceContact contact{1e5};
  HeldObject object{contact, testing::shell_in_hand(), {}};
  ProbeDevice device;
  Pressed() {
    device.on_read = [](DeviceReading& reading) {
      reading.pose = {{0, 0, -4e-3}, {}};
      return true;
    };
  }
};

TEST(TouchLoop, RendersAndPublishesWhileItRunsAndIsSilentAfterwards) {
  Pressed pressed;
  TouchLoop loop(pressed.device, pressed.object, patient());
  EXPECT_FALSE(loop.running());
  const RealtimeStatus status = loop.start();
  EXPECT_EQ(status.notes.empty(), status.fifo_priority && status.locked_memory);
  ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 3.9; }));
  ASSERT_TRUE(eventually([&] { return loop.frame().contact.in_contact == 1; }));
  EXPECT_EQ(loop.frame().state, TouchState::touching);
  loop.stop();
  EXPECT_FALSE(loop.running());
  EXPECT_EQ(pressed.device.force.load(), 0);
  EXPECT_EQ(loop.frame().state, TouchState::stopped);
  EXPECT_EQ(loop.frame().sample.felt, Wrench{});
  EXPECT_EQ(loop.cycle_times().count(), loop.frame().cycle);
  EXPECT_LE(loop.cycle_times().quantile(0.5), loop.cycle_times().quantile(0.99));
}

TEST(TouchLoop, CanBeStartedAgain) {
  Pressed pressed;
  TouchLoop loop(pressed.device, pressed.object, patient());
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
    TouchLoop loop(pressed.device, pressed.object, patient());
    loop.start();
    ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 1; }));
  }
  EXPECT_EQ(pressed.device.force.load(), 0);
}

TEST(TouchLoop, AStalledCycleLosesItsForceAndFadesInAgain) {
  Pressed pressed;
  std::atomic<bool> hang{false}, hanging{false};
  pressed.device.on_read = [&](DeviceReading& reading) {
    reading.pose = {{0, 0, -4e-3}, {}};
    while (hang.load()) {
      hanging.store(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  };
  TouchLoop loop(pressed.device, pressed.object, {});
  loop.start();
  ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 3.9; }));
  hang.store(true);
  ASSERT_TRUE(eventually([&] { return hanging.load(); }));
  const bool silenced = eventually([&] { return pressed.device.force.load() == 0; });
  hang.store(false);  // before any assertion, or the thread would never end
  EXPECT_TRUE(silenced);
  EXPECT_TRUE(eventually([&] { return pressed.device.force.load() > 3.9; }));
  EXPECT_TRUE(eventually([&] { return loop.frame().stalls >= 1; }));
}

TEST(TouchLoop, ALostDeviceIsSilencedAndEndsTheLoopOrIsAwaited) {
  for (const bool wait : {false, true}) {
    Pressed pressed;
    std::atomic<bool> present{true};
    pressed.device.on_read = [&](DeviceReading& reading) {
      reading.pose = {{0, 0, -4e-3}, {}};
      return present.load();
    };
    TouchLoopSettings settings = patient();
    settings.wait_for_device = wait;
    TouchLoop loop(pressed.device, pressed.object, settings);
    loop.start();
    ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 1; }));
    present.store(false);
    EXPECT_TRUE(eventually([&] { return pressed.device.force.load() == 0; }));
    EXPECT_TRUE(eventually([&] { return loop.frame().state == TouchState::device_lost; }));
    if (wait) {
      EXPECT_TRUE(loop.running());
      present.store(true);
      EXPECT_TRUE(eventually([&] { return pressed.device.force.load() > 1; }));
    } else {
      EXPECT_TRUE(eventually([&] { return !loop.running(); }));
      EXPECT_EQ(pressed.device.force.load(), 0);
    }
  }
}

TEST(TouchLoop, WithoutTheClockEveryRunGivesTheSameBits) {
  std::vector<TouchSample> runs[2];
  for (auto& run : runs) {
    Pressed pressed;
    double z = 1e-3;
    pressed.device.on_read = [&](DeviceReading& reading) {
      reading.pose = {{0, 0, z -= 1e-5}, quat_from_rotation_vector({z, 2 * z, 0})};
      return z > -3e-3;
    };
    TouchLoop loop(pressed.device, pressed.object, {});
    EXPECT_EQ(loop.run_cycles(10000), 399U);
    TouchSample sample;
    while (loop.next_sample(sample)) run.push_back(sample);
    loop.stop();
    EXPECT_EQ(pressed.device.force.load(), 0);
  }
  EXPECT_EQ(runs[0].size(), 399U);
  EXPECT_TRUE(std::equal(runs[0].begin(), runs[0].end(), runs[1].begin(), felt_alike));
}

TEST(TouchLoop, AChangeIsTakenOverBetweenTwoCyclesAndTheForceGoesOn) {
  Pressed pressed;
  HalfspaceContact softer(500);
  TouchLoop loop(pressed.device, pressed.object, {});
  loop.run_cycles(300);
  // Springs in series: 4 mm * 1 / (1/K + 1/k), which for K = 1e5 N/m is nearly 4 mm * k.
  const double k = pressed.object.settings().coupling.linear_stiffness;
  ASSERT_NEAR(loop.frame().sample.felt.force.z, 4e-3 / (1 / 1e5 + 1 / k), 1e-6);
  ASSERT_EQ(loop.change({&softer, testing::shell_in_hand(), {}}), 1U);
  const double settled = 4e-3 / (1 / 500.0 + 1 / k);
  double least = 1e9;
  for (int i = 0; i < 300; ++i) {
    loop.run_cycles(1);
    least = std::min(least, loop.frame().sample.felt.force.z);
  }
  EXPECT_EQ(loop.frame().mark.change, 1U);
  EXPECT_EQ(loop.frame().mark.cycle, 300U);
  EXPECT_NEAR(loop.frame().sample.felt.force.z, settled, 1e-6);
  EXPECT_GT(least, 0.99 * settled);  // it went there directly, not by way of zero
}

TEST(TouchLoop, ChangesNobodyTakesAreRefusedInTheEnd) {
  Pressed pressed;
  TouchLoop loop(pressed.device, pressed.object, {});
  std::uint64_t taken = 0;
  while (loop.change({&pressed.contact, testing::shell_in_hand(), {}}) != 0) ASSERT_LT(++taken, 1000U);
  EXPECT_GT(taken, 1U);
  loop.run_cycles(1);
  EXPECT_EQ(loop.frame().mark.change, taken);
}

TEST(TouchLoop, AFullQueueDropsSamplesAndSaysSo) {
  Pressed pressed;
  TouchLoopSettings settings;
  settings.queued_samples = 16;
  TouchLoop loop(pressed.device, pressed.object, settings);
  loop.run_cycles(100);
  EXPECT_EQ(loop.frame().samples_dropped, 84U);
}

TEST(TouchLoop, CycleNeitherAllocatesNorLocks) {
  Pressed pressed;
  TouchLoop loop(pressed.device, pressed.object, {});
  const std::uint64_t before = RealtimeSection::breaches();
  loop.run_cycles(500);
  HalfspaceContact other(5e4);
  loop.change({&other, testing::shell_in_hand(), {}});
  loop.run_cycles(1);
  loop.start();
  EXPECT_TRUE(eventually([&] { return loop.frame().cycle > 600; }));
  loop.stop();
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

#ifdef COTOUCH_RT_GUARD
TEST(RealtimeGuard, SeesAllocationsAndLocksInsideASectionOnly) {
  std::mutex mutex;
  std::shared_mutex shared;
  void* volatile memory = nullptr;  // volatile: the compiler may not leave the pair out
  const std::vector<std::function<void()>> breaches{[&] { memory = ::operator new(1); },
                                                    [&] { ::operator delete(memory); },
                                                    [&] { memory = std::malloc(1); },
                                                    [&] { memory = std::realloc(memory, 100); },
                                                    [&] { std::free(memory); },
                                                    [&] { memory = std::calloc(1, 1); },
                                                    [&] { std::free(memory); },
                                                    [&] { mutex.lock(); },
                                                    [&] { mutex.unlock(), mutex.try_lock(); },
                                                    [&] { mutex.unlock(), shared.lock(); },
                                                    [&] { shared.unlock(), shared.lock_shared(); }};
  for (std::size_t i = 0; i < breaches.size(); ++i) {
    const std::uint64_t before = RealtimeSection::breaches();
    {
      const RealtimeSection section;
      breaches[i]();
    }
    EXPECT_EQ(RealtimeSection::breaches(), before + 1) << i;
  }
  shared.unlock_shared();
  const std::uint64_t before = RealtimeSection::breaches();
  std::free(std::malloc(1));
  const std::scoped_lock lock(mutex);
  EXPECT_EQ(RealtimeSection::breaches(), before);
}
#endif

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
}  // namespace cotouch
