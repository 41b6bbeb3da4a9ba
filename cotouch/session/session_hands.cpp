// The hands of a session: who takes and leaves them, what plugged devices ask for, and what there is to see of them.
#include <cotouch/session/reach.h>
#include <cotouch/session/session_ask.h>
#include <cotouch/session/world_view.h>

#include <algorithm>
#include <utility>

namespace cotouch {
namespace {

constexpr auto k_devices_pace = std::chrono::milliseconds(250);
constexpr std::uint32_t k_ticks_after_refusal = 30;
constexpr auto k_longest_standing = std::chrono::seconds(2);  // of the loop, while a driver hangs
constexpr const char* k_world_is_full = "All hands of the shared world are in use by now.";

CommandResult not_now(std::string reason) {
  return {CommandResult::Kind::not_now, std::move(reason), 0, {}};
}

}  // namespace

// ------------------------------------------------------------------------------------------------ taking and leaving

// A device has its own; others take the one that they hold already, or one that is free.
Session::Hand* Session::hand_for(ParticipantId who, HandId wanted) {
  if (wanted != HandId::none) return find_hand(wanted);
  const auto first = [this](auto fits) -> Hand* {
    const auto found = std::find_if(hands_.begin(), hands_.end(), fits);
    return found == hands_.end() ? nullptr : &*found;
  };
  if (Hand* own = first([who](const Hand& h) { return h.owner == who; })) return own;
  const auto is_anybodys = [](const Hand& h) { return h.owner == ParticipantId::nobody; };
  for (const ParticipantId holder : {who, ParticipantId::nobody})
    if (Hand* hand = first([&](const Hand& h) { return is_anybodys(h) && h.holder == holder; })) return hand;
  // All are taken: the one that was silent longest, if it may be taken.
  Hand* silent = nullptr;
  for (Hand& hand : hands_)
    if (is_anybodys(hand) && (silent == nullptr || hand.last_input < silent->last_input)) silent = &hand;
  return silent;
}

CommandResult Session::carry_out(ParticipantId who, const GraspBody& wanted) {
  const Vec3d point = wanted.point.value_or(Vec3d{});
  HandEvent event{who, wanted.hand, HandChange::granted, wanted.body, {}, {point, {}}};
  std::optional<HandEvent> lost;
  const SceneBody* body = scene_->scene.find(wanted.body);
  if (!world_ || body == nullptr || !can_be_held(*body))
    event.reason = "That body cannot be picked up.";
  else if (body->motion == Motion::free && is_in_place(wanted.body))
    event.reason = "It is in its place; start the task again to take it out.";
  else if (!is_finite(point) || norm(point) > scene_->scene.size())
    event.reason = "A body is taken at a point of it.";
  if (event.reason.empty()) {
    const std::scoped_lock lock(people_mutex_);
    Hand* hand = hand_for(who, wanted.hand);
    event.hand = hand != nullptr ? hand->id : HandId::none;
    event.reason = obstacle_to({.who = who, .action = SessionAction::take_hand, .hand = event.hand}, situation());
    if (event.reason.empty()) {
      if (hand->holder != who && hand->holder != ParticipantId::nobody)
        lost = HandEvent{hand->holder,
                         hand->id,
                         HandChange::lost,
                         hand->body,
                         "Someone else took the hand because nothing was sent for a while.",
                         {}};
      hand->holder = who;
      hand->body = wanted.body;
      hand->point = point;
      hand->last_input = Clock::now();
      hand->taken_in.reset();
      device_of(*hand).hold(wanted.body, point);
    }
  }
  if (!event.reason.empty()) event.change = HandChange::refused;
  if (lost) tell([&](SessionListener& listener) { listener.hand_changed(*lost); });
  tell([&](SessionListener& listener) { listener.hand_changed(event); });
  return event.reason.empty() ? CommandResult{} : not_now(event.reason);
}

CommandResult Session::carry_out(ParticipantId who, const ReleaseHand& wanted) {
  for (const HandEvent& event : release_held_by(who, wanted.hand))
    tell([&](SessionListener& listener) { listener.hand_changed(event); });
  return {};
}

// The world lets go of a body by itself when it is in its place.
void Session::notice_lost_grasps(const WorldFrame& frame) {
  std::vector<HandEvent> lost;
  {
    const std::scoped_lock lock(people_mutex_);
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      Hand& hand = hands_[i];
      const std::size_t in_world = world_->hand_of(i);
      if (hand.holder == ParticipantId::nobody || !device_of(hand).has_taken_hold()) continue;
      // The device has; the frame may be of the cycle before.
      if (!hand.taken_in) hand.taken_in = frame.touch.cycle;
      if (frame.touch.cycle <= *hand.taken_in) continue;
      if (in_world == k_no_hand) {
        if (!frame.touch.sample.hands[i].input.present) continue;
        lost.push_back({hand.holder, hand.id, HandChange::lost, hand.body, k_world_is_full, {}});
        release(hand);
        continue;
      }
      const HandRecord& record = frame.world.hands()[in_world];
      if (record.present == 0 || record.body >= 0 ||
          frame.touch.sample.hands[i].input.action != HandInput::Action::none)
        continue;
      const auto body = world_->model().index_of(hand.body);
      const bool in_place = body && world_->model().bodies()[*body].motion == Motion::free &&
                            frame.world.bodies()[*body].motion == static_cast<double>(Motion::fixed) && !following_;
      const bool docked = in_place || frame.world.head().task.done != 0;
      lost.push_back({hand.holder,
                      hand.id,
                      HandChange::lost,
                      hand.body,
                      docked ? "It is in its place." : "The world was put back to its start.",
                      {}});
      release(hand);
    }
  }
  for (const HandEvent& event : lost) tell([&](SessionListener& listener) { listener.hand_changed(event); });
}

