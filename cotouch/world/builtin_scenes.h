// The inside of the built-in scenes: those of one hand (builtin_scenes.cpp), those with gravity and many free bodies
// (builtin_worlds.cpp) and those in which something bends (builtin_elastic.cpp).
#pragma once

#include <cotouch/world/scene.h>

namespace cotouch {

Scene stack_scene();
Scene docking_scene();
Scene assembly_scene();
Scene billiard_scene();

Scene hoses_scene();
Scene soft_bridge_scene();
Scene soft_soft_scene();
Scene soft_bar_scene();
Scene snap_clip_scene();

Pose at(const Vec3d& position, const Vec3d& rotation = {});

// Fine enough to feel every feature of the scene, small enough to be prepared in a few seconds.
PartSettings part_settings(int resolution, std::uint32_t points);

// Bodies that share a mesh share the prepared part.
inline std::shared_ptr<const TriangleMesh> shared(TriangleMesh mesh) {
  return std::make_shared<const TriangleMesh>(std::move(mesh));
}

// Fixed, at the origin, of one part.
SceneBody body_of(std::uint32_t id, std::string name, std::shared_ptr<const TriangleMesh> mesh,
                  const PartSettings& settings);

}  // namespace cotouch
