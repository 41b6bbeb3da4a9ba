#include <cotouch/touch/followed_world.h>

#include <cotouch/base/error.h>

#include <algorithm>

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
  }
  return input;
}

FollowedWorld::FollowedWorld(std::shared_ptr<const WorldModel> model, std::size_t self, const StepDetail& detail)
    : TouchWorld(std::move(model), detail),
      self_(self),
      checked_(state_),
      newest_({state_, 0}),
      inputs_(state_.hands().size()),
      others_(state_.hands().size()) {
  if (self >= others_.size()) throw Error("The world that is followed has no such hand.", ErrorCode::invalid_argument);
}

bool FollowedWorld::follow(const WorldState& newest) noexcept {
  if (!checked_.restore(newest.bytes())) return false;
  ++fed_;
  newest_.write_in_place([&](Newest& slot) {
    slot.state = checked_;  // of the same size, so nothing is allocated
    slot.number = fed_;
  });
  return true;
}

void FollowedWorld::cycle(std::span<const HandInput> devices) noexcept {
  const Newest& newest = newest_.read();
  const HandInput own = devices.empty() ? HandInput{} : devices.front();
  notice_state(newest, own);
  follow_bodies(newest.state, own);
  for (std::size_t i = 0; i < others_.size(); ++i)
    if (i != self_) follow_hand(i, newest.state.hands()[i], own);
  inputs_[self_] = own;
  state_.head().task.done = 1;  // the step is not to judge it
  step(*model_, state_, inputs_, scratch_, detail_);
  show(newest.state);
  report(own);
}

bool FollowedWorld::holds(std::size_t body, const HandInput& own) const noexcept {
  const HandRecord& hand = state_.hands()[self_];
  return own.present && own.action == HandInput::Action::none && hand.present != 0 &&
         hand.body == static_cast<double>(body);
}

bool FollowedWorld::wants(std::size_t body, const HandInput& own) const noexcept {
  return own.present && own.action == HandInput::Action::grasp && own.body == model_->bodies()[body].id;
}

// Is the local hand's grasp known in the slower world? There it is made from a pose up to a tick later, so that its
// grip is a little different; that of here drifts to it.
void FollowedWorld::notice_state(const Newest& newest, const HandInput& own) noexcept {
  const bool fresh = newest.number != seen_;
  seen_ = newest.number;
  HandRecord& here = state_.hands()[self_];
  const HandRecord& there = newest.state.hands()[self_];
  if (!own.present || own.action != HandInput::Action::none || here.body < 0) {
    disowned_ = 0;
    return;
  }
  if (there.present != 0 && there.body == here.body) {
    disowned_ = 0;
    here.grip = towards(here.grip, there.grip, std::min(1.0, model_->settings().tick / k_drift));
    return;
  }
  disowned_ += fresh ? 1 : 0;
  if (disowned_ >= k_disowned) here.body = -1;
}

// The slower world has the local hand where it was some milliseconds ago, and so the body in it. What counts is
// therefore how that body lies to that hand: compared with where the body is now, it would be held back whenever the
// hand moves.
Pose FollowedWorld::drifted(std::size_t i, const WorldState& newest, const HandInput& own) const noexcept {
  const double tick = model_->settings().tick;
  const HandRecord& hand = newest.hands()[self_];
  Pose target = newest.bodies()[i].pose;
  if (hand.present != 0 && hand.body == static_cast<double>(i)) target = own.pose * (inverse(hand.pose) * target);
  return towards(state_.bodies()[i].pose, target, std::min(1.0, tick / k_drift),
                 model_->reach(static_cast<std::uint32_t>(i)), k_fastest_drift * tick);
}

