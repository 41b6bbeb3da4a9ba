// A scene with everything in memory: prepared parts, where they are, which one moves, and how contact feels.
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/contact/part.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/touch/coupling.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

inline constexpr std::size_t k_max_parts = 16;

struct ScenePart {
  std::uint32_t id = 0;
  std::string name, color;  // "#rrggbb", or empty: see shown_color
  bool moving = false;      // in the hand
  bool removable = false;
  Pose pose;  // of a moving part: its start
  std::shared_ptr<const Part> part;
  std::shared_ptr<const TriangleMesh> picture;  // what is drawn: the part's mesh, divided or coarser
  bool decimated = false;
  std::shared_ptr<const ClosestTriangle> closest;  // to the picture
};

struct LoadedScene {
  std::string name, title, summary;
  bool editable = false;  // made of dropped parts: more may be added
  std::vector<ScenePart> parts;
  Moving moving = Moving::shell;  // what the part in the hand brings to the contact: its shell or its field
  double contact_stiffness = 1000;
  CouplingSettings coupling;
  std::vector<Pose> hand;  // key poses of a hand motion that makes the parts touch; may be empty
  double hand_speed = 0.05;

  const ScenePart* moving_part() const;
  const ScenePart* find(std::uint32_t id) const;
  // In world axes, parts at their start; a unit box around the origin where there are none.
  Box3d bounds() const;
  // Length of the bounds' diagonal: the yardstick for speeds and distances in this scene.
  double size() const;
  // Tells two scenes apart whose forces may differ.
  std::uint64_t content_hash() const;
};

// The colour of a part that has none of its own, "#rrggbb", by its role and its place among those of that role. Greys
// for what rests, cool colours for what moves, so that warm is free to mean near. Page and thumbnails both use it.
std::string_view palette_color(bool moving, std::size_t order);
std::string shown_color(const LoadedScene& scene, const ScenePart& part);

// Wraps a part for a scene, with a picture of at most `max_triangles`.
ScenePart make_scene_part(std::shared_ptr<const Part> part, std::size_t max_triangles = 200'000);

// A name as a heading: "ball-socket" becomes "Ball socket".
std::string scene_title(std::string_view name);

// Prepares a built-in scene, through the cache. Throws Error naming the scenes there are.
LoadedScene load_builtin_scene(std::string_view name, Progress& progress);

// Merges vertices that share a cell of a grid, the finest that leaves at most `max_triangles`. For the eye only.
TriangleMesh decimated(const TriangleMesh& mesh, std::size_t max_triangles);

}  // namespace cotouch
