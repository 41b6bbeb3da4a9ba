// Scenes as users name them on the command line.
#pragma once

#include <cotouch/session/running_world.h>
#include <cotouch/session/scene_library.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace cotouch {

// Whether the word names a file: scene.toml, or a folder that has one. Otherwise it is a scene's name.
bool names_scene_file(const std::string& wanted);

// A scene's name ("unsaved": the newest of what was not saved), a scene file or its folder; empty: the first built-in
// scene. Prepared. Throws Error.
Scene load_scene(const std::string& wanted, FolderLibrary& library, Progress& progress);
// The same for a session that goes on with it, and keeps it where it came from if it was not saved.
struct OpenedScene {
  Scene scene;
  std::shared_ptr<UnsavedPlace> place;  // null: it was saved, is a file somewhere, or open in another session
};
OpenedScene open_scene(const std::string& wanted, FolderLibrary& library, Progress& progress);
// Where a recording or a journal was made, and what it says about it.
struct MadeIn {
  std::filesystem::path file;
  std::string scene;        // as the user names it; empty: by the name that the file has
  std::string description;  // format_recorded_scene
  std::uint64_t model_hash = 0;
  std::string folder;  // of a scene that came from the session; empty: it did not
};
// Where a scene that came from a session is, if it still is.
std::optional<std::filesystem::path> received_scene(const std::string& folder);
// Both throw Error with the file, the scene and the cure.
Scene load_scene_of(const MadeIn& made, Progress& progress);
std::shared_ptr<const WorldModel> model_of(const MadeIn& made, const Scene& scene);

}  // namespace cotouch