// ------------------------------------------------------------------------------------------------ plugged devices

void Session::lose_hand_of(const SessionDevices::Plugged& plugged) {
  HandEvent event;
  {
    const std::scoped_lock lock(people_mutex_);
    Hand& hand = hands_[plugged.hand];
    if (hand.holder == ParticipantId::nobody) return;
    event = {hand.holder, hand.id, HandChange::lost, hand.body, "Its device is gone or switched off.", {}};
    release(hand);
  }
  tell([&](SessionListener& listener) { listener.hand_changed(event); });
}

void Session::carry_out_request(SessionDevices::Plugged& plugged, HandRequest request, const WorldState& state) {
  if (request.kind == HandRequest::Kind::none) request = plugged.waiting;
  plugged.waiting = {};
  const HandId hand = hands_[plugged.hand].id;
  if (request.kind == HandRequest::Kind::let_go) {
    carry_out(plugged.who, ReleaseHand{hand});
    return;
  }
  if (request.kind != HandRequest::Kind::take) return;
  if (turn_is_taken_) {  // nobody takes hold of what is about to be exchanged
    plugged.waiting = request;
    return;
  }
  if (plugged.pause > 0) return;
  GraspBody grasp{hand, 0, {}};
  if (!request.at) {
    grasp.body = first_body(scene_->scene);
  } else if (const auto reached = nearest_body(scene_->scene, state, *request.at)) {
    grasp.body = reached->body;
    grasp.point = reached->point;
  }
  std::string reason = "nothing that can be held is near its tip. Move it there, or reset the scene.";
  if (grasp.body != 0) reason = carry_out(plugged.who, grasp).reason;
  // One that is nowhere asks again and again while it is moved.
  if (!request.at && !reason.empty()) plugged.pause = k_ticks_after_refusal;
  // Who presses a button again and again has read it.
  if (std::exchange(plugged.refused_for, reason) != reason && request.at && !reason.empty())
    tell_problem(ParticipantId::nobody, "Device " + plugged.name + ": " + reason);
}

void Session::serve_devices(const WorldFrame* frame) {
  using State = DeviceView::State;
  const TouchFrame* touch = frame != nullptr ? &frame->touch : nullptr;
  bool changed = false;
  for (SessionDevices::Plugged& plugged : devices_.plugged()) {
    const HandRequest request = devices_.request_of(plugged);
    const State before = plugged.told, now = devices_.state_of(plugged, world_ ? &world_->loop() : nullptr);
    const std::string news = devices_.news(plugged, now);
    changed = changed || before != now;
    if (now != State::ready) lose_hand_of(plugged);
    if (now == State::ready && frame != nullptr) carry_out_request(plugged, request, frame->world);
    if (!news.empty()) tell_problem(ParticipantId::nobody, news);
  }
  tell_devices(touch, changed);
  if (touch != nullptr) leave_hanging_devices(*touch);
}

