// Devices on the command line.
#include <cotouch/app/device_argument.h>

#include <algorithm>
#include <future>

#include "app/command_fixture.h"
#include "support/hostile_plugin.h"

namespace cotouch::this_file {
using namespace cotouch::testing_app;

TEST_F(Command, ADeviceThatIsMissingIsASentenceBeforeAnythingStarts) {
  for (const char* command : {"play", "host"}) {
    SCOPED_TRACE(command);
    const Outcome outcome = run({command, "--device", "simulated", "--device", "no-such-device", "--web", "nowhere"});
    expect_one_sentence(outcome);
    EXPECT_NE(outcome.err.find("no-such-device"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Command, TooManyDevicesAreRefused) {
  std::vector<std::string> words{"play"};
  for (int i = 0; i < 5; ++i) words.insert(words.end(), {"--device", "simulated"});
  const Outcome outcome = run(words);
  expect_one_sentence(outcome);
  EXPECT_NE(outcome.err.find("At most 4 devices"), std::string::npos) << outcome.err;
}

TEST_F(Command, ADeviceNeedsAPage) {
  const Outcome outcome = run({"host", "--headless", "--device", "simulated"});
  expect_one_sentence(outcome);
  EXPECT_NE(outcome.err.find("--headless"), std::string::npos) << outcome.err;
}

// The page shows them with the reason.
TEST(OpenDevices, TellsWhatWasFoundAndCannotBeUsed) {
  const std::string folders = (testing_plugins::plugin_folder() / "examples").string() + ":" +
                              (testing_plugins::plugin_folder() / "hostile").string();
  setenv("COTOUCH_DEVICES", folders.c_str(), 1);
  const OpenedDevices opened = open_devices({"circle"});
  unsetenv("COTOUCH_DEVICES");
  ASSERT_FALSE(opened.devices.empty());
  EXPECT_EQ(opened.devices[0]->name(), "circling handle");
  const auto reason_of = [&](const std::string& name) {
    for (const MissingDevice& missing : opened.missing.known)
      if (missing.name == name) return missing.reason;
    return std::string("(not there)");
  };
  EXPECT_NE(reason_of("cotouch-lacks-library.so").find("libcotouch-gone.so"), std::string::npos);
  EXPECT_NE(reason_of("cotouch-no-plugin.so").find("no plug-in"), std::string::npos)
      << reason_of("cotouch-no-plugin.so");
  EXPECT_EQ(reason_of("circle"), "(not there)");
}

TEST(OpenDevices, TellsWhatIsConnectedAndWasNotAskedFor) {
  const std::string sentence = "It is connected. Start cotouch with --device simulated to let it take part.";
  const auto is_simulated = [&](const MissingDevice& device) {
    return device.name == "simulated" && device.reason == sentence;
  };
  // Nothing waits for the search where it is not needed.
  const std::vector<MissingDevice> found = open_devices({"scripted"}).missing.later.get();
  EXPECT_EQ(std::count_if(found.begin(), found.end(), is_simulated), 1);
  const OpenedDevices asked = open_devices({"simulated:speed=0.2"});
  ASSERT_FALSE(asked.devices.empty());
  EXPECT_EQ(asked.devices[0]->name(), "simulated device");
  EXPECT_FALSE(asked.missing.later.valid());
  for (const MissingDevice& missing : asked.missing.known) EXPECT_NE(missing.name, "simulated");
}

TEST(OpenDevices, WithoutTheProgramThatLooksOnlyThoseAskedForFail) {
  setenv("COTOUCH_PROBE_DEVICE", "/nowhere/cotouch-probe-device", 1);
  EXPECT_NE(testing_plugins::complaint([] { open_devices({"simulated"}); }), "");
  EXPECT_TRUE(open_devices({}).missing.later.get().empty());
  unsetenv("COTOUCH_PROBE_DEVICE");
}

// A plug-in that hangs is waited for by nobody.
TEST(OpenDevices, ThoseThatHangDoNotHoldUpTheStart) {
  testing_plugins::HostilePlugin hangs("hangs-in-load");
  setenv("COTOUCH_DEVICES", hangs.folder().c_str(), 1);
  const OpenedDevices opened = open_devices({});
  EXPECT_NE(opened.missing.later.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  const std::vector<MissingDevice> found = opened.missing.later.get();
  unsetenv("COTOUCH_DEVICES");
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const MissingDevice& device) {
    return device.name == hangs.file().filename().string() &&
           device.reason.find("does not come back") != std::string::npos;
  }));
}

TEST(OpenDevices, BuiltInTakeNoSettings) {
  for (const char* wanted : {"scripted:speed=3", "spacemouse:0"})
    EXPECT_NE(testing_plugins::complaint([&] { open_devices({wanted}); }).find("takes no settings"), std::string::npos);
}

}  // namespace cotouch::this_file
