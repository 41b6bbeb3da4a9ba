// Plug-ins that misbehave while they are served: what protects devices must stop each, and no force above the limit
// may reach any of them (plugins/hostile).
#include <cotouch/device/own_program.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/trial_world.h>

#include "fixtures.h"
#include "support/child_process.h"
#include "support/eventually.h"
#include "support/hostile_plugin.h"
#include "support/sanitized.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

namespace cotouch::this_file {
namespace {

using testing::patient;
using testing_plugins::HostilePlugin;

constexpr double k_limit = LimitSettings{}.max_force;

// Its driver is still inside. It stays known, or it would look like a leak.
void leave(std::unique_ptr<Device> device) {
  static auto& left = *new std::vector<std::unique_ptr<Device>>;
  left.push_back(std::move(device));
}

// One hostile device in a loop of its own. The world asks for 50 N from the first cycle on.
struct Served {
  HostilePlugin plugin;
  std::unique_ptr<Device> device;
  TrialWorld world;
  TouchLoop loop;

  explicit Served(const char* kind, TouchLoopSettings settings = patient())
      : plugin(kind), device(plugin.open()), world(device->limits()), loop({device.get()}, world, [&settings] {
          settings.wait_for_device = true;
          return settings;
        }()) {
    loop.start();
  }
  ~Served() {
    plugin.record().let_go.store(1);
    if (!loop.stop()) leave(std::move(device));
  }
  bool comes_to(DeviceState state) {
    return eventually([&] { return loop.device_state(0) == state; });
  }
  hostile::Record& record() { return plugin.record(); }
};

void expect_within_limits(hostile::Record& record, const char* kind) {
  EXPECT_GT(record.largest_force.load(), 4) << kind;  // there was something to take away
  EXPECT_LE(record.largest_force.load(), k_limit * (1 + 1e-12)) << kind;
  EXPECT_EQ(record.largest_torque.load(), 0) << kind;
}

TEST(HostileDevice, ThatReadsWhatCannotBeTrueLosesItsForce) {
  for (const char* kind : {"no-number", "endless-pose", "no-rotation", "clock-stands", "teleports", "garbage-size"}) {
    Served served(kind);
    EXPECT_TRUE(served.comes_to(DeviceState::faulty)) << kind;
    EXPECT_TRUE(eventually([&] { return served.record().last_force.load() == 0; })) << kind;
    EXPECT_EQ(served.loop.device_state(0), DeviceState::faulty) << kind;
    expect_within_limits(served.record(), kind);
    EXPECT_TRUE(served.loop.stop()) << kind;
  }
}

TEST(HostileDevice, ThatIsLostOrThrowsGetsNothingMore) {
  for (const char* kind : {"odd-answer", "throws-in-read", "throws-in-write"}) {
    Served served(kind);
    EXPECT_TRUE(served.comes_to(DeviceState::lost)) << kind;
    const bool threw = std::strncmp(kind, "throws", 6) == 0;
    EXPECT_TRUE(eventually([&] {
      return threw ? served.record().disables.load() > 0 : served.record().last_force.load() == 0;
    })) << kind;
    const std::uint64_t writes = served.record().writes.load();
    const std::uint64_t cycle = served.loop.frame().cycle;
    EXPECT_TRUE(eventually([&] { return served.loop.frame().cycle > cycle + 20; })) << kind;
    EXPECT_TRUE(!threw || served.record().writes.load() == writes) << kind;
    expect_within_limits(served.record(), kind);
  }
}

TEST(HostileDevice, ThatIsLostAndBackFadesInEachTime) {
  Served served("lost-and-back");
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(eventually([&] { return served.record().last_force.load() > 4; }));
    EXPECT_TRUE(eventually([&] { return served.record().last_force.load() == 0; }));
  }
  expect_within_limits(served.record(), "lost-and-back");
  EXPECT_EQ(served.record().kept_while_lost.load(), 0);
  // The ramp, which a period of it begins and which goes on with the time that has passed, late cycles or not.
  const LimitSettings limits;
  const double rate = k_limit / limits.ramp_seconds;
  EXPECT_GT(served.record().largest_first.load(), 0);
  EXPECT_LE(served.record().largest_first.load(), rate * limits.period * (1 + 1e-9));
  EXPECT_LE(served.record().fastest_rise.load(), rate * (1 + 1e-9));
}

TEST(HostileDevice, ThatAsksFor100NewtonsIsGivenNoMoreThanIsAllowed) {
  Served served("asks-100-n");
  EXPECT_TRUE(eventually([&] { return served.record().largest_force.load() > k_limit * 0.99; }));
  const std::uint64_t cycle = served.loop.frame().cycle;
  EXPECT_TRUE(eventually([&] { return served.loop.frame().cycle > cycle + 300; }));
  EXPECT_EQ(served.loop.device_state(0), DeviceState::ready);
  expect_within_limits(served.record(), "asks-100-n");
}

TEST(HostileDevice, ThatDoesNotSayWhetherItsMotorsAreOnGetsNoForce) {
  Served served("unknown-motors");
  EXPECT_TRUE(eventually([&] { return served.record().reads.load() > 350; }));  // it says nothing more since 300
  const std::uint64_t pushes = served.record().pushes.load(), reads = served.record().reads.load();
  EXPECT_TRUE(eventually([&] { return served.record().reads.load() > reads + 100; }));
  EXPECT_EQ(served.record().pushes.load(), pushes);
  EXPECT_EQ(served.record().last_force.load(), 0);
  EXPECT_EQ(served.loop.device_state(0), DeviceState::ready);
  expect_within_limits(served.record(), "unknown-motors");
}

// A machine that stands for a moment may have it disabled before it hangs.
bool is_caught_hanging(TouchLoop& loop, const hostile::Record& record) {
  return eventually([&] {
    const bool hangs = record.hangs.load() > 0, disabled = loop.device_state(0) == DeviceState::disabled;
    if (!hangs && disabled) loop.enable(0);
    return hangs && disabled;
  });
}

TEST(HostileDevice, ThatHangsIsDisabled) {
  // The last one hangs in disable() as well, where it must not hold the watchdog.
  for (const char* kind : {"hangs-in-read", "hangs-in-write", "hangs-in-both"}) {
    Served served(kind, {});
    EXPECT_TRUE(is_caught_hanging(served.loop, served.record())) << kind;
    EXPECT_TRUE(eventually([&] { return served.record().disables.load() > 0; })) << kind;
    EXPECT_EQ(served.record().last_force.load(), 0) << kind;
    EXPECT_FALSE(served.loop.enable(0)) << kind;  // as long as it is inside
    EXPECT_LE(served.record().largest_force.load(), k_limit * (1 + 1e-12)) << kind;
  }
}

// The thread that is inside may come back at any time, so the device and its library stay.
TEST(HostileDevice, ThatHangsForGoodIsLeftBehind) {
  HostilePlugin plugin("hangs-in-read");
  std::unique_ptr<Device> device = plugin.open();
  TrialWorld world(device->limits());
  {
    TouchLoop loop({device.get()}, world, {});
    loop.start();
    EXPECT_TRUE(is_caught_hanging(loop, plugin.record()));
    EXPECT_FALSE(loop.stop());
  }
  leave(std::move(device));
  EXPECT_EQ(plugin.record().closes.load(), 0U);
  EXPECT_EQ(plugin.record().last_force.load(), 0);
  plugin.record().let_go.store(1);
}

// A motor that keeps the last force that it was told, at the other end of a socket.
class Motor {
 public:
  explicit Motor(const std::filesystem::path& path) : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  void begin() {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        double told = 0;
        if (recv(socket_, &told, sizeof told, MSG_DONTWAIT) == sizeof told)
          force_.store(told), largest_.store(std::max(largest_.load(), told));
        else
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~Motor() {
    thread_ = {};
    close(socket_);
  }
  double force() const { return force_.load(); }
  double largest() const { return largest_.load(); }

 private:
  int socket_;
  std::atomic<double> force_{-1}, largest_{0};
  std::jthread thread_;
};

TEST(HostileDevice, ThatCrashesIsSilencedByTheGuard) {
  for (const char* kind : {"crashes-in-read", "crashes-in-write"}) {
    HostilePlugin plugin(kind);
    const std::filesystem::path socket = plugin.folder() / "motor";
    Motor motor(socket);
    const pid_t child = begin_child([&] {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      const std::unique_ptr<Device> device = plugin.open(" motor=" + socket.string());
      TrialWorld world(device->limits());
      TouchLoopSettings settings = patient();
      settings.guard = find_guard();
      TouchLoop loop({device.get()}, world, settings);
      loop.start();
      std::this_thread::sleep_for(std::chrono::seconds(60));
      return 0;
    });
    motor.begin();
    const int ended = end_of(child);
    EXPECT_TRUE(ended == -SIGSEGV || is_sanitized()) << kind << " " << ended;
    EXPECT_TRUE(eventually([&] { return motor.force() == 0; })) << kind;
    expect_within_limits(plugin.record(), kind);
    EXPECT_GT(motor.largest(), 4) << kind;
  }
}

TEST(TrialWorld, GivesWhatItsClosedFormSays) {
  DeviceLimits limits = k_without_motors;
  limits.stiffness = 1600;
  TrialWorld world(limits);
  EXPECT_EQ(world.stiffness(), 800);  // half of what the device renders
  const auto felt_at = [&](const Vec3d& position) {
    HandInput hand;
    hand.present = true;
    hand.pose.position = position;
    for (int i = 0; i < 100; ++i) world.cycle(std::span(&hand, 1));  // at rest
    return world.state().hands()[0].felt.force;
  };
  EXPECT_EQ(felt_at({0, 0, 0.01}), Vec3d{});
  EXPECT_NEAR(felt_at({0, 0, -0.002}).z, 1.6, 1e-12);
  const Vec3d ball = felt_at(TrialWorld::k_ball_center + Vec3d{0, 0.010, 0});
  EXPECT_NEAR(ball.y, 800 * 0.005, 1e-12);
  EXPECT_EQ(ball.z, 0);
  EXPECT_LT(norm(felt_at(TrialWorld::k_damper_center)), 1e-5);  // nothing at rest
  HandInput hand;
  hand.present = true;
  for (int i = 0; i < 50; ++i) {
    hand.pose.position = TrialWorld::k_damper_center + Vec3d{0, 0, 1e-4 * (i - 25)};  // 0.1 m/s
    world.cycle(std::span(&hand, 1));
  }
  EXPECT_NEAR(world.state().hands()[0].felt.force.z, -TrialWorld::k_damping * 0.1, 1e-3);
  world.set_stiffness(0, 0.5);
  EXPECT_NEAR(felt_at({0, 0, -0.002}).z, 0.8, 1e-12);
  hand.present = false;
  world.cycle(std::span(&hand, 1));
  EXPECT_EQ(world.state().hands()[0].felt.force, Vec3d{});
  EXPECT_NEAR(world.most_from_floor(), 1.6, 1e-12);
}

}  // namespace
}  // namespace cotouch::this_file