// All devices share a thread, so one whose driver does not come back keeps the others waiting. Its power is cut; the
// others go on in a loop without it, from where everything is.
void Session::leave_hanging_devices(const TouchFrame& frame) {
  using State = DeviceView::State;
  const Clock::time_point now = Clock::now();
  if (std::exchange(standing_cycle_, frame.cycle) != frame.cycle) standing_since_ = now;
  if (now - standing_since_ < k_longest_standing || turn_is_taken_) return;
  std::vector<std::uint32_t> served;
  bool hangs = false;
  for (const SessionDevices::Plugged& plugged : devices_.plugged()) {
    hangs = hangs || plugged.told == State::disabled;
    if (plugged.told == State::ready) served.push_back(plugged.number);
  }
  if (!hangs) return;
  standing_since_ = now;
  const auto make = [this, scene = following_ ? scene_->scene : scene_to_edit(), feel = feel_, following = following_] {
    return make_world(scene, feel, following);
  };
  const auto use = [this, served](std::unique_ptr<RunningWorld> world) {
    if (recording_ && !recording_shared_) finish_recording();
    release_all("A device's driver hangs; the others go on without it.");
    exchange_world(std::move(world));
    bridge_.set_world(world_.get());
    // A loop that is given up takes the power of all its devices, and these did nothing wrong.
    for (const std::uint32_t number : served) {
      SessionDevices::Plugged& plugged = *devices_.find(number);
      if (plugged.device->is_switched_off()) continue;  // while this world was made
      plugged.switched_on = Clock::now();  // or its driver would be said to have hung, until the next cycle
      world_->loop().enable(plugged.hand);
    }
    return CommandResult{};
  };
  make_then(make, use, [this](const CommandResult& result) {
    if (!result.done()) tell_problem(ParticipantId::nobody, result.reason);
  });
}

CommandResult Session::carry_out(ParticipantId who, const SwitchDevice& wanted) {
  SessionDevices::Plugged* plugged = devices_.find(wanted.device);
  if (plugged == nullptr) return {CommandResult::Kind::wrong, "There is no such device.", 0, {}};
  if (std::string reason = obstacle({.who = who, .action = SessionAction::switch_device}); !reason.empty())
    return not_now(reason);
  std::string reason = devices_.switch_device(*plugged, wanted.on, world_.get());
  if (!wanted.on) {
    plugged->waiting = {};  // what was asked for before is not done when it is on again
    lose_hand_of(*plugged);
  }
  tell_devices(world_ ? &world_->loop().frame() : nullptr, true);
  return reason.empty() ? CommandResult{} : not_now(std::move(reason));
}

std::vector<DeviceView> Session::device_views(const TouchFrame* frame) {
  std::vector<DeviceView> views = devices_.views(frame, world_ ? &world_->loop() : nullptr);
  const std::scoped_lock lock(people_mutex_);
  for (DeviceView& view : views)
    if (const SessionDevices::Plugged* plugged = devices_.find(view.device)) view.body = hands_[plugged->hand].body;
  return views;
}

void Session::tell_devices(const TouchFrame* frame, bool at_once) {
  if (!at_once && Clock::now() - devices_told_at_ < k_devices_pace) return;
  devices_told_at_ = Clock::now();
  std::vector<DeviceView> now = device_views(frame);
  if (now == devices_told_) return;
  devices_told_ = std::move(now);
  tell([&](SessionListener& listener) { listener.devices_changed(devices_told_); });
}

// ------------------------------------------------------------------------------------------------ what is seen

// A device with a place in the scene is seen there also while it holds nothing.
std::vector<HandView> Session::hand_views(const WorldFrame& frame) {
  const std::scoped_lock lock(people_mutex_);
  std::vector<HandView> views;
  for (std::size_t i = 0; i < hands_.size(); ++i) {
    const Hand& hand = hands_[i];
    const std::size_t in_world = world_->hand_of(i);
    const bool is_shown = hand.owner != ParticipantId::nobody && frame.touch.sample.hands[i].input.present;
    if ((hand.holder == ParticipantId::nobody && !is_shown) || in_world == k_no_hand) continue;
    HandView view = hand_view(world_->model(), frame.world, world_->contacts(), in_world,
                              frame.touch.sample.hands[i].felt, feel_.max_force);
    view.id = hand.id;
    view.holder = hand.holder != ParticipantId::nobody ? hand.holder : hand.owner;
    if (const Participant* holder = find_participant(view.holder)) view.holder_kind = holder->kind;
    view.body = hand.body;
    if (const PageDevice* page = devices_.page(i)) view.input_sequence = page->applied_sequence();
    views.push_back(view);
  }
  add_remote_hands(frame, views);
  return views;
}

}  // namespace cotouch
