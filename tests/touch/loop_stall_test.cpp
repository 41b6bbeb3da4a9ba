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
using testing::pushes;
using testing::Stall;

constexpr int k_tries = 100;  // until a busy machine has not disturbed one of them

TEST(TouchLoop, AStalledCycleLosesTheForceOfEveryHandAndFadesInAgain) {
  Pressed pressed;
  Pulled second;
  Stall stall;
  pressed.world.on_cycle = [&] { stall.wait(); };
  TouchLoop loop({&pressed.device, &second.device}, pressed.world, {});
  loop.start();
  bool undisturbed = false;
  for (int tries = 0; tries < k_tries && !undisturbed; ++tries) {
    ASSERT_TRUE(eventually([&] { return pushes(loop, 0, pressed) && pushes(loop, 1, second); }));
    const auto disables = [&] { return pressed.device.disables.load() + second.device.disables.load(); };
    const int before = disables();
    stall.begin();
    const bool silenced =
        eventually([&] { return pressed.device.force.load() == 0 && second.device.force.load() == 0; });
    stall.end();  // before any assertion, or the thread would never end
    EXPECT_TRUE(silenced);
    const auto both_push = [&] { return pressed.device.force.load() > 1 && second.device.force.load() > 1; };
    EXPECT_TRUE(eventually([&] { return both_push() || disables() > before; }));
    undisturbed = disables() == before;
  }
  EXPECT_TRUE(undisturbed);
  EXPECT_TRUE(eventually([&] { return loop.frame().stalls >= 1; }));
}

// The cycle in which the touch thread stood knows of the stall only by the time it comes to write.
TEST(TouchLoop, ACycleThatStoodWritesOnlyZero) {
  Pressed pressed;
  Stall stall;
  std::atomic<bool> stands{false}, pushed{false};
  std::atomic<int> not_zero{0};  // between the zero of the device's own thread and the end of the cycle that stood
  pressed.world.on_cycle = [&] {
    pushed.store(pressed.device.force.load() > 0);
    stall.wait();
    stands.store(false);
  };
  std::atomic<bool> watched{false};
  pressed.device.on_write = [&](const Wrench& wrench) {
    if (watched.load() && wrench != Wrench{}) ++not_zero;
    if (!stands.load()) watched.store(false);  // the next cycle may fade in
  };
  TouchLoop loop({&pressed.device}, pressed.world, {});
  loop.start();
  int rounds = 0;
  for (int tries = 0; tries < k_tries && rounds < 3; ++tries) {
    ASSERT_TRUE(eventually([&] { return pushes(loop, 0, pressed); }));
    const int disables = pressed.device.disables.load();
    stands.store(true);
    const bool stood = stall.begin();
    const bool silenced = eventually([&] { return pressed.device.force.load() == 0; });
    // A busy machine may have taken the force away before the cycle began: that zero is not the watchdog's.
    const bool counts = pushed.load();
    if (counts) ++rounds;
    watched.store(counts);
    stall.end();
    ASSERT_TRUE(stood && silenced);
    EXPECT_TRUE(eventually([&] { return !watched.load() || pressed.device.disables.load() > disables; }));
    watched.store(false);
    EXPECT_EQ(not_zero.load(), 0);
  }
  EXPECT_EQ(rounds, 3);
}

// A motor that was let go of does not warm up, however long the touch thread stands.
TEST(TouchLoop, AForceThatTheWatchdogTookAwayCountsForNoLongerThanItTakes) {
  Pressed pressed;
  Stall stall;
  std::atomic<std::uint64_t> cycles{0}, stood{0};
  pressed.world.on_cycle = [&] {
    const std::uint64_t cycle = cycles.fetch_add(1);
    stall.wait();
    if (stall.inside() && stood.load() == 0) stood.store(cycle);
  };
  TouchLoopSettings settings;
  settings.queued_samples = 1U << 16U;
  TouchLoop loop({&pressed.device}, pressed.world, settings);
  loop.start();
  ASSERT_TRUE(eventually([&] { return pushes(loop, 0, pressed); }));
  const bool stands = stall.begin();
  const bool silenced = eventually([&] { return pressed.device.force.load() == 0; });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  stall.end();
  ASSERT_TRUE(stands && silenced);
  ASSERT_TRUE(eventually([&] { return cycles.load() > stood.load() + 5; }));
  loop.stop();
  std::vector<double> late;
  for (TouchSample sample; loop.next_sample(sample);) late.push_back(sample.late);
  ASSERT_GT(late.size(), stood.load());
  EXPECT_GT(late[stood.load()], 0.015);  // until the watchdog saw it
  EXPECT_LE(late[stood.load()], 0.045);  // 20 ms for a stall, and 25 at the most to let go
}

