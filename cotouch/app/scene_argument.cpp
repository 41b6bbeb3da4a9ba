#include <cotouch/app/scene_argument.h>
#include <cotouch/app/web_folder.h>
#include <cotouch/base/error.h>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

bool is_scene_folder(const std::string& wanted) {
  std::error_code error;
  return !wanted.empty() && fs::is_regular_file(fs::path(wanted) / "scene.toml", error);
}

std::string scene_name(const std::string& wanted, const FolderLibrary& library) {
  const std::vector<std::string> unsaved = library.unsaved();
  return wanted == k_unsaved_scene && !unsaved.empty() ? unsaved.front() : wanted;
}

Scene load_named(const std::string& name, FolderLibrary& library, Progress& progress) {
  try {
    return library.load(name.empty() ? builtin_scene_names().front() : name, progress);
  } catch (const Error& error) {
    std::error_code ignored;
    if (error.code() != ErrorCode::not_found || !fs::is_directory(name, ignored)) throw;
    throw Error("The folder " + name + " has no scene.toml; name the folder of a scene, or a scene.",
                ErrorCode::not_found);
  }
}

}  // namespace

bool names_scene_file(const std::string& wanted) {
  return wanted.ends_with(".toml") || is_scene_folder(wanted);
}

Scene load_scene(const std::string& wanted, FolderLibrary& library, Progress& progress) {
  if (wanted.ends_with(".toml")) return library.load_file(wanted, progress);
  if (is_scene_folder(wanted)) return library.load_file(fs::path(wanted) / "scene.toml", progress);
  return load_named(scene_name(wanted, library), library, progress);
}

OpenedScene open_scene(const std::string& wanted, FolderLibrary& library, Progress& progress) {
  if (names_scene_file(wanted)) return {load_scene(wanted, library, progress), nullptr};
  // Asked once: another program may keep something newer at any time, and what is claimed must be what is loaded.
  const std::string name = scene_name(wanted, library);
  std::shared_ptr<UnsavedPlace> place = library.claim_unsaved(name);
  return {load_named(name, library, progress), std::move(place)};
}

std::optional<fs::path> received_scene(const std::string& folder) {
  // The name may be a stranger's.
  if (folder.empty() || folder.find_first_not_of("0123456789abcdef") != std::string::npos) return {};
  const fs::path file = state_folder() / "received" / folder / "scene.toml";
  std::error_code error;
  return fs::is_regular_file(file, error) ? std::optional(file) : std::nullopt;
}

Scene load_scene_of(const MadeIn& made, Progress& progress) {
  FolderLibrary library(state_folder() / "scenes", nullptr);
  if (!made.scene.empty()) return load_scene(made.scene, library, progress);
  if (const auto file = received_scene(made.folder)) return library.load_file(*file, progress);
  const std::string name = parse_recorded_scene(made.description).name;
  const std::string cure = "; say where it is with --scene FILE or --scene NAME.";
  if (name.empty())
    throw Error(made.file.string() + " was recorded in a scene without a name" + cure, ErrorCode::not_found);
  try {
    return library.load(name, progress);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    throw Error(made.file.string() + " was recorded in the scene '" + name + "', which cannot be opened here" + cure +
                    " " + error.what(),
                ErrorCode::not_found);
  }
}

std::shared_ptr<const WorldModel> model_of(const MadeIn& made, const Scene& scene) {
  try {
    return recorded_model(made.description, made.model_hash, scene);
  } catch (const Error& error) {
    const std::string name = made.scene.empty() ? scene.name : made.scene;
    throw Error(made.file.string() + " was not recorded in the scene '" + name + "' as it is here: " + error.what() +
                    " Name the right one with --scene FILE or --scene NAME.",
                error.code());
  }
}

}  // namespace cotouch
