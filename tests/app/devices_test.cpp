// `cotouch devices` as users meet it.
#include <nlohmann/json.hpp>

#include "app/command_fixture.h"
#include "support/hostile_plugin.h"

namespace cotouch::this_file {
namespace {

using testing_app::expect_one_sentence;
using testing_app::Outcome;
using testing_plugins::HostilePlugin;

// Children inherit it.
class DevicesFolder {
 public:
  explicit DevicesFolder(const std::filesystem::path& folder) { setenv("COTOUCH_DEVICES", folder.c_str(), 1); }
  ~DevicesFolder() { unsetenv("COTOUCH_DEVICES"); }
  DevicesFolder(const DevicesFolder&) = delete;
  DevicesFolder& operator=(const DevicesFolder&) = delete;
};

class Devices : public testing_app::Command {
 protected:
  // What this machine's user has is not looked at.
  void SetUp() override { setenv("XDG_DATA_HOME", (folder_ / ".data").c_str(), 1); }
  void TearDown() override { unsetenv("XDG_DATA_HOME"); }
  nlohmann::json json_of(const std::vector<std::string>& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }
  static bool was(const nlohmann::json& trial, const char* state) {
    const auto& states = trial.at("states");
    return std::any_of(states.begin(), states.end(), [&](const auto& change) { return change.at("state") == state; });
  }

  // On a busy machine the watchdog may cut a device's power, and rightly; nobody gives it back here, so then both of
  // these begin anew.
  nlohmann::json try_simulated(const std::string& settings) const {
    nlohmann::json trial;
    for (int i = 0; i < k_tries && (i == 0 || was(trial, "disabled")); ++i)
      trial = json_of({"devices", "--try", "simulated:" + settings, "--seconds", "5", "--json"});
    return trial;
  }
  // A hostile plug-in of this kind, until Ctrl-C once `seen` holds.
  struct Tried {
    std::unique_ptr<HostilePlugin> plugin;
    Outcome outcome;
  };
  Tried try_hostile(const std::string& kind, const std::function<bool(const hostile::Record&)>& seen,
                    const std::vector<std::string>& more = {}) const {
    Tried tried;
    bool is_seen = false;
    for (int i = 0; i < k_tries && !is_seen; ++i) {
      tried.plugin = std::make_unique<HostilePlugin>(kind);
      const hostile::Record& record = tried.plugin->record();
      const DevicesFolder folder(tried.plugin->folder());
      std::vector<std::string> arguments{"devices", "--try", "hostile:" + tried.plugin->settings()};
      arguments.insert(arguments.end(), more.begin(), more.end());
      tried.outcome = run(arguments, SIGINT, [&](const Outcome&) {
        is_seen = seen(record);
        return is_seen || record.disables.load() > 0;
      });
    }
    EXPECT_TRUE(is_seen) << tried.outcome.err;
    EXPECT_EQ(tried.outcome.code, 0) << tried.outcome.err;
    return tried;
  }

