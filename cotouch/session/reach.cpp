#include <cotouch/session/reach.h>

#include <cotouch/mesh/closest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cotouch {
namespace {

// A part that was prepared for an engine that does without a field is as far as the nearest of its triangles: asked
// once when somebody takes hold, so a tree of them would cost more than it saves.
double distance_from(const Part& part, const Vec3d& at) {
  if (!part.field.data().brick_index.empty()) return static_cast<double>(part.field.distance(Vec3f(at)));
  double squared = std::numeric_limits<double>::infinity();
  const std::vector<Vec3d>& corners = part.mesh.vertices;
  for (const Triangle& t : part.mesh.triangles)
    squared = std::min(squared, closest_on_triangle(at, corners[t[0]], corners[t[1]], corners[t[2]]).distance_squared);
  return std::sqrt(squared);
}

}  // namespace

std::optional<Reached> nearest_body(const Scene& scene, const WorldState& state, const Vec3d& at) {
  std::optional<Reached> nearest;
  const double reach = k_hand_reach * scene.size();
  for (std::size_t i = 0; i < std::min(scene.bodies.size(), state.bodies().size()); ++i) {
    const SceneBody& body = scene.bodies[i];
    if (!can_be_held(body)) continue;
    const Pose& pose = state.bodies()[i].pose;
    for (const ScenePart& part : body.parts) {
      const double distance = distance_from(*part.part, transform(inverse(pose * part.place), at));
      if (!(distance <= reach) || (nearest && distance >= nearest->distance)) continue;
      nearest = Reached{body.id, transform(inverse(pose), at), distance};
    }
  }
  return nearest;
}

BodyId first_body(const Scene& scene) {
  if (!scene.scripts.empty()) return scene.scripts.front().body;
  const auto found = std::find_if(scene.bodies.begin(), scene.bodies.end(), can_be_held);
  return found == scene.bodies.end() ? 0 : found->id;
}

}  // namespace cotouch
