// Devices at the server, as pages see and switch them.
#include <cotouch/device/catalog.h>
#include <cotouch/device/open_device.h>
#include <cotouch/serve/messages.h>

#include <gtest/gtest.h>

#include "serve/serve_fixture.h"
#include "support/hostile_plugin.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_serve;

class PagesAndDevices : public ::testing::Test {
 protected:
  PagesAndDevices() {
    server_ = std::make_unique<HttpServer>(ServerSettings{});
    SessionSettings settings;
    settings.recordings = folder_ / "recordings";
    settings.stall_seconds = 10;  // what a watchdog disables on a busy machine stays so
    std::vector<std::unique_ptr<HandDevice>> devices;
    devices.push_back(make_hand(DeviceCatalog({testing_plugins::plugin_folder() / "devices"}).open("simulated")));
    session_ = std::make_unique<Session>(settings, library_, std::move(devices),
                                         MissingDevices{{{"pen", "Its driver is missing."}}});
    PageHostSettings pages;
    pages.version = "test";
    host_ = std::make_unique<PageHost>(pages, *session_, *server_, links_);
    start_with_balls(*session_);
    server_->start(*host_, *host_, links_);
  }
  ~PagesAndDevices() override {
    server_->stop();
    session_->stop();
  }
  // The first device, as soon as it is told like this.
  template <class Is>
  static Json told(Page& page, Is is) {
    for (;;) {
      const Json device = page.read_text("devices")["devices"][0];
      if (is(device)) return device;
    }
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  LinkBook links_{k_token};
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<PageHost> host_;
};

// The arm swings around the middle of the scene, takes the ball above and runs it into the one below.
TEST_F(PagesAndDevices, APageSeesWhatADeviceHoldsAndFeels) {
  Page page(server_->port());
  const Json first = page.read_text("devices")["devices"];
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0]["device"], 1);
  EXPECT_EQ(first[0]["name"], "simulated device");
  EXPECT_EQ(first[0]["motors"], true);
  EXPECT_EQ(first[1]["device"], 0);
  EXPECT_EQ(first[1]["state"], "refused");
  EXPECT_EQ(first[1]["reason"], "Its driver is missing.");
  told(page, [](const Json& device) { return device["body"] == 2; });
  // The rate is measured anew four times a second: on a busy machine the first may be too low.
  const Json pressed = told(page, [](const Json& device) { return device["force"] > 0.5 && device["rate"] > 100; });
  EXPECT_EQ(pressed["state"], "ready");
  EXPECT_LT(pressed["rate"], 1500);
}

TEST_F(PagesAndDevices, AnOwnerSwitchesADeviceOffAndOn) {
  Page page(server_->port());
  told(page, [](const Json& device) { return device["body"] == 2; });
  page.send({{"type", "device"}, {"device", 1}, {"on", false}, {"id", 1}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  // Its hand is empty at once.
  const Json off = Json::parse(devices_message(session_->snapshot().devices))["devices"][0];
  EXPECT_EQ(off["state"], "off");
  EXPECT_EQ(off["body"], 0);
  page.send({{"type", "device"}, {"device", 1}, {"on", true}, {"id", 2}});
  EXPECT_EQ(page.read_text("reply")["ok"], true);
  told(page, [](const Json& device) { return device["state"] == "ready"; });
}

TEST_F(PagesAndDevices, ACommandThatMakesNoSenseIsRefusedWithASentence) {
  Page page(server_->port());
  page.send({{"type", "device"}, {"device", 1}, {"id", 1}});
  EXPECT_EQ(page.read_text("reply")["reason"], "The command 'device' names a 'device' and says if it is 'on'.");
  page.send({{"type", "device"}, {"device", 7}, {"on", false}, {"id", 2}});
  EXPECT_EQ(page.read_text("reply")["reason"], "There is no such device.");
}

}  // namespace
}  // namespace cotouch::this_file