// Returns whether nothing else was disabled meanwhile.
bool hang_and_be_enabled(bool in_write) {
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
  EXPECT_TRUE(eventually([&] { return pushes(loop, 0, pressed) && pushes(loop, 1, second); }));
  const int others = second.device.disables.load(), own = pressed.device.disables.load();
  stall.arm();
  EXPECT_TRUE(eventually([&] { return stall.inside() || loop.device_state(0) == DeviceState::disabled; }));
  // While it hangs: its power is cut, the other's force is taken away, and it can be seen.
  const bool silenced = eventually([&] {
    return pressed.device.disables.load() == own + 1 && pressed.device.force.load() == 0 &&
           second.device.force.load() == 0 && loop.device_state(0) == DeviceState::disabled;
  });
  const bool hung = stall.inside();
  const bool enabled = hung && loop.enable(0);  // not while it hangs
  stall.end();
  if (!hung || second.device.disables.load() > others) return false;
  EXPECT_TRUE(silenced) << in_write;
  EXPECT_FALSE(enabled) << in_write;
  // The other goes on; this one stays without force, and without being asked.
  EXPECT_TRUE(eventually([&] { return loop.frame().devices[0] == DeviceState::disabled; }));
  const std::uint64_t writes = pressed.device.writes.load(), cycle = loop.frame().cycle;
  EXPECT_TRUE(eventually([&] { return loop.frame().cycle > cycle + 20; }));
  const TouchFrame frame = loop.frame();
  if (second.device.disables.load() > others) return false;
  EXPECT_EQ(frame.devices[1], DeviceState::ready);
  EXPECT_EQ(pressed.device.writes.load(), writes);
  EXPECT_FALSE(frame.sample.hands[0].input.present);  // it has let go
  EXPECT_TRUE(frame.sample.hands[1].input.present);
  EXPECT_TRUE(eventually([&] { return pushes(loop, 0, pressed) && pushes(loop, 1, second); }));
  EXPECT_TRUE(eventually(
      [&] { return loop.frame().devices[0] == DeviceState::ready || pressed.device.disables.load() > own + 1; }));
  return true;
}

