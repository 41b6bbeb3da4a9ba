// Devices of plug-ins in a session: the whole way from a file to a hand that feels, beside one that misbehaves.
#include <cotouch/device/catalog.h>
#include <cotouch/device/open_device.h>
#include <cotouch/session/session.h>

#include <gtest/gtest.h>

#include <mutex>
#include <optional>

#include "session/session_fixture.h"
#include "support/eventually.h"
#include "support/hostile_plugin.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
using testing_plugins::HostilePlugin;
using State = DeviceView::State;

class Witness final : public SessionListener {
 public:
  void devices_changed(const std::vector<DeviceView>& devices) override {
    const std::scoped_lock lock(mutex_);
    devices_ = devices;
  }
  DeviceView device(std::size_t index) const {
    const std::scoped_lock lock(mutex_);
    return index < devices_.size() ? devices_[index] : DeviceView{};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<DeviceView> devices_;
};

class PluginSession : public ::testing::Test {
 protected:
  // The simulated device as it is without settings, or a faster one and one of that kind beside it.
  void start(double stall_seconds, const char* kind = nullptr) {
    std::vector<std::unique_ptr<HandDevice>> devices;
    devices.push_back(make_hand(DeviceCatalog({testing_plugins::plugin_folder() / "devices"})
                                    .open(kind == nullptr ? "simulated" : "simulated:speed=0.3")));
    if (kind != nullptr) {
      hostile_.emplace(kind);
      devices.push_back(make_hand(DeviceCatalog({hostile_->folder()}).open("hostile:" + hostile_->settings())));
    }
    SessionSettings settings;
    settings.recordings = folder_ / "recordings";
    settings.stall_seconds = stall_seconds;
    session_ = std::make_unique<Session>(settings, library_, std::move(devices));
    session_->add_listener(witness_);
    session_->start();
    ann_ = session_->join(ParticipantKind::page, "Ann");
    ASSERT_TRUE(session_->command_and_wait(ann_, ShowScene{two_balls()}).done());
  }
  ~PluginSession() override {
    if (hostile_) hostile_->record().let_go.store(1);
    if (session_) session_->stop();
  }

  DeviceView simulated() const { return witness_.device(0); }
  DeviceView hostile() const { return witness_.device(1); }
  // A machine that is busy enough looks like a driver that hangs; somebody then switches the device on again.
  template <class Condition>
  bool in_the_end(Condition holds) {
    return eventually([&] {
      if (simulated().state == State::disabled) session_->command_and_wait(ann_, SwitchDevice{1, true});
      return holds();
    });
  }
  // By its button it takes the upper ball, which its arm then runs into the lower one.
  void expect_it_holds_and_feels() {
    ASSERT_TRUE(in_the_end([&] { return simulated().state == State::ready && simulated().body == 2; }));
    EXPECT_TRUE(in_the_end([&] {
      const DeviceView now = simulated();
      return now.body == 2 && now.force > 0.2;
    }));
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  std::optional<HostilePlugin> hostile_;
  Witness witness_;
  std::unique_ptr<Session> session_;
  ParticipantId ann_ = ParticipantId::nobody;
};

TEST_F(PluginSession, TheSimulatedOneTakesABodyByItsButtonAndFeels) {
  ASSERT_NO_FATAL_FAILURE(start(10));
  expect_it_holds_and_feels();
  EXPECT_EQ(simulated().name, "simulated device");
  EXPECT_TRUE(simulated().motors);
}

TEST_F(PluginSession, OneThatThrowsIsStoppedAndTheOtherGoesOn) {
  ASSERT_NO_FATAL_FAILURE(start(10, "throws-in-read"));
  ASSERT_TRUE(eventually([&] { return hostile().state == State::lost; }));
  EXPECT_TRUE(eventually([&] { return hostile_->record().disables.load() > 0; }));
  const std::uint64_t reads = hostile_->record().reads.load(), writes = hostile_->record().writes.load();
  expect_it_holds_and_feels();
  EXPECT_EQ(hostile_->record().reads.load(), reads);
  EXPECT_EQ(hostile_->record().writes.load(), writes);
  EXPECT_EQ(hostile_->record().last_force.load(), 0);
}

TEST_F(PluginSession, OneThatHangsIsLeftBehindAndTheOtherGoesOn) {
  ASSERT_NO_FATAL_FAILURE(start(1, "hangs-in-read"));
  ASSERT_TRUE(in_the_end([&] { return hostile().state == State::hangs; }));
  EXPECT_TRUE(eventually([&] { return hostile_->record().disables.load() > 0; }));
  expect_it_holds_and_feels();
  EXPECT_EQ(hostile_->record().hangs.load(), 1U);
  EXPECT_EQ(hostile_->record().last_force.load(), 0);
}

// Its driver takes half a second of the session's time and no more, and nothing is felt.
TEST_F(PluginSession, OneThatHangsWhenSwitchedOnKeepsNobodyWaiting) {
  ASSERT_NO_FATAL_FAILURE(start(10, "hangs-in-enable"));
  ASSERT_TRUE(eventually([&] { return hostile().state == State::ready; }));
  ASSERT_TRUE(session_->command_and_wait(ann_, SwitchDevice{2, false}).done());
  EXPECT_TRUE(eventually([&] { return hostile_->record().disables.load() > 0; }));
  EXPECT_FALSE(session_->command_and_wait(ann_, SwitchDevice{2, true}).done());
  EXPECT_TRUE(eventually([&] { return hostile_->record().hangs.load() == 1; }));
  expect_it_holds_and_feels();
  EXPECT_NE(hostile().state, State::ready);
}

}  // namespace
}  // namespace cotouch::this_file
