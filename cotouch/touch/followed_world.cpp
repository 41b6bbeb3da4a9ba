#include <cotouch/touch/followed_world.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_glide = 0.02;          // seconds in which what is not held here gets where the slower world has it
constexpr double k_drift = 0.1;           // seconds, what the local hand holds
constexpr double k_fastest_drift = 0.15;  // m/s, of any point
constexpr double k_fade = 0.1;            // seconds in which somebody's pull comes and goes
constexpr std::uint32_t k_disowned = 25;  // states; a grasp takes two or three to get there

// From one pose towards another: a share of the way, at most so far.
Pose towards(const Pose& from, const Pose& to, double share, double reach = 0, double longest = -1) {
  Vec6 motion{(to.position - from.position) * share, rotation_vector(to.rotation * from.rotation.conjugate()) * share};
  const double way = norm(motion.linear) + norm(motion.angular) * reach;
  if (longest >= 0 && way > longest) {
    motion.linear = motion.linear * (longest / way);
    motion.angular = motion.angular * (longest / way);
  }
  return moved(from, motion);
}

Vec3d shortened(const Vec3d& v, double longest) {
  const double length = norm(v);
  return length > longest ? v * (longest / length) : v;
}

// Farther and faster than anything gets, and far from where squares and sums overflow.
constexpr double k_largest_number = 1e10;  // buttons are 32 bits

bool are_small(const double* numbers, std::size_t count) noexcept {
  return std::all_of(numbers, numbers + count, [](double number) { return std::fabs(number) <= k_largest_number; });
}

// A world's step keeps what is beyond all measure finite; following it here would not.
bool is_within_reach(const WorldState& state) noexcept {
  const auto bodies = state.bodies();
  const auto hands = state.hands();
  return are_small(reinterpret_cast<const double*>(bodies.data()), bodies.size_bytes() / sizeof(double)) &&
         are_small(reinterpret_cast<const double*>(hands.data()), hands.size_bytes() / sizeof(double));
}

}  // namespace

HandInput shared_input(const LocalHand& hand, std::uint32_t told) noexcept {
  HandInput input = hand.input;
  input.action = HandInput::Action::none;
  input.body = 0;
  if (!input.present) return input;
  if (hand.body == 0) {
    input.action = HandInput::Action::release;
  } else if (hand.grasps != told) {
    input.action = HandInput::Action::grasp;
    input.body = hand.body;
    if (hand.goes_on) input.pose = hand.unpulled;
  }
  return input;
}

FollowedWorld::FollowedWorld(std::shared_ptr<const WorldModel> model, std::size_t self, const StepDetail& detail)
    : TouchWorld(std::move(model), detail),
      self_(self),
      checked_(state_),
      newest_({state_, 0}),
      inputs_(state_.hands().size()),
      others_(state_.hands().size()),
      own_(state_.hands().size()) {
  for (std::atomic<std::uint8_t>& hand : led_by_) hand.store(k_none);
  for (std::uint32_t i = 0; i < model_->bodies().size(); ++i)
    if (const ElasticModel* elastic = model_->elastic(i))
      bent_.push_back({i, 0, std::vector<double>(std::size_t{2} * elastic->size()), Deformation(*elastic)});
  if (self >= own_.size()) throw Error("The world that is followed has no such hand.", ErrorCode::invalid_argument);
  if (own_.size() > k_followed_hands)
    throw Error("A world with so many hands cannot be followed.", ErrorCode::invalid_argument);
}

bool FollowedWorld::follow(const WorldState& newest) noexcept {
  if (!checked_.restore(newest.bytes()) || !is_within_reach(checked_)) return false;
  ++fed_;
  newest_.write_in_place([&](Newest& slot) {
    slot.state = checked_;  // of the same size, so nothing is allocated
    slot.number = fed_;
  });
  return true;
}

