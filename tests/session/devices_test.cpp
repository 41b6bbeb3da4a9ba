// Plugged devices in a session: each with its hand, by the same rules as pages.
#include <cotouch/device/workspace_hand.h>
#include <cotouch/session/session.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "session/session_fixture.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;
using State = DeviceView::State;

// A handle with motors that is where the test puts it, in a workspace that is mapped to the two balls as it is.
class Handle final : public Device {
 public:
  std::string name() const override { return "handle"; }
  DeviceLimits limits() const noexcept override { return {{8, 8, 0.4, 0.4, 60}, 2000, 2, 0, 1e6, 1e6}; }
  bool read(DeviceReading& reading) noexcept override {
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const bool down = pressed;  // first: a button that is down is down where it is now, not where it was
    reading.pose.position = {x, 0, z};
    reading.buttons = down ? k_grasp_button : 0;
    return there;
  }
  void write(const LimitedWrench& wrench) noexcept override { written = norm(wrench.get().force); }
  void disable() noexcept override {
    power = false;
    ++disables;
  }
  bool enable() noexcept override {
    written = 0;
    power = true;
    return true;
  }
  // What its hand feels.
  double force() const { return power ? written.load() : 0; }

  std::atomic<double> x{0}, z{0}, written{1e9};  // the start shows that something was written at all
  std::atomic<bool> pressed{false}, there{true}, hangs{false}, power{true};
  std::atomic<int> disables{0};
};

class Witness final : public SessionListener {
 public:
  void hand_changed(const HandEvent& event) override {
    const std::scoped_lock lock(mutex_);
    hands_.push_back(event);
  }
  void problem(ParticipantId, const std::string& reason) override {
    const std::scoped_lock lock(mutex_);
    problems_ += reason + "\n";
  }
  void devices_changed(const std::vector<DeviceView>& devices) override {
    const std::scoped_lock lock(mutex_);
    devices_ = devices;
    told_.push_back(devices);
  }
  ViewDemand wanted() const override { return {true, false, false}; }
  void view(const SessionView& view) override {
    const std::scoped_lock lock(mutex_);
    view_ = view;
  }
  bool heard(const std::string& words) const {
    const std::scoped_lock lock(mutex_);
    return problems_.find(words) != std::string::npos;
  }
  // Was it told at any time that both devices were in these states at once?
  bool told(DeviceView::State first, DeviceView::State second) const {
    const std::scoped_lock lock(mutex_);
    return std::any_of(told_.begin(), told_.end(), [&](const std::vector<DeviceView>& devices) {
      return devices.size() > 1 && devices[0].state == first && devices[1].state == second;
    });
  }
  std::vector<DeviceView> devices() const {
    const std::scoped_lock lock(mutex_);
    return devices_;
  }
  SessionView view() const {
    const std::scoped_lock lock(mutex_);
    return view_;
  }
  std::vector<HandEvent> hands() const {
    const std::scoped_lock lock(mutex_);
    return hands_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<HandEvent> hands_;
  std::string problems_;
  std::vector<DeviceView> devices_;
  std::vector<std::vector<DeviceView>> told_;
  SessionView view_;
};

class SessionDevicesTest : public ::testing::Test {
 protected:
  // A busy machine that stops a thread for a while is no stall here: what a watchdog disables stays so.
  explicit SessionDevicesTest(double stall_seconds = 10) {
    SessionSettings settings;
    settings.stall_seconds = stall_seconds;
    settings.recordings = folder_ / "recordings";
    settings.hand_patience = 60;
    settings.sharing.identity = folder_ / "identity";
    settings.sharing.received = folder_ / "received";
    settings.sharing.udp.loopback = true;
    std::vector<std::unique_ptr<HandDevice>> devices;
    for (Handle*& handle : handles_) {
      auto owned = std::make_unique<Handle>();
      handle = owned.get();
      devices.push_back(std::make_unique<WorkspaceHand>(std::move(owned)));
    }
    session_ = std::make_unique<Session>(settings, library_, std::move(devices),
                                         MissingDevices{{{"Pen", "The pen's driver is missing."}}});
    session_->add_listener(witness_);
    session_->start();
    ann_ = session_->join(ParticipantKind::page, "Ann");
    bob_ = session_->join(ParticipantKind::page, "Bob");
    EXPECT_TRUE(asks(ann_, ShowScene{three_balls()}));
    center_ = three_balls().bounds().center();
  }
  ~SessionDevicesTest() override { session_->stop(); }

  CommandResult ask(ParticipantId who, SessionCommand command) {
    return session_->command_and_wait(who, std::move(command));
  }
  bool asks(ParticipantId who, SessionCommand command) { return ask(who, std::move(command)).done(); }

