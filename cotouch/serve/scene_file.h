// Scene files (`scene.toml`): which parts, where they are, which one is in the hand.
//
//   cotouch = 1                         # version of this format
//   name = "bracket"                    # letters, digits, - and _
//   title = "Bracket into housing"
//   summary = "One sentence for the gallery."
//   contact_stiffness = 1000.0          # N/m
//   max_force = 8.0                     # N
//   moving = "shell"                    # what the held part brings to the contact: "shell" or "field"
//
//   [[part]]
//   name = "housing"
//   asset = "housing.cot"               # prepared by `cotouch prepare`, or:
//   # mesh = "housing.stl"  unit = "mm"  resolution = 128  points = 16384
//   role = "static"                     # or "moving", for at most one part
//   position = [0.0, 0.0, 0.0]          # metres
//   rotation = [1.0, 0.0, 0.0, 0.0]     # w x y z
//   color = "#b8c4cc"
//
// Everything but `cotouch` and each part's `asset` or `mesh` may be left out. Files are named relative to the scene
// file and lie in its folder or below; a scene from a stranger can read nothing else.
#pragma once

#include <cotouch/serve/loaded_scene.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct SceneFilePart {
  std::string name, color;
  std::filesystem::path asset, mesh;  // one of the two
  std::string unit;                   // of a mesh; empty: what the file says
  PartSettings settings;              // of a mesh
  bool moving = false;
  Pose pose;
};

struct SceneFile {
  std::string name, title, summary;
  double contact_stiffness = 1000;
  double max_force = 8;
  Moving moving = Moving::shell;
  std::vector<SceneFilePart> parts;
};

// `source` is what messages call the file. Throws Error with one sentence: what is wrong and in which line or part.
SceneFile parse_scene_file(std::string_view text, const std::string& source);
std::string format_scene_file(const SceneFile& scene);

// Reads the file and its parts, preparing meshes through the cache.
LoadedScene load_scene_file(const std::filesystem::path& file, Progress& progress);
// Writes `folder`/scene.toml and the parts as assets beside it; returns the file's path.
std::filesystem::path save_scene(const LoadedScene& scene, const std::string& name,
                                 const std::filesystem::path& folder);

}  // namespace cotouch
