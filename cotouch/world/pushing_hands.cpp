#include <cotouch/world/pushing_hands.h>

namespace cotouch {

std::vector<HandScript> pushing_hands(const Scene& scene) {
  if (!scene.scripts.empty()) return scene.scripts;
  std::vector<const SceneBody*> free;
  for (const SceneBody& body : scene.bodies)
    if (body.motion == Motion::free) free.push_back(&body);
  std::vector<HandScript> scripts;
  for (std::size_t i = 0; i + 1 < free.size() && i < 2; ++i) {
    const Quat turned = quat_from_rotation_vector({0.1, 0.2, 0.3}) * free[i]->pose.rotation;
    scripts.push_back({free[i]->id, {free[i]->pose, {free[i + 1]->pose.position, turned}, free[i]->pose}});
  }
  return scripts;
}

}  // namespace cotouch
