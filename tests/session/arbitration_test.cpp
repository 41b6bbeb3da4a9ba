// Who may do what, as a table.
#include <cotouch/session/arbitration.h>

#include <gtest/gtest.h>

#include <limits>

namespace cotouch::this_file {
namespace {

constexpr ParticipantId k_ann{1}, k_bob{2}, k_mouse{3}, k_script{4}, k_gone{9};
constexpr HandId k_left{1}, k_right{2};
constexpr double k_endless = std::numeric_limits<double>::infinity();

// Two pages, a device and a program; two hands that nobody holds.
Situation idle() {
  Situation now;
  now.present = {{k_ann, ParticipantKind::page, "Ann", {}},
                 {k_bob, ParticipantKind::page, "Bob", {}},
                 {k_mouse, ParticipantKind::device, "SpaceMouse", {}},
                 {k_script, ParticipantKind::program, "script", {}}};
  now.hands = {{k_left, ParticipantId::nobody, 0}, {k_right, ParticipantId::nobody, 0}};
  return now;
}

Situation held_by(ParticipantId holder, double patience = 5) {
  Situation now = idle();
  now.hands[0] = {k_left, holder, patience};
  return now;
}

Situation recorded_by(ParticipantId maker) {
  Situation now = idle();
  now.recording = true;
  now.recorded_by = maker;
  return now;
}

bool may(ParticipantId who, SessionAction action, const Situation& now) {
  return obstacle_to(ActionRequest{.who = who, .action = action, .hand = k_left}, now).empty();
}

bool may_touch(ParticipantId who, SessionAction action, ParticipantId maker, bool in_use, const Situation& now) {
  return obstacle_to(ActionRequest{.who = who, .action = action, .maker = maker, .in_use = in_use}, now).empty();
}

constexpr SessionAction k_disturbing[] = {SessionAction::change_settings, SessionAction::open_scene,
                                          SessionAction::reset_scene, SessionAction::change_bodies,
                                          SessionAction::start_recording};

TEST(Arbitration, WhoHoldsAHandIsNotDisturbedByOthers) {
  for (const SessionAction action : k_disturbing) {
    SCOPED_TRACE(static_cast<int>(action));
    struct Row {
      ParticipantId who;
      Situation now;
      bool allowed;
    };
    const Row rows[] = {
        {k_ann, idle(), true},
        {k_script, idle(), true},
        {k_ann, held_by(k_ann), true},
        {k_bob, held_by(k_ann), false},
        {k_script, held_by(k_ann), false},
        {k_mouse, held_by(k_ann), false},
        {k_ann, held_by(k_script), false},
        {k_ann, held_by(k_mouse, k_endless), false},
        {k_bob, held_by(k_ann, 0), true},  // silent for too long
        {k_bob, held_by(k_gone), true},    // a hand of somebody who left is free
        {k_gone, idle(), false},           // who is not there asks for nothing
        {ParticipantId::nobody, idle(), false},
    };
    for (const Row& row : rows) EXPECT_EQ(may(row.who, action, row.now), row.allowed) << &row - rows;
  }
}

TEST(Arbitration, ARefusalNamesWhoHoldsTheHand) {
  EXPECT_EQ(obstacle_to({.who = k_bob, .action = SessionAction::change_settings}, held_by(k_ann)),
            "Ann is holding a body; wait until they let go.");
}

TEST(Arbitration, TheOtherHandCountsAsWell) {
  Situation now = held_by(k_ann);
  now.hands[1] = {k_right, k_bob, 5};
  // Both hold one, so neither may change what the other feels.
  EXPECT_FALSE(may(k_ann, SessionAction::change_settings, now));
  EXPECT_FALSE(may(k_bob, SessionAction::change_settings, now));
  now.hands[1].patience = 0;
  EXPECT_TRUE(may(k_ann, SessionAction::change_settings, now));
}

TEST(Arbitration, AHandHasOneHolder) {
  const auto may_take = [](ParticipantId who, HandId hand, const Situation& now) {
    return obstacle_to(ActionRequest{.who = who, .action = SessionAction::take_hand, .hand = hand}, now).empty();
  };
  EXPECT_TRUE(may_take(k_ann, k_left, idle()));
  EXPECT_TRUE(may_take(k_ann, k_left, held_by(k_ann)));
  EXPECT_FALSE(may_take(k_bob, k_left, held_by(k_ann)));
  EXPECT_TRUE(may_take(k_bob, k_right, held_by(k_ann)));
  EXPECT_TRUE(may_take(k_bob, k_left, held_by(k_ann, 0)));
  EXPECT_FALSE(may_take(k_ann, HandId{7}, idle()));
  EXPECT_FALSE(may_take(k_ann, HandId::none, idle()));
  // Nobody has two, but for programs.
  EXPECT_FALSE(may_take(k_ann, k_right, held_by(k_ann)));
  EXPECT_FALSE(may_take(k_mouse, k_right, held_by(k_mouse)));
  EXPECT_TRUE(may_take(k_script, k_right, held_by(k_script)));
}

TEST(Arbitration, TheOnlyPageSpeaksForTheDevice) {
  Situation now = held_by(k_mouse, k_endless);
  EXPECT_FALSE(may(k_ann, SessionAction::reset_scene, now));
  std::erase_if(now.present, [](const Participant& p) { return p.id == k_bob; });
  EXPECT_TRUE(may(k_ann, SessionAction::reset_scene, now));
  // But two cannot move one hand, and a program is nobody's voice.
  EXPECT_FALSE(may(k_ann, SessionAction::take_hand, now));
  EXPECT_FALSE(may(k_script, SessionAction::reset_scene, now));
}

TEST(Arbitration, ARecordingBelongsToItsMaker) {
  EXPECT_FALSE(may(k_ann, SessionAction::start_recording, recorded_by(k_ann)));
  EXPECT_FALSE(may(k_ann, SessionAction::stop_recording, idle()));
  EXPECT_TRUE(may(k_ann, SessionAction::stop_recording, recorded_by(k_ann)));
  EXPECT_FALSE(may(k_bob, SessionAction::stop_recording, recorded_by(k_ann)));
  EXPECT_TRUE(may(k_bob, SessionAction::stop_recording, recorded_by(k_gone)));
  // Its maker may stop it while somebody else holds a hand; others may not, even after the maker left.
  Situation held = recorded_by(k_ann);
  held.hands[0] = {k_left, k_bob, 5};
  EXPECT_TRUE(may(k_ann, SessionAction::stop_recording, held));
  held.recorded_by = k_gone;
  EXPECT_FALSE(may(k_ann, SessionAction::stop_recording, held));
  // These would end it.
  for (const SessionAction action : {SessionAction::open_scene, SessionAction::change_bodies}) {
    EXPECT_TRUE(may(k_ann, action, recorded_by(k_ann)));
    EXPECT_FALSE(may(k_bob, action, recorded_by(k_ann)));
    EXPECT_TRUE(may(k_bob, action, recorded_by(k_gone)));
  }
  // These would make it a recording of two things, so its maker may not either.
  for (const SessionAction action : {SessionAction::change_settings, SessionAction::reset_scene}) {
    EXPECT_FALSE(may(k_ann, action, recorded_by(k_ann)));
    EXPECT_FALSE(may(k_bob, action, recorded_by(k_gone)));
  }
}

TEST(Arbitration, WhatSomebodyMadeIsTheirsWhileTheyAreThere) {
  for (const SessionAction action : {SessionAction::delete_recording, SessionAction::delete_scene,
                                     SessionAction::save_scene, SessionAction::cancel_job}) {
    SCOPED_TRACE(static_cast<int>(action));
    EXPECT_TRUE(may_touch(k_ann, action, k_ann, false, idle()));
    EXPECT_FALSE(may_touch(k_bob, action, k_ann, false, idle()));
    EXPECT_TRUE(may_touch(k_bob, action, k_gone, false, idle()));
    EXPECT_TRUE(may_touch(k_bob, action, ParticipantId::nobody, false, idle()));
    // While somebody else holds a hand, only what is one's own; and saving keeps what the other one is moving.
    EXPECT_EQ(may_touch(k_bob, action, k_bob, false, held_by(k_ann)), action != SessionAction::save_scene);
    EXPECT_FALSE(may_touch(k_bob, action, k_gone, false, held_by(k_ann)));
    EXPECT_FALSE(may_touch(k_bob, action, ParticipantId::nobody, false, held_by(k_ann)));
    EXPECT_TRUE(may_touch(k_ann, action, ParticipantId::nobody, false, held_by(k_ann)));
  }
}

TEST(Arbitration, RightsComeFirst) {
  constexpr SessionAction k_deeds[] = {
      SessionAction::take_hand,    SessionAction::change_settings, SessionAction::open_scene,
      SessionAction::reset_scene,  SessionAction::change_bodies,   SessionAction::save_scene,
      SessionAction::delete_scene, SessionAction::start_recording, SessionAction::delete_recording,
      SessionAction::cancel_job,   SessionAction::share,           SessionAction::speak};
  Situation now = idle();
  const auto sentence = [&](Rights rights, SessionAction action) {
    now.present[0].rights = rights;
    return obstacle_to(ActionRequest{.who = k_ann, .action = action, .hand = k_left, .maker = k_ann}, now);
  };
  for (const SessionAction action : k_deeds) {
    SCOPED_TRACE(static_cast<int>(action));
    EXPECT_EQ(sentence(Rights::own, action), "");
    const bool for_hands = action == SessionAction::take_hand || action == SessionAction::speak;
    EXPECT_EQ(sentence(Rights::hand, action).empty(), for_hands);
    EXPECT_NE(sentence(Rights::watch, action).find("only watches"), std::string::npos);
  }
  // What is wrong besides is not told to those who could not do it anyway.
  EXPECT_NE(sentence(Rights::hand, SessionAction::stop_recording).find("link"), std::string::npos);
}

TEST(Arbitration, OwnersDoNotDisturbGuestsWhoHoldAHand) {
  Situation now = held_by(k_bob);
  now.present[1].rights = Rights::hand;
  for (const SessionAction action : k_disturbing) EXPECT_FALSE(may(k_ann, action, now)) << static_cast<int>(action);
  EXPECT_FALSE(may(k_ann, SessionAction::share, now));
  EXPECT_TRUE(may(k_script, SessionAction::share, now));  // the program that shares also ends it
}

TEST(Arbitration, AGuestsPageSpeaksForNoDevice) {
  Situation now = held_by(k_mouse, k_endless);
  now.present[1].rights = Rights::watch;
  EXPECT_TRUE(may(k_ann, SessionAction::reset_scene, now));  // the only page of an owner
  EXPECT_FALSE(may(k_bob, SessionAction::reset_scene, now));
}

TEST(Arbitration, WhatIsInUseIsNotDeleted) {
  for (const SessionAction action : {SessionAction::delete_recording, SessionAction::delete_scene})
    for (const ParticipantId maker : {k_ann, k_gone, ParticipantId::nobody})
      EXPECT_FALSE(may_touch(k_ann, action, maker, true, idle()));
}

TEST(Arbitration, SettingsStayWithinWhatADeviceCanGive) {
  EXPECT_EQ(obstacle_to(SettingsRequest{}), "");
  EXPECT_EQ(obstacle_to(SettingsRequest{.contact_stiffness = 1'000'000, .max_force = 8.5, .budget_us = 900}), "");
  EXPECT_EQ(obstacle_to(SettingsRequest{.contact_stiffness = 10'000, .max_force = 0, .budget_us = 50}), "");
  EXPECT_EQ(obstacle_to(SettingsRequest{.max_force = 8.6}), "The largest force is from 0 to 8.5 N.");
  EXPECT_EQ(obstacle_to(SettingsRequest{.max_force = 40}), "The largest force is from 0 to 8.5 N.");
  EXPECT_EQ(obstacle_to(SettingsRequest{.contact_stiffness = 1'000'001}),
            "The contact stiffness is from 10000 to 1000000 N/m.");
  EXPECT_NE(obstacle_to(SettingsRequest{.budget_us = 901}), "");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(obstacle_to(SettingsRequest{.contact_stiffness = nan}), "");
  EXPECT_NE(obstacle_to(SettingsRequest{.max_force = nan}), "");
}

TEST(Arbitration, ADevicesHandIsNobodyElses) {
  Situation now = idle();
  now.hands[0].owner = k_mouse;
  for (const ParticipantId who : {k_ann, k_script})
    EXPECT_EQ(obstacle_to({.who = who, .action = SessionAction::take_hand, .hand = k_left}, now),
              "That hand belongs to a device; take another one.");
  EXPECT_TRUE(may(k_mouse, SessionAction::take_hand, now));
  EXPECT_EQ(obstacle_to({.who = k_ann, .action = SessionAction::take_hand, .hand = k_right}, now), "");
  // While it is free, it keeps nobody from anything.
  for (const SessionAction action : k_disturbing) EXPECT_TRUE(may(k_bob, action, now)) << static_cast<int>(action);
}

TEST(Arbitration, WhereTheSharedWorldHasNoHandLeftNobodyTakesOne) {
  Situation now = held_by(k_ann);
  now.world_is_full = true;
  const ActionRequest bobs{.who = k_bob, .action = SessionAction::take_hand, .hand = k_right};
  EXPECT_EQ(obstacle_to(bobs, now), "All hands of the shared world are in use; wait until somebody lets go.");
  // Who has one may take something else with it.
  EXPECT_EQ(obstacle_to({.who = k_ann, .action = SessionAction::take_hand, .hand = k_left}, now), "");
  now.world_is_full = false;
  EXPECT_EQ(obstacle_to(bobs, now), "");
}

TEST(Arbitration, OwnersSwitchADeviceOffWhoeverHoldsIt) {
  Situation now = held_by(k_mouse, k_endless);
  EXPECT_TRUE(may(k_ann, SessionAction::switch_device, now));
  for (const Rights rights : {Rights::hand, Rights::watch}) {
    now.present[0].rights = rights;
    EXPECT_FALSE(may(k_ann, SessionAction::switch_device, now));
  }
}

}  // namespace
}  // namespace cotouch::this_file
