// What a hand that is somewhere in a scene takes hold of.
#pragma once

#include <cotouch/session/participant.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/state.h>

#include <optional>

namespace cotouch {

inline constexpr double k_hand_reach = 0.1;  // of the scene's size

struct Reached {
  BodyId body = 0;
  Vec3d point;          // where the hand is, in the body's frame
  double distance = 0;  // from its surface, metres; negative inside of a part with a field
};

// The body whose surface is nearest to `at`, of those that can be held and are within k_hand_reach; none if there is no
// such body. What bends counts as it is at rest. `state` is of the scene's world.
std::optional<Reached> nearest_body(const Scene& scene, const WorldState& state, const Vec3d& at);

// The body that is taken by a device that is nowhere yet: the one that the scene's own hand motion is about, or the
// first that can be taken; 0: none.
BodyId first_body(const Scene& scene);

}  // namespace cotouch