void FollowedWorld::cycle(std::span<const HandInput> devices) noexcept {
  const Newest& newest = newest_.read();
  const bool fresh = std::exchange(seen_, newest.number) != newest.number;
  lead_hands(devices);
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (leads(i)) notice_state(i, newest, fresh);
  follow_bodies(newest.state);
  follow_bending(newest.state);
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (!leads(i)) follow_hand(i, others_record(i, newest));
    if (leads(i)) inputs_[i] = own_[i].input;
  }
  state_.head().task.done = 1;  // the step is not to judge it
  step(*model_, state_, inputs_, scratch_, detail_);
  lead_bending();
  show(newest);
  report();
}

std::size_t FollowedWorld::holder_of(std::size_t body) const noexcept {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const HandRecord& hand = state_.hands()[i];
    if (leads(i) && own_[i].input.action == HandInput::Action::none && hand.present != 0 &&
        hand.body == static_cast<double>(body))
      return i;
  }
  return k_no_hand;
}

bool FollowedWorld::wants(std::size_t body) const noexcept {
  return std::any_of(own_.begin(), own_.end(), [&](const Own& own) {
    return own.led && own.input.action == HandInput::Action::grasp && own.input.body == model_->bodies()[body].id;
  });
}

// Is a local hand's grasp known in the slower world? There it is made from a pose up to a tick later, so that its
// grip is a little different; that of here drifts to it.
void FollowedWorld::notice_state(std::size_t hand, const Newest& newest, bool fresh) noexcept {
  Own& own = own_[hand];
  HandRecord& here = state_.hands()[hand];
  const HandRecord& there = newest.state.hands()[hand];
  if (own.input.action != HandInput::Action::none || here.body < 0) {
    own.disowned = 0;
    own.goes_on = false;
    return;
  }
  if (there.present != 0 && there.body == here.body) {
    own.disowned = 0;
    own.goes_on = false;
    notice_grip(here, there);
    return;
  }
  own.disowned += fresh ? 1 : 0;
  if (own.disowned >= k_disowned) here.body = -1;
}

// A hand that holds a point of a body may hold another one there, a little beside: from then on it is that one here,
// too, and the frame of the grip stays where it is.
void FollowedWorld::notice_grip(HandRecord& here, const HandRecord& there) noexcept {
  if (here.point != there.point && here.point >= 0 && there.point >= 0) {
    here.grip = inverse(held_frame(here.body, there.point)) * held_frame(here.body, here.point) * here.grip;
    here.point = there.point;
  }
  here.grip = towards(here.grip, there.grip, std::min(1.0, model_->settings().tick / k_drift));
}

// The frame that a grip is in: the body's, or that of a point of it.
Pose FollowedWorld::held_frame(double body, double point) noexcept {
  const auto i = static_cast<std::uint32_t>(body);
  const Pose& pose = state_.bodies()[i].pose;
  const ElasticModel* const elastic = model_->elastic(i);
  if (elastic == nullptr || point < 0 || !(point < static_cast<double>(elastic->data().shell.size()))) return pose;
  Deformation& shape =
      std::find_if(bent_.begin(), bent_.end(), [i](const Bent& bent) { return bent.body == i; })->shape;
  shape.set(state_.bending().data() + model_->elastic_begin(i));
  const Piece& piece = model_->bodies()[i].pieces[0];
  const EmbeddedPoint& embedded = elastic->data().shell[static_cast<std::size_t>(point)];
  const Vec3d at = Vec3d(piece.part->shell.data().positions[static_cast<std::size_t>(point)]);
  return pose * piece.place * Pose{at + shape.displacement_at(embedded), shape.turn_at(embedded)};
}

// In the last cycle.
bool FollowedWorld::touches_what_is_held(std::uint32_t body) const noexcept {
  if (scratch_.body_stats(body).in_contact == 0) return false;
  for (std::size_t k = 0; k < model_->pairs().size(); ++k) {
    const PairModel& pair = model_->pairs()[k];
    if (pair.shell_body != body && pair.field_body != body) continue;
    const std::uint32_t other = pair.shell_body == body ? pair.field_body : pair.shell_body;
    if (holds(other) && scratch_.body_stats(other).in_contact > 0 && scratch_.contact(k).stats.in_contact > 0)
      return true;
  }
  return false;
}

