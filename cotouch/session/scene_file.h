// Scene files (`scene.toml`): bodies, what they are made of, how they move, and the numbers of their world.
// docs/scenes.md explains every key. A small one:
//
//   cotouch = 2                         # version of this format
//   name = "bracket"                    # letters, digits, - and _
//   gravity = 9.81                      # m/s^2 downwards, or [x, y, z]
//
//   [[body]]
//   name = "housing"
//     [[body.part]]
//     asset = "housing.cot"             # prepared by `cotouch prepare`
//
//   [[body]]
//   name = "bracket"
//   motion = "free"                     # or "fixed", "path"
//   position = [0.0, 0.0, 0.1]          # metres
//     [[body.part]]
//     mesh = "bracket.stl"
//     unit = "mm"
//
// Everything but `cotouch` and each part's `asset` or `mesh` may be left out. Files are named relative to the scene
// file and lie in its folder or below; a scene from a stranger can read nothing else.
//
// Files of version 1, a list of parts of which one may be in the hand, are still read: their parts become bodies.
#pragma once

#include <cotouch/world/scene.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

constexpr std::size_t k_most_scene_bodies = 64;
constexpr std::size_t k_most_body_parts = 16;
constexpr std::size_t k_most_scene_parts = 128;                           // of all bodies together
constexpr std::size_t k_most_scene_hands = 8;                             // that show the scene
constexpr std::uint32_t k_fewest_tets = 20, k_most_scene_tets = 200'000;  // that a part may ask for
constexpr double k_farthest_position = 1000;                              // metres from the origin, of anything

// Where a part comes from: one of the two files.
struct PartSource {
  std::filesystem::path asset, mesh;
  std::string unit;  // of a mesh; empty: what the file says, or a guess
  std::string up;    // its axis that points up, "x", "y" or "z"; empty: what the file says, or z
};

struct SceneFile {
  Scene scene;                                   // its parts have neither mesh nor prepared part yet
  std::vector<std::vector<PartSource>> sources;  // of each body's parts, in their order
};

// `source` is what messages call the file. Throws Error with one sentence: what is wrong and in which line or body.
SceneFile parse_scene_file(std::string_view text, const std::string& source);
// The same with sentences that begin with `refusal`.
SceneFile parse_scene_text(std::string_view text, const std::string& refusal);
// Always of the newest version. Bodies are numbered in their order.
std::string format_scene_file(const SceneFile& file);

// Degrees, as users write them, are radians inside; not every number of radians has degrees that give it back exactly.
double radians_of_degrees(double degrees);

// Reads the file and its parts, preparing meshes through the cache. Parts made from the same file are shared.
Scene load_scene_file(const std::filesystem::path& file, Progress& progress);
// What to do if there is a scene in the folder already. Asked and answered in one: two who save at the same time do not
// both find none.
enum class Replacing : std::uint8_t { refused, wanted };

// Writes `folder`/scene.toml and the parts, which must be prepared, as assets beside it; returns the file's path. The
// scene is there whole or not at all, also over an old one, however the program ends: parts are named by their content
// and written first, scene.toml is replaced in one step, and only then what nothing names any more is removed. Two who
// save into the same folder do so one after the other. `thumbnail` is a PNG file's bytes, may be empty, and is not part
// of that promise. Throws Error, with the code `exists` if that is why.
std::filesystem::path save_scene(const Scene& scene, const std::string& name, const std::filesystem::path& folder,
                                 Replacing replacing = Replacing::wanted, std::string_view thumbnail = {});

}  // namespace cotouch