TEST(TouchLoop, ADeviceWhoseDriverHangsIsDisabledUntilItIsEnabledOnPurpose) {
  for (const bool in_write : {true, false}) {
    bool undisturbed = false;
    for (int tries = 0; tries < k_tries && !undisturbed && !HasFailure(); ++tries)
      undisturbed = hang_and_be_enabled(in_write);
    EXPECT_TRUE(undisturbed) << in_write;
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
  std::atomic<int> cycles{0};
  slow.world.on_cycle = [&] { ++cycles; };
  TouchLoop loop({&slow.device, &hanging.device}, slow.world, {});
  loop.start();
  const auto is_disabled = [&](std::size_t device) { return loop.device_state(device) == DeviceState::disabled; };
  for (int takes = 20'000; takes <= 26'000; takes += 750) {
    // A busy machine may stop a thread that is inside a driver for so long that the device is disabled before it hangs.
    bool hung = false;
    for (int tries = 0; tries < k_tries && !hung; ++tries) {
      const bool served = eventually([&] { return pushes(loop, 0, slow) && pushes(loop, 1, hanging); });
      once.ask(takes);
      const bool decided = eventually(
          [&] { return once.was() ? stall.inside() || is_disabled(1) : is_disabled(0) && once.is_waiting(); });
      const bool settled = once.settle();
      hung = once.was() && stall.inside();
      // If cycles go on, it is the thread which takes the force away that hangs there: it came first.
      const int cycle = cycles.load();
      const auto goes_on = [&] { return cycles.load() > cycle; };
      const bool disabled = !hung || eventually([&] { return is_disabled(1) || goes_on(); });
      // The other one's is taken away by a thread of its own, which a busy machine may run later.
      const auto both_silent = [&] { return hanging.device.force.load() == 0 && slow.device.force.load() == 0; };
      const bool silenced = !hung || eventually([&] { return both_silent() || goes_on(); });
      hung = hung && !goes_on();
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
    auto second = std::make_unique<Pressed>();  // in a world that is not its own
    auto world = std::make_unique<LocalWorld>(peg_model());
    auto loop = std::make_unique<TouchLoop>(std::vector<Device*>{hanging, &second->device}, *world, settings);
    loop->start();
    bool inside = false;
    for (int tries = 0; tries < k_tries && !inside; ++tries) {
      ASSERT_TRUE(eventually([&] { return loop->enable(0) && pushes(*loop, 1, *second, 0.1); }));
      stall.arm();
      eventually([&] { return stall.inside() || loop->device_state(0) == DeviceState::disabled; });
      inside = stall.inside();
      if (!inside) stall.end();
    }
    ASSERT_TRUE(inside);
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

// Returns whether nothing was disabled before, and nothing else then.
bool hang_while_let_go() {
  ProbeDevice* const device = left_behind();
  struct Stalls {
    Stall in_world, in_driver;
  };
  const auto stalls = std::make_shared<Stalls>();  // the thread that is left behind keeps its own
  device->on_write = [stalls](const Wrench& wrench) {
    if (stalls->in_world.inside() && wrench == Wrench{}) stalls->in_driver.wait();
  };
  auto world = std::make_unique<testing::HookedWorld>(peg_model());
  world->on_cycle = [stalls] { stalls->in_world.wait(); };
  auto second = std::make_unique<Pressed>();  // in a world that is not its own
  auto loop = std::make_unique<TouchLoop>(std::vector<Device*>{device, &second->device}, *world, TouchLoopSettings{});
  loop->start();
  EXPECT_TRUE(eventually([&] { return loop->enable(0) && pushes(*loop, 1, *second, 0.1); }));
  const int before = device->disables.load(), others = second->device.disables.load();
  stalls->in_driver.arm();
  EXPECT_TRUE(stalls->in_world.begin());
  EXPECT_TRUE(eventually([&] { return stalls->in_driver.inside() || device->disables.load() > before; }));
  const bool hung = stalls->in_driver.inside();
  // Though neither the touch thread nor that of the first device comes back.
  EXPECT_TRUE(eventually([&] { return second->device.force.load() == 0; }));
  EXPECT_TRUE(eventually([&] { return loop->device_state(0) == DeviceState::disabled; }));
  EXPECT_EQ(device->disables.load(), before + 1);
  const std::uint64_t cycle = loop->frame().cycle;
  stalls->in_world.end();
  EXPECT_TRUE(eventually([&] { return loop->frame().cycle > cycle + 20; }));
  const DeviceState of_the_other = loop->frame().devices[1];
  const bool undisturbed = hung && second->device.disables.load() == others;
  if (undisturbed) {
    EXPECT_EQ(of_the_other, DeviceState::ready);
  }
  if (hung) {
    EXPECT_FALSE(loop->stop());
    EXPECT_EQ(device->force.load(), 0);
    EXPECT_EQ(second->device.force.load(), 0);
  }
  loop.reset();
  world.reset();  // the address sanitizer sees it if the thread that is left behind comes back to these
  second.reset();
  const std::uint64_t writes = device->writes.load();
  stalls->in_driver.end();
  // That thread finishes the call in which it hung, and asks for no other.
  EXPECT_TRUE(!hung || eventually([&] { return device->writes.load() > writes; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(device->writes.load(), writes + (hung ? 1 : 0));
  EXPECT_EQ(device->force.load(), 0);
  return undisturbed;
}

// The touch thread is inside the world, and the driver hangs as soon as its device is let go.
TEST(TouchLoop, ADriverThatHangsWhileItsForceIsTakenAwayCostsNoOtherDevice) {
  bool undisturbed = false;
  for (int tries = 0; tries < k_tries && !undisturbed && !HasFailure(); ++tries) undisturbed = hang_while_let_go();
  EXPECT_TRUE(undisturbed);
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
                TouchLoop loop({&pressed.device, &second.device}, pressed.world, patient());
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
