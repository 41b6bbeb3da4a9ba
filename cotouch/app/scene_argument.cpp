#include <cotouch/app/scene_argument.h>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

bool is_scene_folder(const std::string& wanted) {
  std::error_code error;
  return !wanted.empty() && fs::is_regular_file(fs::path(wanted) / "scene.toml", error);
}

}  // namespace

bool names_scene_file(const std::string& wanted) {
  return wanted.ends_with(".toml") || is_scene_folder(wanted);
}

Scene load_scene(const std::string& wanted, FolderLibrary& library, Progress& progress) {
  if (wanted.ends_with(".toml")) return library.load_file(wanted, progress);
  if (is_scene_folder(wanted)) return library.load_file(fs::path(wanted) / "scene.toml", progress);
  return library.load(wanted.empty() ? builtin_scene_names().front() : wanted, progress);
}

}  // namespace cotouch
