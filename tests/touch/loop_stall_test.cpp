// Drivers and worlds that do not come back: who loses the force, who is disabled, and who goes on.
#include <cotouch/touch/loop.h>

#include <cotouch/base/error.h>

#include "fixtures.h"
#include "support/child_process.h"
#include "support/eventually.h"
#include "support/sanitized.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace cotouch::this_file {
namespace {

using testing::patient;
using testing::peg_model;
using testing::Pressed;
using testing::ProbeDevice;
using testing::Pulled;
using testing::Stall;

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

// The cycle in which the touch thread stood knows of the stall only by the time it comes to write.
TEST(TouchLoop, ACycleThatStoodWritesOnlyZero) {
  Pressed pressed;
  Stall stall;
  std::atomic<bool> stands{false};
  std::atomic<int> pushes{0};  // between the zero of the device's own thread and the end of the cycle that stood
  pressed.world.on_cycle = [&] {
    stall.wait();
    stands.store(false);
  };
  std::atomic<bool> watched{false};
  pressed.device.on_write = [&](const Wrench& wrench) {
    if (watched.load() && wrench != Wrench{}) ++pushes;
    if (!stands.load()) watched.store(false);  // the next cycle may fade in
  };
  TouchLoop loop({&pressed.device}, pressed.world, {});
  loop.start();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(eventually([&] { return pressed.device.force.load() > 1; }));
    stands.store(true);
    const bool stood = stall.begin();
    const bool silenced = eventually([&] { return pressed.device.force.load() == 0; });
    watched.store(true);
    stall.end();
    ASSERT_TRUE(stood && silenced);
    EXPECT_TRUE(eventually([&] { return !watched.load(); }));
    EXPECT_EQ(pushes.load(), 0);
  }
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

// Slow once, when it is asked to; after that the stall is armed.
class SlowOnce {
 public:
  explicit SlowOnce(Stall& stall) : stall_(stall) {}
  void ask(int microseconds) { state_.store(microseconds); }
  bool is_waiting() const { return state_.load() > 0; }
  bool was() const { return state_.load() == k_was; }
  // By the driver.
  void pass() {
    int takes = state_.load();
    if (takes <= 0 || !state_.compare_exchange_strong(takes, k_is)) return;
    std::this_thread::sleep_for(std::chrono::microseconds(takes));
    stall_.arm();
    state_.store(k_was);
  }
  // From now on it has been slow, or will not be.
  bool settle() {
    int takes = state_.load();
    if (takes > 0 && state_.compare_exchange_strong(takes, k_never)) return true;
    return eventually([this] { return was(); });
  }

