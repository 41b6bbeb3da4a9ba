// What the touch thread does with a plug-in's device, under the guard that counts allocations, locks and waits.
#include <cotouch/base/realtime.h>
#include <cotouch/device/limits.h>
#include <cotouch/device/plugin.h>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/hostile_plugin.h"

namespace cotouch::this_file {
namespace {

TEST(PluginDevice, IsServedAndDisabledWithoutAllocatingLockingOrWaiting) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "this build has no real-time guard";
#endif
  const DevicePlugin plugin = DevicePlugin::load(testing_plugins::plugin_folder() / "devices/cotouch-simulated.so");
  const std::unique_ptr<Device> device = plugin.open(plugin.list().at(0), "path=0,0,0/0.01,0,0");
  ForceLimiter limiter(*device, {});
  limiter.disable();
  ASSERT_TRUE(eventually([&] { return limiter.enable(); }));
  const std::uint64_t before = RealtimeSection::breaches();
  double moved = 0;
  bool there = true;
  {
    const RealtimeSection section;
    for (int cycle = 0; cycle < 500; ++cycle) {
      DeviceReading reading;
      there = device->read(reading) && there;
      limiter.write({{0.5, 0, 0}, {}});
      moved = reading.pose.position.x;
    }
    limiter.disable();
  }
  EXPECT_EQ(RealtimeSection::breaches(), before);
  EXPECT_TRUE(there);
  EXPECT_GT(moved, 1e-4);  // along its path
}

}  // namespace
}  // namespace cotouch::this_file