  // In the scene, whose scale is 1.
  void put(Handle& handle, double x, double z) {
    handle.x = x - center_.x;
    handle.z = z - center_.z;
  }
  State state(std::size_t device) const {
    const auto devices = witness_.devices();
    return device < devices.size() ? devices[device].state : State::idle;
  }
  BodyId body(std::size_t device) const {
    const auto devices = witness_.devices();
    return device < devices.size() ? devices[device].body : 0;
  }
  // Takes the second ball or the third, both at 5 cm.
  bool takes(std::size_t device, BodyId wanted) {
    Handle& handle = *handles_[device];
    put(handle, wanted == 2 ? 0 : 0.06, 0.05);
    if (!eventually([&] { return state(device) == State::ready; })) return false;
    handle.pressed = true;
    return eventually([&] { return body(device) == wanted; });
  }
  // Takes the second ball and pushes it 5 mm into the one below.
  bool presses(std::size_t device) {
    if (!takes(device, 2)) return false;
    put(*handles_[device], 0, 0.035);
    return eventually([&] { return handles_[device]->force() > 1; });
  }
  bool are_seen(std::size_t hands) const {
    return eventually([&] { return witness_.view().hands.size() == hands; });
  }

  TemporaryFolder folder_;
  TestLibrary library_{folder_ / "scenes"};
  Witness witness_;
  std::array<Handle*, 2> handles_{};
  std::unique_ptr<Session> session_;
  ParticipantId ann_, bob_;
  Vec3d center_;
};

// For a driver that hangs: the watchdog waits longer than a busy machine stops a thread.
class HangingDevicesTest : public SessionDevicesTest {
 protected:
  HangingDevicesTest() : SessionDevicesTest(1) {}
};

TEST_F(SessionDevicesTest, OneWithMotorsTakesABodyAndFeelsTheWorld) {
  Handle& handle = *handles_[0];
  ASSERT_TRUE(eventually([&] { return handle.force() == 0; }));  // it holds nothing
  ASSERT_TRUE(presses(0));
  ASSERT_TRUE(are_seen(2));  // both, whatever they hold
  EXPECT_EQ(witness_.view().hands[0].holder_kind, ParticipantKind::device);
  EXPECT_TRUE(eventually([&] { return witness_.devices()[0].force > 1 && witness_.devices()[0].rate > 100; }));
  handle.pressed = false;
  EXPECT_TRUE(eventually([&] { return handle.force() == 0 && body(0) == 0; }));
}

TEST_F(SessionDevicesTest, EachHasAHandOfItsOwn) {
  ASSERT_TRUE(takes(1, 3));
  ASSERT_TRUE(takes(0, 2));
  EXPECT_EQ(body(1), 3U);
  ASSERT_TRUE(are_seen(2));
  const SessionView view = witness_.view();
  EXPECT_NE(view.hands[0].id, view.hands[1].id);
  EXPECT_EQ(witness_.devices()[0].name, "handle");
  EXPECT_EQ(witness_.devices()[1].name, "handle 2");
  // A page beside them has another one.
  EXPECT_TRUE(asks(ann_, GraspBody{HandId::none, 2, {}}));
  EXPECT_TRUE(are_seen(3));
}

TEST_F(SessionDevicesTest, NobodyElseTakesADevicesHandOrDisturbsIt) {
  ASSERT_TRUE(takes(0, 2));
  ASSERT_TRUE(are_seen(2));
  const HandId hand = witness_.view().hands[0].id;
  const std::string refusal = "That hand belongs to a device; take another one.";
  EXPECT_EQ(ask(ann_, GraspBody{hand, 2, {}}).reason, refusal);
  EXPECT_EQ(ask(ann_, ResetScene{}).reason, "A device at the server is holding the body; wait until it is at rest.");
  handles_[0]->pressed = false;
  ASSERT_TRUE(eventually([&] { return body(0) == 0; }));
  EXPECT_EQ(ask(ann_, GraspBody{hand, 2, {}}).reason, refusal);  // not even while it is free
  EXPECT_TRUE(asks(ann_, ResetScene{}));
}

TEST_F(SessionDevicesTest, ThatNothingIsNearItsTipIsASentence) {
  put(*handles_[0], 0.2, 0.3);
  ASSERT_TRUE(eventually([&] { return state(0) == State::ready; }));
  handles_[0]->pressed = true;
  EXPECT_TRUE(
      eventually([&] { return witness_.heard("Device handle: nothing that can be held is near its tip. Move"); }));
  EXPECT_EQ(body(0), 0U);
}

TEST_F(SessionDevicesTest, OneThatIsLostLetsGoAndComesBack) {
  Handle& handle = *handles_[0];
  ASSERT_TRUE(presses(0));
  handle.there = false;
  EXPECT_TRUE(eventually([&] { return state(0) == State::lost && body(0) == 0; }));
  EXPECT_TRUE(witness_.heard("Device handle: It does not answer."));
  EXPECT_EQ(witness_.hands().back().change, HandChange::lost);
  EXPECT_TRUE(eventually([&] { return handle.written == 0; }));
  EXPECT_EQ(handle.disables, 0);  // it keeps its power, so it feels the world again
  handle.pressed = false;
  handle.there = true;
  EXPECT_TRUE(presses(0));
}

TEST_F(SessionDevicesTest, ASwitchTakesItsPowerAndGivesItBack) {
  Handle& handle = *handles_[0];
  const ParticipantId guest = session_->join(ParticipantKind::page, "Guest", Rights::hand);
  ASSERT_TRUE(presses(0));
  EXPECT_FALSE(asks(guest, SwitchDevice{1, false}));
  EXPECT_TRUE(eventually([&] { return handle.force() > 1; }));
  EXPECT_EQ(handle.disables, 0);
  ASSERT_TRUE(asks(bob_, SwitchDevice{1, false}));  // also while it holds something: to stop it is always possible
  EXPECT_FALSE(handle.power);
  EXPECT_EQ(handle.force(), 0);
  EXPECT_TRUE(eventually([&] { return state(0) == State::off && body(0) == 0; }));
  EXPECT_EQ(state(1), State::ready);
  // It stays off in the next scene.
  ASSERT_TRUE(asks(ann_, ShowScene{two_balls()}));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(handle.power);
  ASSERT_TRUE(asks(bob_, SwitchDevice{1, true}));
  EXPECT_TRUE(eventually([&] { return state(0) == State::ready; }));
  EXPECT_TRUE(handle.power);
  EXPECT_FALSE(asks(bob_, SwitchDevice{3, true}));
}

// A driver that hung and came back does not push again by itself.
TEST_F(HangingDevicesTest, OneWhosePowerWasCutWaitsForSomebodyToSwitchItOn) {
  Handle& handle = *handles_[0];
  ASSERT_TRUE(eventually([&] { return state(0) == State::ready; }));
  handle.hangs = true;
  ASSERT_TRUE(eventually([&] { return !handle.power; }));
  handle.hangs = false;
  ASSERT_TRUE(eventually([&] { return state(0) == State::disabled; }));
  EXPECT_TRUE(witness_.heard("switch it on again"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(handle.power);
  EXPECT_TRUE(eventually([&] { return asks(ann_, SwitchDevice{1, true}); }));
  EXPECT_TRUE(handle.power);
}

// The scene stays as it is, and the other device goes on by itself.
TEST_F(HangingDevicesTest, ADriverThatHangsDoesNotHoldUpTheOthers) {
  ASSERT_TRUE(takes(1, 2));
  put(*handles_[1], 0.03, 0.06);
  const auto ball = [&] { return witness_.view().bodies.at(0).pose.position; };
  ASSERT_TRUE(eventually([&] { return std::abs(ball().x - 0.03) < 0.002; }));
  handles_[1]->pressed = false;
  ASSERT_TRUE(eventually([&] { return body(1) == 0; }));
  handles_[0]->hangs = true;
  EXPECT_TRUE(eventually([&] { return state(0) == State::disabled && !handles_[0]->power; }));
  ASSERT_TRUE(eventually([&] { return state(0) == State::hangs; }));
  EXPECT_TRUE(witness_.heard("Its driver hangs"));
  // While they all stood, the other was let go of by a thread of its own; if the machine ran that too late, its power
  // was cut as well.
  if (witness_.told(State::disabled, State::disabled))
    EXPECT_TRUE(eventually([&] { return asks(ann_, SwitchDevice{2, true}); }));
  else
    EXPECT_FALSE(witness_.heard("Device handle 2: "));  // which did nothing wrong
  ASSERT_TRUE(eventually([&] { return state(1) == State::ready; }));
  EXPECT_NEAR(ball().x, 0.03, 0.002);
  handles_[1]->x = 0.03 - center_.x;
  handles_[1]->pressed = true;
  EXPECT_TRUE(eventually([&] { return body(1) == 2; }));
  put(*handles_[1], 0, 0.035);
  EXPECT_TRUE(eventually([&] { return handles_[1]->force() > 1; }));
  handles_[0]->hangs = false;
}

TEST_F(HangingDevicesTest, ADriverThatHangsAtTheEndIsLeftBehind) {
  handles_[0]->hangs = true;
  ASSERT_TRUE(eventually([&] { return !handles_[0]->power; }));
  ASSERT_TRUE(asks(ann_, ShowScene{three_balls()}));  // a new loop, without it
  EXPECT_TRUE(eventually([&] { return state(0) == State::hangs; }));
  EXPECT_FALSE(asks(ann_, SwitchDevice{1, true}));
  // A loop that is given up takes the power of all its devices.
  EXPECT_TRUE(eventually([&] { return state(1) == State::disabled; }));
  ASSERT_TRUE(asks(ann_, SwitchDevice{2, true}));
  EXPECT_TRUE(takes(1, 2));
  handles_[0]->hangs = false;
}

TEST_F(SessionDevicesTest, OneThatWasRefusedIsShownWithItsReason) {
  ASSERT_TRUE(eventually([&] { return witness_.devices().size() == 3; }));
  const DeviceView pen = witness_.devices()[2];
  EXPECT_EQ(pen.state, State::refused);
  EXPECT_EQ(pen.reason, "The pen's driver is missing.");
  EXPECT_EQ(session_->snapshot().devices.size(), 3U);
}

TEST_F(SessionDevicesTest, InASharedWorldEveryDeviceAndPageHasItsHand) {
  ASSERT_TRUE(asks(ann_, StartSharing{}));
  ASSERT_TRUE(eventually([&] { return session_->snapshot().sharing.state == SharingStatus::State::hosting; }));
  ASSERT_TRUE(takes(0, 3));
  ASSERT_TRUE(takes(1, 2));
  ASSERT_TRUE(asks(ann_, GraspBody{HandId::none, 3, {}}));
  put(*handles_[1], 0, 0.035);
  EXPECT_TRUE(eventually([&] { return handles_[1]->force() > 1; }));
  // Another program sees them all, with whose they are.
  const TemporaryFolder elsewhere;
  TestLibrary library(elsewhere / "scenes");
  SessionSettings settings;
  settings.recordings = elsewhere / "recordings";
  settings.sharing.identity = elsewhere / "identity";
  settings.sharing.received = elsewhere / "received";
  settings.sharing.udp.loopback = true;
  Session guest(settings, library);
  Witness guests;
  guest.add_listener(guests);
  guest.start();
  const ParticipantId cat = guest.join(ParticipantKind::page, "Cat");
  ASSERT_TRUE(guest.command_and_wait(cat, JoinSharing{session_->snapshot().sharing.invite, "Cat"}).done());
  const auto holders = [](const Witness& witness, BodyId wanted) {
    const SessionView view = witness.view();
    return std::count_if(view.hands.begin(), view.hands.end(),
                         [&](const HandView& hand) { return hand.body == wanted; });
  };
  for (const Witness* witness : {&witness_, &guests})
    EXPECT_TRUE(eventually([&] { return holders(*witness, 2) == 1 && holders(*witness, 3) == 2; }));
  std::set<ParticipantId> whose;
  for (const HandView& hand : guests.view().hands) whose.insert(hand.holder);
  ASSERT_EQ(whose.size(), 1U);
  const std::vector<Participant> there = guest.snapshot().people;
  EXPECT_TRUE(std::any_of(there.begin(), there.end(), [&](const Participant& person) {
    return person.id == *whose.begin() && person.kind == ParticipantKind::peer && person.name == "Ann";
  }));
  // One pulls, and the page holds on: two springs in a row. What the world did not know of would end in a quarter of a
  // second.
  put(*handles_[0], 0.064, 0.05);
  EXPECT_TRUE(eventually([&] { return handles_[0]->force() > 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const std::vector<HandEvent> events = witness_.hands();
  EXPECT_TRUE(std::none_of(events.begin(), events.end(),
                           [](const HandEvent& event) { return event.change == HandChange::lost; }));
  EXPECT_EQ(body(0), 3U);
  EXPECT_EQ(body(1), 2U);
  // 2 N each, but on a busy machine a hand is held more softly for a moment.
  EXPECT_TRUE(eventually([&] { return handles_[0]->force() > 1 && handles_[1]->force() > 1; }));
  handles_[1]->pressed = false;
  EXPECT_TRUE(eventually([&] { return body(1) == 0 && handles_[1]->force() == 0; }));
  EXPECT_EQ(body(0), 3U);
  EXPECT_TRUE(eventually([&] { return handles_[0]->force() > 1; }));
  EXPECT_TRUE(eventually([&] { return holders(guests, 2) == 0; }));
  guest.stop();
}

TEST_F(SessionDevicesTest, LeavesNoForceAtTheEnd) {
  Handle& handle = *handles_[0];
  ASSERT_TRUE(presses(0));
  // Its own devices go with a session, so this one is looked at before.
  session_->stop();
  EXPECT_EQ(handle.written, 0);
  EXPECT_EQ(handle.disables, 0);  // the zero came from the session
}

}  // namespace
}  // namespace cotouch::this_file
