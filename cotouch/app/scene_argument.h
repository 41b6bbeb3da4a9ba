// Scenes as users name them on the command line.
#pragma once

#include <cotouch/session/scene_library.h>

#include <string>

namespace cotouch {

// Whether the word names a file: scene.toml, or a folder that has one. Otherwise it is a scene's name.
bool names_scene_file(const std::string& wanted);

// A scene's name, a scene file or its folder; empty: the first built-in scene. Prepared. Throws Error.
Scene load_scene(const std::string& wanted, FolderLibrary& library, Progress& progress);

}  // namespace cotouch