 private:
  static constexpr int k_tries = 20;
};

TEST_F(Devices, AreListedWithWhatBecameOfEach) {
  HostilePlugin crash("crashes-in-list");
  const DevicesFolder folder(crash.folder());
  const Outcome list = run({"devices"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("simulated            connected  8.5 N"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("hostile-crashes-in-list.so refused    It crashes (Segmentation fault) while it is listing"),
            std::string::npos)
      << list.out;
  EXPECT_NE(list.out.find(crash.folder().string()), std::string::npos);
  const auto json = json_of({"devices", "--json"});
  const auto named = [](const nlohmann::json& all, const char* key, const std::string& value) {
    for (const auto& one : all)
      if (one.at(key) == value) return one;
    return nlohmann::json();
  };
  const auto simulated = named(json.at("devices"), "name", "simulated");
  EXPECT_EQ(simulated.at("state"), "connected");
  EXPECT_EQ(simulated.at("limits").at("peak_force_n"), 8.5);
  EXPECT_EQ(named(json.at("plugins"), "name", "simulated").at("state"), "found");
  EXPECT_EQ(named(json.at("plugins"), "file", crash.file().string()).at("state"), "refused");
  // Those that no plug-in brings.
  EXPECT_EQ(named(json.at("devices"), "name", "scripted").at("state"), "connected");
  EXPECT_NE(named(json.at("devices"), "name", "spacemouse").at("sentence"), "");
  EXPECT_NE(list.out.find("\nspacemouse "), std::string::npos) << list.out;
  EXPECT_EQ(json.at("folders").at(0).at("state"), "used");
}

TEST_F(Devices, AreTriedWithRateDelayAndForce) {
  const auto json = try_simulated("speed=0.5");
  EXPECT_EQ(json.at("device"), "simulated device");
  EXPECT_GT(json.at("rate_hz"), 100);  // a busy machine misses many
  EXPECT_LT(json.at("rate_hz"), 1100);
  // Half of all periods are at most twice as long as the mean of all; a force comes in the period of its sample.
  const double p50_us = json.at("period").at("p50_us"), rate = json.at("rate_hz");
  EXPECT_GT(p50_us, 500);
  EXPECT_LT(p50_us * rate, 2.1e6);
  EXPECT_GT(json.at("sample_to_force").at("p50_us"), 0);
  EXPECT_LE(json.at("sample_to_force").at("p50_us"), p50_us + 2);
  EXPECT_EQ(json.at("limits").at("delay_s"), 2e-4);
  EXPECT_GT(json.at("floor_n"), 0.5);
  EXPECT_GT(json.at("ball_n"), 0);
  EXPECT_GT(json.at("damper_n"), 0);
  EXPECT_GT(json.at("largest_force_n"), 0.5);
  EXPECT_LE(json.at("largest_force_n"), 5 + 1e-9);
  EXPECT_EQ(json.at("last_force_n"), 0);
  EXPECT_EQ(json.at("driver_hangs"), false);
}

TEST_F(Devices, ThatMisbehaveAreStoppedAndItIsSaid) {
  // What it reads makes sense 300 times, and no more for a second at least: what looks at it does so more often.
  const Tried tried =
      try_hostile("no-number", [](const hostile::Record& record) { return record.reads.load() > 1300; }, {"--json"});
  const auto json = nlohmann::json::parse(tried.outcome.out);
  EXPECT_TRUE(was(json, "faulty"));
  EXPECT_GE(json.at("faults"), 1);
  EXPECT_GT(tried.plugin->record().largest_force.load(), 1);
  EXPECT_LE(tried.plugin->record().largest_force.load(), 5 + 1e-9);
  EXPECT_EQ(tried.plugin->record().last_force.load(), 0);
}

// "older" presses as hard as it is let, and nothing is wrong with it.
TEST_F(Devices, AreLeftWithoutForceByCtrlC) {
  const Tried tried = try_hostile("older", [](const hostile::Record& record) { return record.last_force.load() > 4; });
  EXPECT_NE(tried.outcome.out.find("the last was 0.00 N"), std::string::npos) << tried.outcome.out;
  const hostile::Record& record = tried.plugin->record();
  EXPECT_GT(record.largest_force.load(), 4);
  EXPECT_LE(record.largest_force.load(), 5 + 1e-9);
  EXPECT_EQ(record.last_force.load(), 0);
  EXPECT_EQ(record.opens.load(), record.closes.load());
}

TEST_F(Devices, AnswerWrongNamesWithOneSentence) {
  const Outcome unknown = run({"devices", "--try", "omega", "--seconds", "1"});
  expect_one_sentence(unknown);
  EXPECT_EQ(unknown.err, "There is no device 'omega'; there is 'simulated'.\n");
  expect_one_sentence(run({"devices", "--try", "simulated:haste=1"}));
  EXPECT_EQ(run({"devices", "--seconds", "1"}).code, 2);
  HostilePlugin busy("refuses-to-open");
  const DevicesFolder folder(busy.folder());
  const Outcome in_use = run({"devices", "--try", "hostile"});
  expect_one_sentence(in_use);
  EXPECT_EQ(in_use.err, "The device 'hostile' cannot be opened. Another program holds it.\n");
}

}  // namespace
}  // namespace cotouch::this_file
