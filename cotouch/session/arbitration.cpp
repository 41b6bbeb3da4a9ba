#include <cotouch/session/arbitration.h>

#include <cotouch/device/page_device.h>
#include <cotouch/session/plain_number.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr const char* k_device_holds = "A device at the server is holding the body; wait until it is at rest.";
constexpr const char* k_other_records = "Someone else is recording; wait until they stop.";
constexpr const char* k_only_watches =
    "You came by a link that only watches; ask whoever gave it to you for one that may hold things.";
constexpr const char* k_only_holds =
    "You came by a link that may hold and move things but not change, record or keep them; ask an owner to do it.";
constexpr const char* k_stop_recording = "Stop the recording first.";

class Judge {
 public:
  explicit Judge(const Situation& situation) : situation_(situation) {}

  const Participant* find(ParticipantId id) const {
    const auto& present = situation_.present;
    const auto found = std::find_if(present.begin(), present.end(), [id](const Participant& p) { return p.id == id; });
    return id == ParticipantId::nobody || found == present.end() ? nullptr : &*found;
  }

  // Whether one is the other, or speaks for it.
  bool same(ParticipantId who, ParticipantId other) const {
    if (who == other) return true;
    const Participant *asks = find(who), *owns = find(other);
    return asks != nullptr && owns != nullptr && asks->kind == ParticipantKind::page &&
           owns->kind == ParticipantKind::device && asks->rights == Rights::own && owners_pages() == 1;
  }

  std::string beyond_rights(const ActionRequest& request) const {
    const Rights rights = find(request.who)->rights;
    if (rights == Rights::watch) return k_only_watches;
    const bool for_hands = request.action == SessionAction::take_hand || request.action == SessionAction::speak;
    return rights == Rights::hand && !for_hands ? k_only_holds : std::string();
  }

  bool belongs_to_another(ParticipantId who, ParticipantId maker) const {
    return find(maker) != nullptr && !same(who, maker);
  }

  std::string held_by_another(ParticipantId who) const {
    for (const HeldHand& hand : situation_.hands)
      if (is_kept_from(who, hand) && !same(who, hand.holder)) return holder_sentence(hand);
    return {};
  }

  // What one made oneself may be deleted or cancelled whoever holds a hand.
  std::string not_own(const ActionRequest& request) const {
    return request.maker != ParticipantId::nobody && same(request.who, request.maker) ? std::string()
                                                                                      : held_by_another(request.who);
  }

  std::string recorded_by_another(ParticipantId who) const {
    return situation_.recording && belongs_to_another(who, situation_.recorded_by) ? k_other_records : std::string();
  }

  std::string taking(const ActionRequest& request) const {
    const auto& hands = situation_.hands;
    const auto hand = std::find_if(hands.begin(), hands.end(), [&](const HeldHand& h) { return h.id == request.hand; });
    if (hand == hands.end()) return "All hands are in use; wait until somebody lets go.";
    if (hand->owner != ParticipantId::nobody && hand->owner != request.who)
      return "That hand belongs to a device; take another one.";
    // Here a page does not speak for a device: two cannot move one hand.
    for (const HeldHand& other : hands)
      if (other.id == request.hand && is_kept_from(request.who, other)) return holder_sentence(other);
    if (situation_.world_is_full && hand->holder == ParticipantId::nobody)
      return "All hands of the shared world are in use; wait until somebody lets go.";
    // Programs may lead as many hands as there are; everybody else has one.
    const bool has_another = std::any_of(
        hands.begin(), hands.end(), [&](const HeldHand& h) { return h.id != request.hand && h.holder == request.who; });
    if (has_another && find(request.who)->kind != ParticipantKind::program)
      return "You are holding something already; let go of it first.";
    return {};
  }

 private:
  std::ptrdiff_t owners_pages() const {
    return std::count_if(situation_.present.begin(), situation_.present.end(), [](const Participant& p) {
      return p.kind == ParticipantKind::page && p.rights == Rights::own;
    });
  }
  bool is_kept_from(ParticipantId who, const HeldHand& hand) const {
    return hand.holder != who && hand.patience > 0 && find(hand.holder) != nullptr;
  }
  std::string holder_sentence(const HeldHand& hand) const {
    const Participant& holder = *find(hand.holder);
    if (holder.kind == ParticipantKind::device) return k_device_holds;
    return (holder.name.empty() ? "Someone else" : holder.name) + " is holding a body; wait until they let go.";
  }

