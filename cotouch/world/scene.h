// Built-in scenes: two parts, where they start, and a hand motion that makes them touch. All procedural, all
// reproducible.
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/contact/part.h>

#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct SceneDescription {
  std::string name;
  std::string summary;      // one sentence for the gallery
  TriangleMesh shell_mesh;  // becomes the pointshell
  TriangleMesh field_mesh;  // becomes the distance field
  PartSettings shell_settings, field_settings;
  Moving moving = Moving::field;
  Pose static_pose;          // of the body that stays
  std::vector<Pose> hand;    // key poses of the moving body, reached one after another at `hand_speed`
  double hand_speed = 0.05;  // metres per second along the path
};

std::vector<std::string> builtin_scene_names();
// Throws Error naming the scenes there are.
SceneDescription builtin_scene(std::string_view name);

}  // namespace cotouch
