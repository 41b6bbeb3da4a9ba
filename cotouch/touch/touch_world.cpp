#include <cotouch/touch/touch_world.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_glide = 0.02;  // seconds in which a body that nobody here holds gets where the slower world has it
constexpr double k_drift = 0.1;   // seconds, one that a local hand holds

Pose towards(const Pose& from, const Pose& to, double share) {
  const Vec3d turn = rotation_vector(to.rotation * from.rotation.conjugate());
  return moved(from, {(to.position - from.position) * share, turn * share});
}

}  // namespace

// Levels that follow from the state are chosen without coherence: caches, nearly a megabyte a pair, would be of no use.
TouchWorld::TouchWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail)
    : model_(std::move(model)),
      state_(*model_),
      scratch_(*model_, detail.rule != Detail::Rule::by_state),
      detail_(detail) {
}

void TouchWorld::set_levels(std::span<const std::uint8_t> levels) noexcept {
  detail_.rule = Detail::Rule::exactly;
  detail_.levels = levels;
}

FollowedWorld::FollowedWorld(std::shared_ptr<const WorldModel> model, const StepDetail& detail)
    : TouchWorld(std::move(model), detail), checked_(state_), newest_(state_) {
}

bool FollowedWorld::follow(const WorldState& newest) noexcept {
  if (!checked_.restore(newest.bytes())) return false;
  newest_.write_in_place([&](WorldState& slot) { slot = checked_; });  // of the same size, so nothing is allocated
  return true;
}

void FollowedWorld::cycle(std::span<const HandInput> hands) noexcept {
  const WorldState& newest = newest_.read();
  const double tick = model_->settings().tick;
  for (std::size_t i = 0; i < state_.bodies().size(); ++i) {
    BodyRecord& body = state_.bodies()[i];
    const BodyRecord& there = newest.bodies()[i];
    const bool held = is_held(i), wanted = is_wanted(i, hands);
    const double share = std::min(1.0, tick / (held ? k_drift : k_glide));
    const Pose next = towards(body.pose, there.pose, share);
    body.velocity = (next.position - body.pose.position) / tick;
    body.spin = rotation_vector(next.rotation * body.pose.rotation.conjugate()) / tick;
    body.pose = next;
    body.clearance = there.clearance;
    // Nothing falls or is pushed here, the slower world does that: a body can move only while a hand here has it.
    body.motion = held || wanted ? there.motion : static_cast<double>(Motion::fixed);
  }
  step(*model_, state_, hands, scratch_, detail_);
}

bool FollowedWorld::is_held(std::size_t body) const noexcept {
  const std::span<const HandRecord> hands = state_.hands();
  return std::any_of(hands.begin(), hands.end(), [&](const HandRecord& hand) {
    return hand.present != 0 && hand.body == static_cast<double>(body);
  });
}

bool FollowedWorld::is_wanted(std::size_t body, std::span<const HandInput> hands) const noexcept {
  return std::any_of(hands.begin(), hands.end(), [&](const HandInput& hand) {
    return hand.present && hand.action == HandInput::Action::grasp && hand.body == model_->bodies()[body].id;
  });
}

}  // namespace cotouch
