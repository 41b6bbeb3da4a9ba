// Devices are switched off at once, whatever the session is busy with.
#include <cotouch/device/workspace_hand.h>
#include <cotouch/session/session.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "session/session_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
using State = DeviceView::State;

// A handle with motors that stands still.
class Still final : public Device {
 public:
  std::string name() const override { return "handle"; }
  DeviceLimits limits() const noexcept override { return {{8, 8, 0.4, 0.4, 60}, 2000, 2, 0, 1e6, 1e6}; }
  bool read(DeviceReading& reading) noexcept override {
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++reads;
    reading = {};
    return true;
  }
  void write(const LimitedWrench&) noexcept override {}
  void disable() noexcept override { power = false; }
  bool enable() noexcept override {
    power = true;
    return true;
  }

  std::atomic<bool> hangs{false}, power{true};
  std::atomic<int> reads{0};
};

class DeviceSwitchingTest : public ::testing::Test {
 protected:
  DeviceSwitchingTest() {
    SessionSettings settings;
    settings.recordings = folder_ / "recordings";
    settings.unsaved_after = 1000;  // not before the scene is replaced
    settings.stall_seconds = 1;     // a busy machine is not taken for a driver that hangs
    std::vector<std::unique_ptr<HandDevice>> devices;
    for (Still*& device : devices_) {
      auto owned = std::make_unique<Still>();
      device = owned.get();
      devices.push_back(std::make_unique<WorkspaceHand>(std::move(owned)));
    }
    library_.on_keeping = [this, first = true]() mutable {
      if (!std::exchange(first, false)) return;
      kept_.set_value();
      go_on_.get_future().wait();
    };
    session_ = std::make_unique<Session>(settings, library_, std::move(devices));
    session_->start();
    ann_ = session_->join(ParticipantKind::page, "Ann");
    EXPECT_TRUE(ask(ShowScene{three_balls()}).done());
  }
  ~DeviceSwitchingTest() override {
    for (Still* device : devices_) device->hangs = false;
    go_on();
    session_->stop();
  }

  CommandResult ask(SessionCommand command) { return session_->command_and_wait(ann_, std::move(command)); }
  State state(std::size_t device) { return session_->snapshot().devices.at(device).state; }
  bool are_ready() {
    const int before = devices_[1]->reads;
    return eventually(
        [&] { return devices_[1]->reads > before + 10 && state(0) == State::ready && state(1) == State::ready; });
  }
  // Another scene is being made from here on, until go_on().
  void keep_busy() {
    ASSERT_TRUE(ask(CopyBody{2}).done());
    ASSERT_TRUE(are_ready());
    session_->command(ann_, ShowScene{two_balls()});
    kept_.get_future().wait();
  }
  void go_on() {
    if (!std::exchange(goes_on_, true)) go_on_.set_value();
  }
  std::size_t bodies() { return session_->snapshot().scene->scene.bodies.size(); }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  std::promise<void> kept_, go_on_;
  bool goes_on_ = false;
  std::array<Still*, 2> devices_{};
  std::unique_ptr<Session> session_;
  ParticipantId ann_{};
};

TEST_F(DeviceSwitchingTest, SwitchingOffDoesNotWaitForASceneThatIsMade) {
  keep_busy();
  ASSERT_TRUE(devices_[0]->power);
  EXPECT_TRUE(ask(SwitchDevice{1, false}).done());
  EXPECT_FALSE(devices_[0]->power);
  EXPECT_EQ(state(0), State::off);
  EXPECT_EQ(bodies(), 4U);  // the scene is not there yet
  go_on();
  ASSERT_TRUE(eventually([&] { return bodies() == 2; }));
  EXPECT_TRUE(eventually([&] { return state(1) == State::ready; }));
  EXPECT_EQ(state(0), State::off);
  EXPECT_FALSE(devices_[0]->power);
}

TEST_F(DeviceSwitchingTest, SwitchingOffIsPossibleHoweverMuchIsWaiting) {
  keep_busy();
  const auto is_too_much = std::make_shared<std::atomic<bool>>(false);
  for (int i = 0; i < 100; ++i)
    session_->command(ann_, ResetScene{}, [is_too_much](const CommandResult& result) {
      if (result.kind == CommandResult::Kind::too_many) *is_too_much = true;
    });
  ASSERT_TRUE(eventually([&] { return is_too_much->load(); }));
  EXPECT_TRUE(ask(SwitchDevice{1, false}).done());
  EXPECT_FALSE(devices_[0]->power);
}

TEST_F(DeviceSwitchingTest, OfSeveralSwitchesTheLastCounts) {
  keep_busy();
  for (const bool on : {false, true, false}) session_->command(ann_, SwitchDevice{1, on});
  EXPECT_TRUE(eventually([&] { return state(0) == State::off; }));
  EXPECT_FALSE(devices_[0]->power);
  go_on();
  ASSERT_TRUE(eventually([&] { return bodies() == 2; }));
  EXPECT_EQ(state(0), State::off);
  EXPECT_FALSE(devices_[0]->power);
  EXPECT_TRUE(eventually([&] { return ask(SwitchDevice{1, true}).done(); }));
  EXPECT_TRUE(eventually([&] { return state(0) == State::ready; }));
  EXPECT_TRUE(devices_[0]->power);
}

// The loop that goes on without the other one gives power back to all that did nothing wrong.
TEST_F(DeviceSwitchingTest, ItStaysOffWhenAnotherDeviceIsLeftBehind) {
  ASSERT_TRUE(are_ready());
  devices_[0]->hangs = true;
  // A new loop is being made if what takes turns is not done by the time at which something else is.
  const auto is_making = [&] {
    const auto done = std::make_shared<std::atomic<bool>>(false);
    session_->command(ann_, CancelJob{}, [done](const CommandResult&) { *done = true; });
    session_->snapshot();
    return !*done;
  };
  ASSERT_TRUE(eventually([&] { return is_making() || state(0) == State::hangs; }));
  EXPECT_TRUE(ask(SwitchDevice{2, false}).done());
  EXPECT_TRUE(eventually([&] { return state(0) == State::hangs; }));
  EXPECT_EQ(state(1), State::off);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(devices_[1]->power);
}

}  // namespace
}  // namespace cotouch::this_file
