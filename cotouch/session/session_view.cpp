// What a session shows: made at frame rate on its own thread.
#include <cotouch/session/session_ask.h>
#include <cotouch/session/world_view.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_near_rate = 15;                                  // times a second, at most
constexpr auto k_near_time = std::chrono::milliseconds(8);          // in one view
constexpr auto k_near_repeat = std::chrono::seconds(2);             // for those who joined since
constexpr auto k_spacemouse_rest = std::chrono::milliseconds(500);  // at rest for so long, the device lets go
// How far a rate control may lead the hand away from the body: pushed against a wall, it would otherwise have to come
// all the way back.
constexpr double k_leash = 0.25;      // of the scene's size
constexpr double k_leash_turn = 1.0;  // rad

}  // namespace

ViewDemand Session::demand() const {
  ViewDemand all;
  for (const SessionListener* listener : listeners_) {
    const ViewDemand one = listener->wanted();
    all.views = all.views || one.views;
    all.traversed = all.traversed || one.traversed;
    all.near = all.near || one.near;
  }
  return all;
}

SessionView Session::make_view(const WorldFrame& frame, bool traversed) {
  SessionView view;
  const TouchFrame& touch = frame.touch;
  view.generation = generation_;
  view.time = std::chrono::duration<double>(Clock::now() - opened_).count();
  view.running = world_ != nullptr && world_->loop().running();
  view.recording = recording_.has_value();
  view.cycles = earlier_cycles_ + touch.cycle;
  view.missed = earlier_missed_ + touch.missed;
  view.stalls = earlier_stalls_ + touch.stalls;
  if (!world_) return view;
  measure_cycles(view);
  view.visited = touch.contact.visited;
  view.in_contact = touch.contact.in_contact;
  view.hands = hand_views(frame);
  view.bodies = body_views(world_->model(), frame.world, world_->contacts());
  view.bending = bending_views(world_->model(), frame.world);
  view.task = task_view(world_->model(), frame.world);
  view.contact = sight_->look(frame.world, traversed);
  return view;
}

std::vector<HandView> Session::hand_views(const WorldFrame& frame) {
  const std::scoped_lock lock(people_mutex_);
  std::vector<HandView> views;
  for (std::size_t i = 0; i < hands_.size(); ++i) {
    const Hand& hand = hands_[i];
    const std::size_t in_world = world_->hand_of(i);
    if (hand.holder == ParticipantId::nobody || in_world == k_no_hand) continue;
    HandView view = hand_view(world_->model(), frame.world, world_->contacts(), in_world,
                              frame.touch.sample.hands[i].felt, feel_.max_force);
    view.id = hand.id;
    view.holder = hand.holder;
    if (const Participant* holder = find_participant(hand.holder)) view.holder_kind = holder->kind;
    view.body = hand.body;
    view.input_sequence = hand.device->applied_sequence();
    views.push_back(view);
  }
  add_remote_hands(frame, views);
  return views;
}

// The world lets go of a body by itself when it is in its place.
void Session::notice_lost_grasps(const WorldFrame& frame) {
  std::vector<HandEvent> lost;
  {
    const std::scoped_lock lock(people_mutex_);
    for (std::size_t i = 0; i < hands_.size(); ++i) {
      Hand& hand = hands_[i];
      const std::size_t in_world = world_->hand_of(i);
      if (hand.holder == ParticipantId::nobody || in_world == k_no_hand || !hand.device->has_taken_hold()) continue;
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

void Session::measure_cycles(SessionView& view) {
  const CycleHistogram& times = world_->loop().cycle_times();
  std::array<std::uint32_t, CycleHistogram::k_buckets> fresh;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const std::uint64_t now = times.in_bucket(i);
    fresh[i] = static_cast<std::uint32_t>(now - seen_cycles_[i]);
    seen_cycles_[i] = now;
    count += fresh[i];
  }
  std::uint64_t below = 0;
  bool found = false;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i] == 0) continue;
    below += fresh[i];
    const float us = (static_cast<float>(i) + 0.5F) * static_cast<float>(CycleHistogram::k_bucket_ns) * 1e-3F;
    if (!found && below * 2 >= count) {
      median_us_ = us;
      found = true;
    }
    // The last bucket has no upper end; the longest cycle ever is the best that is known.
    longest_us_ = i + 1 < fresh.size() ? us : static_cast<float>(times.longest() * 1e6);
  }
  // Two views close together may see no cycle in between; that is no reason to say that cycles take no time.
  view.cycle_median_us = median_us_;
  view.cycle_longest_us = longest_us_;
}