 private:
  static constexpr int k_never = 0, k_is = -1, k_was = -2;
  Stall& stall_;
  std::atomic<int> state_{k_never};  // or by how many microseconds it is to be slow
};

// Within one cycle: whenever the watchdog looks, and wherever it finds the touch thread first.
TEST(TouchLoop, ADriverThatHangsAfterAnotherWasSlowIsDisabledToo) {
  Pressed slow;
  Pulled hanging;
  Stall stall;
  SlowOnce once(stall);
  slow.device.on_write = [&](const Wrench&) { once.pass(); };
  hanging.device.on_write = [&](const Wrench&) { stall.wait(); };
  TouchLoop loop({&slow.device, &hanging.device}, slow.world, {});
  loop.start();
  const auto is_disabled = [&](std::size_t device) { return loop.device_state(device) == DeviceState::disabled; };
  const auto both_serve = [&] {
    if (is_disabled(0)) slow.reads = 0;
    if (is_disabled(1)) hanging.reads = 0;
    return loop.enable(0) && loop.enable(1) && hanging.device.force.load() > 1;
  };
  for (int takes = 20'000; takes <= 26'000; takes += 750) {
    // A busy machine may stop a thread that is inside a driver for so long that the device is disabled before it hangs.
    bool hung = false;
    for (int tries = 0; tries < 100 && !hung; ++tries) {
      const bool served = eventually(both_serve);
      once.ask(takes);
      const bool decided = eventually([&] {
        return once.was() ? stall.inside() || is_disabled(1) : is_disabled(0) && once.is_waiting();
      });
      const bool settled = once.settle();
      hung = once.was() && stall.inside();
      const bool disabled = !hung || eventually([&] { return is_disabled(1); });
      // The other one's is taken away by a thread of its own, which a busy machine may run later.
      const bool silenced =
          !hung || eventually([&] { return hanging.device.force.load() == 0 && slow.device.force.load() == 0; });
      stall.end();
      ASSERT_TRUE(served && decided && settled && disabled) << takes << served << decided << settled << disabled;
      ASSERT_TRUE(silenced) << takes;
    }
    ASSERT_TRUE(hung) << takes;
  }
}

// Devices whose driver may still be on its way out when their test has ended: never destroyed, and never lost.
ProbeDevice* left_behind() {
  static auto& devices = *new std::vector<std::unique_ptr<ProbeDevice>>;
  return devices.emplace_back(std::make_unique<ProbeDevice>(testing::k_peg)).get();
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

// The touch thread is inside the world, and the driver hangs as soon as its device is let go.
TEST(TouchLoop, ADriverThatHangsWhileItsForceIsTakenAwayCostsNoOtherDevice) {
  static Stall world_stall, driver_stall;
  ProbeDevice* const device = left_behind();
  device->on_write = [](const Wrench& wrench) {
    if (world_stall.inside() && wrench == Wrench{}) driver_stall.wait();
  };
  auto world = std::make_unique<testing::HookedWorld>(peg_model());
  world->on_cycle = [] { world_stall.wait(); };
  auto second = std::make_unique<Pulled>();
  auto loop = std::make_unique<TouchLoop>(std::vector<Device*>{device, &second->device}, *world, TouchLoopSettings{});
  loop->start();
  ASSERT_TRUE(eventually([&] { return second->device.force.load() > 0.1; }));
  driver_stall.arm();
  ASSERT_TRUE(world_stall.begin());
  ASSERT_TRUE(driver_stall.reached());
  // Though neither the touch thread nor that of the first device comes back.
  EXPECT_TRUE(eventually([&] { return second->device.force.load() == 0; }));
  EXPECT_TRUE(eventually([&] { return loop->device_state(0) == DeviceState::disabled; }));
  EXPECT_EQ(device->disables.load(), 1);
  const std::uint64_t cycle = loop->frame().cycle;
  world_stall.end();
  EXPECT_TRUE(eventually([&] { return loop->frame().cycle > cycle + 20; }));
  EXPECT_EQ(loop->frame().devices[1], DeviceState::ready);
  EXPECT_EQ(second->device.disables.load(), 0);
  EXPECT_FALSE(loop->stop());
  loop.reset();
  world.reset();
  second.reset();
  driver_stall.end();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

// Two devices take four threads: one that touches, one that watches, and one for each device.
TEST(TouchLoop, BeginsWithAllItsThreadsOrNotAtAll) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer's shadow has no room in a small address space";
  constexpr std::size_t k_stack = 64U << 20U;  // larger than any that is left from other threads of this process
  for (rlim_t threads = 0; threads < 4; ++threads)
    EXPECT_EQ(in_a_child([&] {
                pthread_attr_t large;
                pthread_attr_init(&large);
                pthread_attr_setstacksize(&large, k_stack);
                pthread_setattr_default_np(&large);
                Pressed pressed;
                Pulled second;
                TouchLoop loop({&pressed.device, &second.device}, pressed.world, {});
                std::atomic<int> cycles{0};
                pressed.world.on_cycle = [&] { ++cycles; };
                rlimit limit{};
                getrlimit(RLIMIT_AS, &limit);
                const rlim_t before =
                    std::exchange(limit.rlim_cur, address_space() + threads * (k_stack + (64U << 10U)) + (1U << 20U));
                setrlimit(RLIMIT_AS, &limit);
                bool refused = false;
                try {
                  loop.start();
                } catch (const std::exception&) {
                  refused = true;
                }
                limit.rlim_cur = before;
                setrlimit(RLIMIT_AS, &limit);
                if (!refused) return 1;
                if (loop.running() || pressed.device.force.load() != 0 || cycles.load() != 0) return 2;
                loop.start();
                return eventually([&] { return pressed.device.force.load() > 1; }) && loop.stop() ? 0 : 3;
              }),
              0)
        << threads;
}

}  // namespace
}  // namespace cotouch::this_file