bool FollowedWorld::bends_here(double body) const noexcept {
  return std::any_of(bent_.begin(), bent_.end(),
                     [&](const Bent& bent) { return bent.local > 0 && static_cast<double>(bent.body) == body; });
}

void FollowedWorld::follow_bending(const WorldState& newest) noexcept {
  const double tick = model_->settings().tick;
  for (Bent& bent : bent_) {
    const std::uint32_t i = bent.body;
    const ElasticModel& elastic = *model_->elastic(i);
    const std::size_t size = elastic.size();
    const bool felt = holds(i) || wants(i) || touches_what_is_held(i);
    bent.local = felt ? 1 : std::max(0.0, bent.local - tick / k_fade);
    double* const q = state_.bending().data() + model_->elastic_begin(i);
    const double* const there = newest.bending().data() + model_->elastic_begin(i);
    const double share = std::min(1.0, tick / (k_glide + (k_drift - k_glide) * bent.local));
    std::array<double, k_most_coordinates> way;
    for (std::size_t j = 0; j < size; ++j) way[j] = (there[j] - q[j]) * share;
    const double longest = elastic.largest_move(way.data()), most = k_fastest_drift * tick;
    const double scale = bent.local > 0 && longest > most ? most / longest : 1;
    for (std::size_t j = 0; j < size; ++j) {
      q[j] += way[j] * scale;
      q[size + j] += (way[j] * scale / tick - q[size + j]) * (1 - bent.local);
    }
    std::copy(q, q + 2 * size, bent.target.begin());
  }
}

// The step bends everything; what is not felt stays where it was led.
void FollowedWorld::lead_bending() noexcept {
  for (const Bent& bent : bent_) {
    if (bent.local >= 1) continue;
    double* const q = state_.bending().data() + model_->elastic_begin(bent.body);
    for (std::size_t j = 0; j < bent.target.size(); ++j) q[j] = bent.target[j] + (q[j] - bent.target[j]) * bent.local;
  }
}

// The slower world has a local hand where it was some milliseconds ago, and so the body in it. What counts is
// therefore how that body lies to that hand: compared with where the body is now, it would be held back whenever the
// hand moves.
Pose FollowedWorld::drifted(std::size_t i, std::size_t holder, const WorldState& newest) const noexcept {
  const double tick = model_->settings().tick;
  const HandRecord& hand = newest.hands()[holder];
  Pose target = newest.bodies()[i].pose;
  if (hand.present != 0 && hand.body == static_cast<double>(i))
    target = own_[holder].input.pose * (inverse(hand.pose) * target);
  return towards(state_.bodies()[i].pose, target, std::min(1.0, tick / k_drift),
                 model_->reach(static_cast<std::uint32_t>(i)), k_fastest_drift * tick);
}

void FollowedWorld::follow_bodies(const WorldState& newest) noexcept {
  const double tick = model_->settings().tick;
  for (std::size_t i = 0; i < state_.bodies().size(); ++i) {
    BodyRecord& body = state_.bodies()[i];
    const BodyRecord& there = newest.bodies()[i];
    const bool free = there.motion == static_cast<double>(Motion::free);
    body.clearance = there.clearance;
    if (const std::size_t holder = holder_of(i); free && holder != k_no_hand) {
      body.pose = drifted(i, holder, newest);
      body.motion = there.motion;
      continue;
    }
    const Pose next = towards(body.pose, there.pose, std::min(1.0, tick / k_glide));
    const Vec3d& center = model_->bodies()[i].mass.center;
    body.velocity = (transform(next, center) - transform(body.pose, center)) / tick;
    body.spin = rotation_vector(next.rotation * body.pose.rotation.conjugate()) / tick;
    body.pose = next;
    // Nothing falls or is pushed here, the slower world does that: a body moves by itself only in a local hand.
    body.motion = static_cast<double>(Motion::fixed);
    if (!wants(i)) continue;
    body.motion = there.motion;
    body.velocity = there.velocity;
    body.spin = there.spin;
  }
}