// Round after round over all parts, as many at a time as leave the session free to answer.
void Session::make_nearness(const WorldState& state) {
  const Clock::time_point now = Clock::now();
  if (near_left_ == 0) {
    const double waited = std::chrono::duration<double>(now - last_near_at_).count();
    std::vector<std::pair<Pose, bool>> seen;
    for (std::size_t i = 0; i < state.bodies().size(); ++i)
      seen.emplace_back(state.bodies()[i].pose, sight_->is_news(state, i));
    const bool bends =
        !std::equal(state.bending().begin(), state.bending().end(), last_bending_.begin(), last_bending_.end());
    const bool same = seen == last_near_ && !bends;
    if (waited < 1 / k_near_rate || (same && now - last_near_at_ < k_near_repeat)) return;
    last_near_at_ = now;
    last_bending_.assign(state.bending().begin(), state.bending().end());
    last_near_ = std::move(seen);
    near_left_ = scene_->parts.size();
  }
  std::vector<std::uint8_t> values;
  while (near_left_ > 0 && Clock::now() - now < k_near_time) {
    const ShownPart& part = scene_->parts[--near_left_];
    if (sight_->nearness(state, part, values))
      tell([&](SessionListener& listener) { listener.nearness(generation_, part.id, sight_->range(), values); });
  }
}

// The cap is a rate control: pushed to the stop, the hand crosses the scene in two seconds. It takes the body that the
// scene's own hand motion is about, or the first that can be taken.
void Session::follow_spacemouse(const WorldState& state) {
  if (!spacemouse_) return;
  const SpaceMouse::Deflection cap = spacemouse_->poll();
  const Clock::time_point now = Clock::now();
  const auto held = [this] {
    return std::find_if(hands_.begin(), hands_.end(), [this](const Hand& h) { return h.holder == spacemouse_id_; });
  };
  const auto grip_of = [&](const Hand& hand) {
    const std::size_t in_world = world_->hand_of(static_cast<std::size_t>(&hand - hands_.data()));
    if (in_world != k_no_hand && state.hands()[in_world].body >= 0)
      return held_pose(world_->model(), state, state.hands()[in_world]);
    for (std::size_t i = 0; i < scene_->scene.bodies.size(); ++i)
      if (scene_->scene.bodies[i].id == hand.body) return state.bodies()[i].pose;
    return Pose{};
  };
  std::unique_lock lock(people_mutex_);
  if (cap.moved && held() == hands_.end()) {
    lock.unlock();
    GraspBody grasp;
    if (!scene_->scene.scripts.empty()) grasp.body = scene_->scene.scripts.front().body;
    for (const SceneBody& body : scene_->scene.bodies)
      if (grasp.body == 0 && can_be_held(body)) grasp.body = body.id;
    // Nobody takes hold of what is about to be exchanged.
    if (turn_is_taken_ || !carry_out(spacemouse_id_, grasp).done()) return;
    lock.lock();
    if (held() == hands_.end()) return;
    spacemouse_pose_ = grip_of(*held());
  }
  const auto hand = held();
  if (hand == hands_.end()) return;
  if (cap.moved) spacemouse_used_ = now;
  const double dt = 1 / settings_.views_per_second, size = scene_->scene.size();
  const Pose wanted = moved(spacemouse_pose_, {cap.push * (0.5 * size * dt), cap.turn * (1.5 * dt)});
  spacemouse_pose_ = glide(grip_of(*hand), wanted, 1, k_leash * size, k_leash_turn);
  hand->device->move(spacemouse_pose_, cap.buttons, 0);
  if (now - spacemouse_used_ > k_spacemouse_rest) release(*hand);
}

}  // namespace cotouch
