// The one place that decides who may do what in a session, alike for pages, devices, programs and peers.
//
// First come the rights of the one who asks: who only watches changes nothing, who has a hand holds and moves things,
// and all else is for owners.
//
// Whoever holds a hand is not disturbed by others, not even by owners: as long as they have patience (they were heard
// of a short while ago), nobody else changes what they feel, what they touch or what is recorded of it, saves what they
// are moving, or deletes or cancels what is not their own. What somebody made (a recording, a saved scene, a job) is
// theirs as long as they are there, and anybody's after they left. What is in use is not deleted, not even by its
// maker.
//
// A device has a hand of its own, which nobody else leads.
//
// A device has no buttons for all this. If an owner has just one page open, it speaks for the devices at this machine
// as well.
//
// Pure functions: no clock, no threads, no state.
#pragma once

#include <cotouch/session/participant.h>

#include <optional>
#include <string>
#include <vector>

namespace cotouch {

enum class SessionAction : std::uint8_t {
  take_hand,
  change_settings,  // of forces, and of the world: gravity, masses
  open_scene,
  reset_scene,
  change_bodies,  // add, copy, remove, fix or free one
  save_scene,
  delete_scene,
  start_recording,
  stop_recording,
  delete_recording,
  cancel_job,
  share,          // join or leave a session over the network, and how it behaves
  speak,          // write to the others, place and remove marks
  switch_device,  // on or off
};

// What somebody asks for.
struct ActionRequest {
  ParticipantId who = ParticipantId::nobody;
  SessionAction action = SessionAction::take_hand;
  HandId hand = HandId::none;                   // to take
  ParticipantId maker = ParticipantId::nobody;  // of what is to be deleted, cancelled or overwritten, if known
  bool in_use = false;                          // what is to be deleted or overwritten
};

struct HeldHand {
  HandId id = HandId::none;
  ParticipantId holder = ParticipantId::nobody;
  double patience = 0;  // seconds until the hand may be taken from its holder; a device's never ends
  ParticipantId owner = ParticipantId::nobody;  // a device that it belongs to: nobody else may take it
};

// How things stand.
struct Situation {
  std::vector<Participant> present;
  std::vector<HeldHand> hands;  // every hand of the scene
  bool world_is_full = false;   // it is shared, and has no hand for one more
  bool recording = false;
  ParticipantId recorded_by = ParticipantId::nobody;
};

// Empty if it is allowed, otherwise a sentence that says why not and what to do.
std::string obstacle_to(const ActionRequest& request, const Situation& situation);

// What forces may depend on. The largest force is bounded by the device's own peak, which its limiter holds whatever is
// asked for here; the stiffness that a hand feels is the coupling's and bounded likewise (touch/softening.h).
struct SettingsRequest {
  std::optional<double> contact_stiffness = {};  // N/m of a single point
  std::optional<double> max_force = {};          // N
  std::optional<double> budget_us = {};          // for contact, in each cycle
};
struct SettingRange {
  double low, high;
  bool contains(double value) const { return value >= low && value <= high; }
};
// The same ranges hold in scene files. Besides, a body's weight is bounded by what it lies on (scene_limits.h).
SettingRange contact_stiffness_range();
SettingRange max_force_range();
SettingRange budget_range();
SettingRange gravity_range();  // m/s^2
SettingRange density_range();  // kg/m^3
SettingRange mass_range();     // kg
// The same for values: a sentence that names the range, empty if all are within theirs.
std::string obstacle_to(const SettingsRequest& settings);

}  // namespace cotouch