void FollowedWorld::follow_bodies(const WorldState& newest, const HandInput& own) noexcept {
  const double tick = model_->settings().tick;
  for (std::size_t i = 0; i < state_.bodies().size(); ++i) {
    BodyRecord& body = state_.bodies()[i];
    const BodyRecord& there = newest.bodies()[i];
    const bool free = there.motion == static_cast<double>(Motion::free);
    body.clearance = there.clearance;
    if (free && holds(i, own)) {
      body.pose = drifted(i, newest, own);
      body.motion = there.motion;
      continue;
    }
    const Pose next = towards(body.pose, there.pose, std::min(1.0, tick / k_glide));
    const Vec3d& center = model_->bodies()[i].mass.center;
    body.velocity = (transform(next, center) - transform(body.pose, center)) / tick;
    body.spin = rotation_vector(next.rotation * body.pose.rotation.conjugate()) / tick;
    body.pose = next;
    // Nothing falls or is pushed here, the slower world does that: a body moves by itself only in the local hand.
    body.motion = static_cast<double>(Motion::fixed);
    if (!wants(i, own)) continue;
    body.motion = there.motion;
    body.velocity = there.velocity;
    body.spin = there.spin;
  }
}

// While only a share of somebody's pull is felt: as if their hand were that much nearer to where it has the body. What
// is beyond the spring's largest pull adds nothing, so it does not count.
Pose FollowedWorld::pulling_pose(const Other& other) const noexcept {
  if (other.share >= 1) return other.pose;
  const CouplingSettings& coupling = model_->settings().coupling;
  const Pose at = state_.bodies()[static_cast<std::size_t>(other.body)].pose * other.grip;
  const Vec3d way = shortened(other.pose.position - at.position, 1.25 * coupling.max_force / coupling.linear_stiffness);
  const Vec3d turn = shortened(rotation_vector(other.pose.rotation * at.rotation.conjugate()),
                               1.25 * coupling.max_torque / coupling.angular_stiffness);
  return moved(at, {way * other.share, turn * other.share});
}

void FollowedWorld::follow_hand(std::size_t hand, const HandRecord& there, const HandInput& own) noexcept {
  Other& other = others_[hand];
  const double tick = model_->settings().tick, glide = std::min(1.0, tick / k_glide);
  if (there.present != 0) other.pose = other.present ? towards(other.pose, there.pose, glide) : there.pose;
  other.present = there.present != 0;

  const double body = other.present ? there.body : -1;
  if (other.share <= 0 && other.body != body) {
    other.body = body;
    other.grip = there.grip;
  }
  const bool same = other.body >= 0 && other.body == body;
  other.share = std::clamp(other.share + (same ? tick : -tick) / k_fade, 0.0, 1.0);
  if (same) other.grip = towards(other.grip, there.grip, glide);

  // For the step there are only those who pull at what can move here.
  const bool pulls = other.body >= 0 && (holds(static_cast<std::size_t>(other.body), own) ||
                                         wants(static_cast<std::size_t>(other.body), own));
  HandRecord& record = state_.hands()[hand];
  record = {};
  inputs_[hand] = {};
  if (pulls) {
    record.present = other.pulls ? 1 : 0;
    record.pose = other.pulled_from;
    record.velocity = other.velocity;
    record.body = other.body;
    record.grip = other.grip;
    inputs_[hand].present = true;
    inputs_[hand].pose = pulling_pose(other);
  }
  other.pulls = pulls;
}

// The state after the step, for those who look at it: what is the slower world's to say is as it says.
void FollowedWorld::show(const WorldState& newest) noexcept {
  state_.head().task = newest.head().task;
  for (std::size_t i = 0; i < state_.bodies().size(); ++i) state_.bodies()[i].motion = newest.bodies()[i].motion;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (i == self_) continue;
    HandRecord& record = state_.hands()[i];
    others_[i].pulled_from = record.pose;
    others_[i].velocity = record.velocity;
    record = newest.hands()[i];
    if (others_[i].present) record.pose = others_[i].pose;
  }
}

void FollowedWorld::report(const HandInput& own) noexcept {
  const HandRecord& hand = state_.hands()[self_];
  const bool holds = hand.present != 0 && hand.body >= 0;
  own_.input = own;
  own_.grasps += holds && own.action == HandInput::Action::grasp ? 1 : 0;
  own_.body = holds ? model_->bodies()[static_cast<std::size_t>(hand.body)].id : 0;
  local_.write(own_);
}

}  // namespace cotouch