  const Situation& situation_;
};

std::string outside(const char* what, const SettingRange& range, const char* unit) {
  return std::string(what) + " is from " + long_number(range.low) + " to " + long_number(range.high) + " " + unit + ".";
}

}  // namespace

std::string obstacle_to(const ActionRequest& request, const Situation& situation) {
  const Judge judge(situation);
  if (judge.find(request.who) == nullptr) return "Only those who have joined the session may do that.";
  if (std::string reason = judge.beyond_rights(request); !reason.empty()) return reason;
  const auto either = [](const std::string& first, const std::string& second) {
    return first.empty() ? second : first;
  };
  switch (request.action) {
    case SessionAction::take_hand: return judge.taking(request);
    case SessionAction::change_settings:
    case SessionAction::reset_scene:
      // A recording holds one set of settings and one unbroken motion, whoever makes it.
      return either(judge.held_by_another(request.who), situation.recording ? k_stop_recording : "");
    case SessionAction::open_scene:
    case SessionAction::change_bodies:
      // These end a recording, which is saved as far as it went.
      return either(judge.held_by_another(request.who), judge.recorded_by_another(request.who));
    case SessionAction::start_recording:
      return either(situation.recording ? "A recording is already running." : "", judge.held_by_another(request.who));
    case SessionAction::stop_recording:
      if (!situation.recording) return "No recording is running.";
      if (judge.same(request.who, situation.recorded_by)) return {};
      return either(judge.recorded_by_another(request.who), judge.held_by_another(request.who));
    case SessionAction::delete_recording:
      if (request.in_use) return k_stop_recording;
      if (judge.belongs_to_another(request.who, request.maker))
        return "Who made this recording is still here; ask them to delete it.";
      return judge.not_own(request);
    case SessionAction::delete_scene:
      if (request.in_use) return "This scene is open; open another one before deleting it.";
      if (judge.belongs_to_another(request.who, request.maker))
        return "Who saved this scene is still here; ask them to delete it.";
      return judge.not_own(request);
    case SessionAction::save_scene:
      if (judge.belongs_to_another(request.who, request.maker))
        return "Someone else who is here saved a scene under this name; choose another name.";
      return judge.held_by_another(request.who);
    case SessionAction::cancel_job:
      if (judge.belongs_to_another(request.who, request.maker))
        return "Someone else started this; only they can cancel it.";
      return judge.not_own(request);
    case SessionAction::share:
      // The program that shares also ends it, whatever its pages do.
      return judge.find(request.who)->kind == ParticipantKind::program ? std::string()
                                                                       : judge.held_by_another(request.who);
    case SessionAction::speak:
    case SessionAction::switch_device: return {};  // to switch off what pushes must always be possible
  }
  return {};
}

SettingRange contact_stiffness_range() {
  return {10'000, 1'000'000};  // at its lowest a single point sinks 0.85 mm under the largest force of a hand
}

SettingRange max_force_range() {
  return {0, PageDevice::k_limits.motors.peak_force};
}

SettingRange budget_range() {
  return {50, 900};
}

SettingRange gravity_range() {
  return {0, 20};
}

SettingRange density_range() {
  return {1, 25'000};  // osmium has 22,600
}

SettingRange mass_range() {
  return {1e-4, 10};
}

std::string obstacle_to(const SettingsRequest& settings) {
  const auto is_outside = [](const std::optional<double>& value, const SettingRange& range) {
    return value && !range.contains(*value);
  };
  if (is_outside(settings.contact_stiffness, contact_stiffness_range()))
    return outside("The contact stiffness", contact_stiffness_range(), "N/m");
  if (is_outside(settings.max_force, max_force_range())) return outside("The largest force", max_force_range(), "N");
  if (is_outside(settings.budget_us, budget_range()))
    return outside("The time for contact", budget_range(), "microseconds");
  return {};
}

}  // namespace cotouch
