#include <cotouch/device/plugin.h>

#include <cotouch/device/limits.h>
#include <cotouch/device/plugin_device.h>
#include <cotouch/device/simulated_device.h>

#include "support/eventually.h"
#include "support/hostile_plugin.h"
#include "support/sanitized.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

namespace cotouch::this_file {
namespace {

using testing_plugins::complaint;
using testing_plugins::HostilePlugin;
using testing_plugins::plugin_folder;

constexpr const char* k_path = "path=0,0,0.05/0,0,-0.02/0,0,0.05 speed=0.1 repeat=2 press=0.5";

DevicePlugin simulated_plugin() {
  return DevicePlugin::load(plugin_folder() / "devices/cotouch-simulated.so");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The same hand, the same forces, the same clock: behind the interface nothing may differ, not by a bit.
TEST(Plugin, SimulatedMovesAsTheOneBuiltIn) {
  const DevicePlugin plugin = simulated_plugin();
  ASSERT_EQ(plugin.list().size(), 1U);
  const std::unique_ptr<Device> outer = plugin.open(plugin.list()[0], k_path);
  const std::vector<Pose> keys{{{0, 0, 0.05}, {}}, {{0, 0, -0.02}, {}}, {{0, 0, 0.05}, {}},
                               {{0, 0, 0.05}, {}}, {{0, 0, -0.02}, {}}, {{0, 0, 0.05}, {}}};
  SimulatedDevice inner(DeviceDynamics{}, ArmImpedance{}, HandPath(keys, 0.1), 0);
  EXPECT_EQ(outer->name(), inner.name());
  const DeviceLimits a = outer->limits(), b = inner.limits();
  EXPECT_EQ(a.motors, b.motors);
  EXPECT_EQ(a.stiffness, b.stiffness);
  EXPECT_EQ(a.angular_stiffness, b.angular_stiffness);
  EXPECT_EQ(a.delay, b.delay);
  EXPECT_EQ(a.speed, b.speed);
  EXPECT_EQ(a.turn_speed, b.turn_speed);
  ForceLimiter outer_limiter(*outer, {}), inner_limiter(inner, {});
  DeviceReading outer_reading, inner_reading;
  int cycles = 0;
  for (; inner.read(inner_reading); ++cycles) {
    ASSERT_TRUE(outer->read(outer_reading));
    EXPECT_EQ(outer_reading.pose, inner_reading.pose);
    EXPECT_EQ(outer_reading.clock, inner_reading.clock);
    // A round is 2 x 7 cm at 0.1 m/s and a pause of 0.2 s.
    EXPECT_EQ(outer_reading.buttons, cycles % 1600 < 500 ? 0U : 1U) << cycles;
    const double depth = std::max(0.0, -inner_reading.pose.position.z);
    const Wrench wrench{{0.1, 0, 500 * depth}, {0, 0.001, 0}};
    inner_limiter.write(wrench);
    outer_limiter.write(wrench);
  }
  EXPECT_FALSE(outer->read(outer_reading));
  EXPECT_GT(cycles, 2000);
}

TEST(Plugin, SimulatedWithoutPowerFeelsNoForce) {
  const DevicePlugin plugin = simulated_plugin();
  const auto pushed = [&](bool powered) {
    const std::unique_ptr<Device> device =
        plugin.open(plugin.list()[0], "path=0,0,0/0,0,0 repeat=100 arm-stiffness=0 arm-damping=0");
    ForceLimiter limiter(*device, {});
    DeviceReading reading;
    if (!powered) limiter.disable();
    for (int cycle = 0; cycle < 200 && device->read(reading); ++cycle) limiter.write({{1, 0, 0}, {}});
    if (!powered) {
      EXPECT_TRUE(limiter.enable());
    }
    return reading.pose.position.x;
  };
  EXPECT_GT(pushed(true), 1e-3);
  EXPECT_EQ(pushed(false), 0);
}

TEST(Plugin, SimulatedSaysWhichOfItsSettingsMakesNoSense) {
  const DevicePlugin plugin = simulated_plugin();
  for (const char* settings : {"speed=fast", "speed=nan", "speed=1e9", "delay=-1", "path=1,2", "path=", "path=0,0,9",
                               "haste=1", "repeat=0", "press=-1", "arm-mass"}) {
    const std::string said = complaint([&] { plugin.open(plugin.list()[0], settings); });
    EXPECT_TRUE(contains(said, "'" + std::string(settings) + "'")) << settings << ": " << said;
  }
}

// A plug-in made for an earlier version knows less of every struct, one for a later version more.
TEST(Plugin, OfAnotherMinorAgeWorks) {
  for (const char* age : {"older", "newer"}) {
    HostilePlugin plugin(age);
    const std::unique_ptr<Device> device = plugin.open();
    EXPECT_EQ(device->name(), "hostile device") << age;
    EXPECT_EQ(device->limits().motors.peak_force, 8.5) << age;
    EXPECT_EQ(device->workspace().reach, 0.1) << age;
    EXPECT_FALSE(device->silence_call()) << age;
    DeviceReading reading;
    ASSERT_TRUE(device->read(reading)) << age;
    EXPECT_EQ(reading.pose, (Pose{{0, 0, -0.05}, {}})) << age;
    EXPECT_EQ(reading.clock, 1U) << age;
    EXPECT_EQ(reading.buttons, 0U) << age;
  }
}

TEST(Plugin, StructsAreZeroBeforeEachCall) {
  PluginStruct<CotouchDeviceReading> reading;
  std::memset(reading.get(), 0xab, COTOUCH_DEVICE_ROOM);
  EXPECT_FALSE(reading.is_sound());
  reading.clear();
  EXPECT_EQ(reading->size, sizeof(CotouchDeviceReading));
  EXPECT_EQ(reading->rotation[0], 0);
  EXPECT_EQ(reading->motors, 0U);
  struct Older {
    std::uint32_t size, abi;
  };
  const Older older{sizeof(Older), 1};
  const auto table = known_part(reinterpret_cast<const CotouchDevicePlugin*>(&older));
  EXPECT_EQ(table.abi, 1U);
  EXPECT_EQ(table.name, nullptr);
  EXPECT_EQ(table.write, nullptr);
}

TEST(Plugin, ThatCannotBeUsedIsRefusedWithAReason) {
  const std::pair<const char*, const char*> kinds[] = {
      {"wrong-version", "speaks version 999"},
      {"other-version", "made for another version"},
      {"half-a-table", "lacks functions"},
      {"garbage-table", "table of 5 bytes"},
      {"huge-table", "which cannot be"},
      {"no-text", "no name"},
      {"nameless", "name that can be typed"},
      {"garbage-info", "name that can be typed"},
      {"throws-in-list", "throws"},
      {"throws-in-open", "throws"},
      {"refuses-to-open", "Another program holds it."},
      {"does-not-describe", "does not say what the device can bear"},
      {"garbage-description", "size that none has"},
      {"asks-1e9-n", "a peak force of 1e+09 N"},
      {"never-warms-up", "a time to warm up of inf"},
      {"nan-stiffness", "a stiffness of "},
      {"negative-stiffness", "a stiffness of -1"},
      {"early-delay", "a delay of -1"},
      {"endless-speed", "a speed of 1e+30"},
      {"silence-nowhere", "take its force away"},
  };
  for (const auto& [kind, reason] : kinds) {
    HostilePlugin plugin(kind);
    const std::string said = complaint([&] { plugin.open(); });
    // A crash takes the thread sanitizer longer than the patience with a plug-in.
    const bool too_slow = is_sanitized() && contains(said, "does not come back");
    EXPECT_TRUE(contains(said, reason) || too_slow) << kind << ": " << said;
    EXPECT_EQ(plugin.record().opens.load(), plugin.record().closes.load()) << kind;
    EXPECT_EQ(plugin.record().writes.load(), 0U) << kind;
  }
}

TEST(Plugin, ThatIsNoneIsRefusedWithAReason) {
  const std::string none = complaint([] { DevicePlugin::load(plugin_folder() / "hostile/cotouch-no-plugin.so"); });
  EXPECT_TRUE(contains(none, "no function cotouch_device_plugin")) << none;
  const std::string lacks = complaint([] { DevicePlugin::load(plugin_folder() / "hostile/cotouch-lacks-library.so"); });
  EXPECT_TRUE(contains(lacks, "It needs the library libcotouch-gone.so, which is not installed.")) << lacks;
  const TemporaryFolder folder;
  const std::filesystem::path text = folder / "text.so";
  std::filesystem::copy_file("/proc/self/comm", text);
  const std::string said = complaint([&] { DevicePlugin::load(text); });
  EXPECT_TRUE(contains(said, "It is no library for this machine")) << said;
}

// The process that looks at it goes; this one stays.
TEST(Plugin, ThatCrashesOrHangsIsFoundOutElsewhere) {
  const std::pair<const char*, const char*> kinds[] = {
      {"crashes-in-load", "while it is loading"},
      {"crashes-in-list", "while it is listing its devices"},
      {"crashes-in-open", "while it is opening hostile"},
      {"crashes-in-describe", "while it is opening hostile"},
      {"exits-in-list", "while it is listing"},
      {"hangs-in-load", "while it is loaded"},
      {"hangs-in-list", "while it is listing"},
      {"wrong-version", "speaks version 999"},
      {"asks-100-n", ""},
      {"escapes", ""},
  };
  std::vector<std::unique_ptr<HostilePlugin>> plugins;
  std::vector<std::filesystem::path> files;
  for (const auto& [kind, reason] : kinds)
    files.push_back(plugins.emplace_back(std::make_unique<HostilePlugin>(kind))->file());
  const std::vector<ProbedPlugin> probed = probe_plugins(files);
  ASSERT_EQ(probed.size(), files.size());
  for (std::size_t i = 0; i < probed.size(); ++i) {
    const auto& [kind, reason] = kinds[i];
    const std::string& said = probed[i].refusal;
    EXPECT_EQ(said.empty(), *reason == '\0') << kind << ": " << said;
    // A crash takes the thread sanitizer longer than the patience with a plug-in.
    const bool too_slow = is_sanitized() && contains(said, "does not come back");
    EXPECT_TRUE(contains(said, reason) || too_slow) << kind << ": " << said;
    if (!is_sanitized() && std::string(kind).starts_with("crashes")) {
      EXPECT_TRUE(contains(said, "It crashes (Segmentation fault)")) << said;
    }
    if (std::string(kind).starts_with("hangs")) {
      EXPECT_TRUE(contains(said, "does not come back")) << said;
    }
    for (const ProbedDevice& device : probed[i].devices) {
      EXPECT_EQ(device.info.presence == Presence::connected, said.empty()) << kind;
    }
  }
  EXPECT_EQ(probed[8].devices.at(0).limits.value().motors.peak_force, 100);
  EXPECT_EQ(probed[9].devices.at(0).info.sentence, "red?[31m ?? end");
}

TEST(Plugin, ThatHangsWhenOpenedIsGivenUp) {
  HostilePlugin plugin("hangs-in-describe");
  const std::string said = complaint([&] { plugin.open(); });
  EXPECT_TRUE(contains(said, "does not come back")) << said;
  EXPECT_EQ(plugin.record().closes.load(), 0U);
  plugin.record().let_go.store(1);  // and closes it again if it comes back after all
  EXPECT_TRUE(eventually([&] { return plugin.record().closes.load() == 1; }));
}

TEST(Plugin, ReadingsThatMakeNoSenseAreNotTaken) {
  for (const char* kind : {"garbage-size", "no-number", "no-rotation", "endless-pose"}) {
    HostilePlugin plugin(kind);
    const std::unique_ptr<Device> device = plugin.open();
    DeviceReading reading;
    for (int i = 0; i < 301; ++i) ASSERT_TRUE(device->read(reading)) << kind;
    EXPECT_FALSE(is_finite(reading.pose) && is_rotation(reading.pose.rotation)) << kind;
  }
  for (const char* kind : {"odd-answer", "throws-in-read"}) {
    HostilePlugin plugin(kind);
    const std::unique_ptr<Device> device = plugin.open();
    DeviceReading reading;
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(device->read(reading)) << kind;
    EXPECT_FALSE(device->read(reading)) << kind;
  }
  HostilePlugin plugin("unknown-motors");
  const std::unique_ptr<Device> device = plugin.open();
  DeviceReading reading;
  for (int i = 0; i < 301; ++i) ASSERT_TRUE(device->read(reading));
  EXPECT_EQ(reading.motors, Motors::off);
}

// The watchdog calls disable() and must not be made to wait.
TEST(Plugin, ThatHangsInDisableKeepsNobodyWaiting) {
  HostilePlugin plugin("hangs-in-disable");
  const std::unique_ptr<Device> device = plugin.open();
  const auto begin = std::chrono::steady_clock::now();
  {
    ForceLimiter limiter(*device, {});
    limiter.write({{1, 0, 0}, {}});
    const std::uint64_t writes = plugin.record().writes.load();
    limiter.disable();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    EXPECT_TRUE(eventually([&] { return plugin.record().disables.load() == 1; }));
    limiter.write({{1, 0, 0}, {}});
    EXPECT_FALSE(limiter.enable());  // it is still inside
    EXPECT_EQ(plugin.record().writes.load(), writes);
    plugin.record().let_go.store(1);
    EXPECT_TRUE(eventually([&] { return limiter.enable(); }));
  }
}

// The session waits for enable(), but not for long. The power can be cut meanwhile.
TEST(Plugin, ThatHangsInEnableStaysWithoutForce) {
  HostilePlugin plugin("hangs-in-enable");
  const std::unique_ptr<Device> device = plugin.open();
  ForceLimiter limiter(*device, {});
  limiter.write({{1, 0, 0}, {}});
  const std::uint64_t writes = plugin.record().writes.load();
  limiter.disable();
  ASSERT_TRUE(eventually([&] { return plugin.record().disables.load() == 1; }));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(limiter.enable());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // it hangs for a minute
  EXPECT_TRUE(eventually([&] { return plugin.record().hangs.load() == 1; }));
  EXPECT_TRUE(eventually([&] { return plugin.record().disables.load() == 2; }));  // it may have got half way
  limiter.disable();
  EXPECT_TRUE(eventually([&] { return plugin.record().disables.load() == 3; }));
  EXPECT_FALSE(limiter.enable());  // it is still inside
  EXPECT_EQ(plugin.record().enables.load(), 1U);
  EXPECT_TRUE(limiter.is_disabled());
  limiter.write({{1, 0, 0}, {}});
  EXPECT_EQ(plugin.record().writes.load(), writes);
  plugin.record().let_go.store(1);
  EXPECT_TRUE(eventually([&] { return plugin.record().disables.load() == 4; }));  // what came too late does not count
  EXPECT_TRUE(eventually([&] { return limiter.enable(); }));
}

TEST(Plugin, ThatRefusesItsPowerOrThrowsStaysSafe) {
  HostilePlugin refuses("refuses-to-enable"), throws("throws-in-disable");
  for (HostilePlugin* plugin : {&refuses, &throws}) {
    const bool comes_back = plugin == &throws;
    const std::unique_ptr<Device> device = plugin->open();
    ForceLimiter limiter(*device, {});
    limiter.disable();
    ASSERT_TRUE(eventually([&] { return plugin->record().disables.load() == 1; }));
    EXPECT_EQ(eventually([&] { return limiter.enable() || !comes_back; }), true);
    EXPECT_EQ(limiter.is_disabled(), !comes_back);
    const std::uint64_t writes = plugin->record().writes.load();
    limiter.write({{1, 0, 0}, {}});
    EXPECT_EQ(plugin->record().writes.load(), writes + (comes_back ? 1 : 0));
    EXPECT_GE(plugin->record().enables.load(), 1U);
  }
}

TEST(Plugin, ThatHangsWhenItIsClosedIsLeftBehind) {
  HostilePlugin plugin("hangs-in-close");
  const auto begin = std::chrono::steady_clock::now();
  plugin.open().reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));  // it hangs for a minute
  EXPECT_TRUE(eventually([&] { return plugin.record().hangs.load() == 1; }));
  EXPECT_EQ(plugin.record().closes.load(), 0U);
  plugin.record().let_go.store(1);
  EXPECT_TRUE(eventually([&] { return plugin.record().closes.load() == 1; }));
}

TEST(Plugin, TextWithoutAnEndIsReadToItsArraysEnd) {
  HostilePlugin plugin("unended-text");
  const std::vector<PluginDeviceInfo> devices = DevicePlugin::load(plugin.file()).list();
  EXPECT_EQ(devices.at(0).sentence, std::string(sizeof CotouchDeviceInfo::sentence, 'x'));
}

TEST(Plugin, LimitsAreCheckedOneByOne) {
  CotouchDeviceDescription good{};
  good.peak_force = good.continuous_force = 10;
  good.stiffness = 1000;
  good.speed = 5;
  EXPECT_EQ(checked_limits(good).angular_stiffness, DeviceLimits::k_none);  // it cannot turn a hand
  const auto spoilt = [&](double CotouchDeviceDescription::*member, double value) {
    CotouchDeviceDescription bad = good;
    bad.*member = value;
    return !complaint([&] { checked_limits(bad); }).empty();
  };
  using D = CotouchDeviceDescription;
  for (double D::*member :
       {&D::peak_force, &D::continuous_force, &D::peak_torque, &D::continuous_torque, &D::heating_seconds,
        &D::stiffness, &D::angular_stiffness, &D::delay, &D::speed, &D::turn_speed})
    for (const double value : {-1.0, 1e12, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL})
      EXPECT_TRUE(spoilt(member, value)) << value;
  EXPECT_TRUE(spoilt(&D::continuous_force, 11));  // more than its peak
  EXPECT_TRUE(spoilt(&D::peak_torque, 1));        // without a stiffness to turn with
  EXPECT_TRUE(spoilt(&D::stiffness, 0));
  D without{};
  without.flags = COTOUCH_DEVICE_WITHOUT_MOTORS;
  EXPECT_EQ(checked_limits(without).motors, k_without_motors.motors);
}

TEST(Plugin, ReachIsATenthOfAMetreUnlessItIsSaid) {
  CotouchDeviceDescription said{};
  EXPECT_EQ(checked_workspace(said).reach, 0.1);
  said.reach = 0.25;
  EXPECT_EQ(checked_workspace(said).reach, 0.25);
  for (const double wrong : {-0.1, 1e-6, 11.0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}) {
    said.reach = wrong;
    EXPECT_FALSE(complaint([&] { checked_workspace(said); }).empty()) << wrong;
  }
}

TEST(Plugin, TextIsShownWithoutWhatATerminalObeys) {
  EXPECT_EQ(plugin_text("plain \xc3\xa9"), "plain \xc3\xa9");
  EXPECT_EQ(plugin_text("a\x1b[2Jb\nc"), "a?[2Jb?c");
  EXPECT_EQ(plugin_text("\xc2\x9b\xff\xe2\x82"), "????");
  EXPECT_EQ(plugin_text(std::string_view("end\0hidden", 10)), "end");
  EXPECT_TRUE(is_device_name("omega.7_left-A"));
  for (const char* name : {"", "a b", "a/b", "a:b", "\x1b", "a#1"}) EXPECT_FALSE(is_device_name(name)) << name;
  EXPECT_FALSE(is_device_name(std::string(64, 'a')));
}

}  // namespace
}  // namespace cotouch::this_file