// While only a share of somebody's pull is felt: as if their hand were that much nearer to where it has the body. What
// is beyond the spring's largest pull adds nothing, so it does not count.
Pose FollowedWorld::pulling_pose(const Other& other) noexcept {
  if (other.share >= 1) return other.pose;
  const CouplingSettings& coupling = model_->settings().coupling;
  const Pose at = held_frame(other.body, other.point) * other.grip;
  const Vec3d way = shortened(other.pose.position - at.position, 1.25 * coupling.max_force / coupling.linear_stiffness);
  const Vec3d turn = shortened(rotation_vector(other.pose.rotation * at.rotation.conjugate()),
                               1.25 * coupling.max_torque / coupling.angular_stiffness);
  return moved(at, {way * other.share, turn * other.share});
}

// A hand that was led here a moment ago is not somebody else's yet.
HandRecord FollowedWorld::others_record(std::size_t hand, const Newest& newest) const noexcept {
  return newest.number < own_[hand].ours_until ? HandRecord{} : newest.state.hands()[hand];
}

void FollowedWorld::follow_hand(std::size_t hand, const HandRecord& there) noexcept {
  Other& other = others_[hand];
  const double tick = model_->settings().tick, glide = std::min(1.0, tick / k_glide);
  if (there.present != 0) other.pose = other.present ? towards(other.pose, there.pose, glide) : there.pose;
  other.present = there.present != 0;

  const double body = other.present ? there.body : -1;
  const double point = body >= 0 ? there.point : -1;
  if (other.share <= 0 && (other.body != body || other.point != point)) {
    other.body = body;
    other.point = point;
    other.grip = there.grip;
  }
  const bool same = other.body >= 0 && other.body == body && other.point == point;
  other.share = std::clamp(other.share + (same ? tick : -tick) / k_fade, 0.0, 1.0);
  if (same) other.grip = towards(other.grip, there.grip, glide);

  // For the step there are only those who pull at what can move here.
  const bool pulls = other.body >= 0 && (holds(static_cast<std::size_t>(other.body)) ||
                                         wants(static_cast<std::size_t>(other.body)) || bends_here(other.body));
  HandRecord& record = state_.hands()[hand];
  record = {};
  inputs_[hand] = {};
  if (pulls) {
    record.present = other.pulls ? 1 : 0;
    record.pose = other.pulled_from;
    record.velocity = other.velocity;
    record.body = other.body;
    record.grip = other.grip;
    record.point = other.point;
    inputs_[hand].present = true;
    inputs_[hand].pose = pulling_pose(other);
  }
  other.pulls = pulls;
}

// The state after the step, for those who look at it: what is the slower world's to say is as it says.
void FollowedWorld::show(const Newest& newest) noexcept {
  const WorldState& there = newest.state;
  state_.head().task = there.head().task;
  for (std::size_t i = 0; i < state_.bodies().size(); ++i) state_.bodies()[i].motion = there.bodies()[i].motion;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (leads(i)) continue;
    HandRecord& record = state_.hands()[i];
    others_[i].pulled_from = record.pose;
    others_[i].velocity = record.velocity;
    record = others_record(i, newest);
    if (others_[i].present) record.pose = others_[i].pose;
  }
}

void FollowedWorld::report() noexcept {
  for (std::size_t i = 0; i < own_.size(); ++i) {
    LocalHand& local = told_[i];
    local.input = leads(i) ? own_[i].input : HandInput{};
    const HandRecord& hand = state_.hands()[i];
    const bool holds = leads(i) && hand.present != 0 && hand.body >= 0;
    local.grasps += holds && local.input.action == HandInput::Action::grasp ? 1 : 0;
    local.body = holds ? model_->bodies()[static_cast<std::size_t>(hand.body)].id : 0;
    local.goes_on = holds && own_[i].goes_on;
    if (local.goes_on) local.unpulled = held_frame(hand.body, hand.point) * hand.grip;
  }
  local_.write(told_);
}

}  // namespace cotouch
