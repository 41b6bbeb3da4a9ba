#include <cotouch/session/scene_library.h>

#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/session/names.h>
#include <cotouch/session/shown_scene.h>
#include <cotouch/world/scene.h>

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <iterator>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_saved = 200;
constexpr std::size_t k_largest_scene_file = 1U << 20, k_largest_thumbnail = 16U << 20;

// Every part where it stands at the start.
std::vector<FolderLibrary::Placed> placed_parts(const Scene& scene) {
  std::vector<FolderLibrary::Placed> placed;
  std::size_t still = 0, moving = 0;
  for (const SceneBody& body : scene.bodies)
    for (const ScenePart& part : body.parts) {
      const bool moves = body.motion != Motion::fixed;
      const std::size_t order = moves ? moving++ : still++;
      const TriangleMesh* mesh = part.part ? &part.part->mesh : part.mesh.get();
      if (mesh != nullptr)
        placed.push_back(
            {mesh, body.pose * part.place, part.color.empty() ? std::string(palette_color(moves, order)) : part.color});
    }
  return placed;
}

// ", 31 Jan 10:15"; empty if that is not known.
std::string when_written(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  std::tm local{};
  localtime_r(&status.st_mtime, &local);
  char text[32];
  return std::strftime(text, sizeof text, ", %d %b %H:%M", &local) > 0 ? text : "";
}

}  // namespace

bool FolderLibrary::is_builtin(const std::string& name) const {
  const std::vector<std::string> names = builtin_scene_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<SceneEntry> FolderLibrary::list() {
  const std::scoped_lock lock(mutex_);
  if (builtin_.empty())
    for (const std::string& name : builtin_scene_names()) {
      const Scene scene = builtin_scene(name);
      builtin_.push_back({name, scene_title(name), scene.summary, false, false, static_cast<bool>(draw_)});
    }
  std::vector<SceneEntry> entries = builtin_;
  for (const std::string& name : unsaved_.names())
    if (std::optional<SceneEntry> unsaved = entry(name)) entries.push_back(std::move(*unsaved));
  std::vector<SceneEntry> saved;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!is_identifier(name) || is_builtin(name) || is_unsaved(name) || saved.size() >= k_most_saved) continue;
    if (std::optional<SceneEntry> one = entry(name)) saved.push_back(std::move(*one));
  }
  std::sort(saved.begin(), saved.end(), [](const SceneEntry& a, const SceneEntry& b) { return a.name < b.name; });
  entries.insert(entries.end(), saved.begin(), saved.end());
  return entries;
}

// None if that is not a scene any more: opening it by name says why.
std::optional<SceneEntry> FolderLibrary::entry(const std::string& name) const {
  try {
    const Scene scene = parse_scene_file(read_text(scene_file(name), k_largest_scene_file), name).scene;
    std::error_code error;
    SceneEntry one{name, scene.title.empty() ? name : scene.title, scene.summary, true, is_unsaved(name), false};
    one.thumbnail = fs::exists(folder_ / name / "thumbnail.png", error);
    if (one.unsaved) one.title = "Unsaved: " + one.title + when_written(scene_file(name));
    return one;
  } catch (const Error&) {
    return std::nullopt;
  }
}

Scene FolderLibrary::load(const std::string& name, Progress& progress) {
  std::error_code error;
  if (is_builtin(name)) {
    Scene scene = builtin_scene(name);
    prepare(scene, progress);
    return scene;
  }
  if (!is_identifier(name) || !fs::exists(scene_file(name), error)) {
    std::string names;
    for (const SceneEntry& entry : list()) names += (names.empty() ? "" : ", ") + entry.name;
    throw Error("There is no scene '" + name + "', neither built in nor saved. There are: " + names + ".",
                ErrorCode::not_found);
  }
  Scene scene = load_scene_file(scene_file(name), progress);
  // What is kept under this name changes; a recording needs a scene that does not.
  scene.name = is_unsaved(name) ? "" : name;
  return scene;
}

Scene FolderLibrary::load_file(const fs::path& file, Progress& progress) {
  Scene scene = load_scene_file(file, progress);
  std::error_code error;
  const std::string folder = fs::absolute(file).parent_path().filename().string();
  scene.name =
      is_identifier(folder) && !is_unsaved(folder) && fs::equivalent(file, scene_file(folder), error) ? folder : "";
  return scene;
}

void FolderLibrary::remove(const std::string& name) {
  std::error_code error;
  if (is_builtin(name)) throw Error("'" + name + "' is a built-in scene, which cannot be deleted.", ErrorCode::refused);
  if (!is_identifier(name) || !fs::exists(scene_file(name), error))
    throw Error("There is no such scene.", ErrorCode::not_found);
  if (fs::is_symlink(folder_ / name, error)) {
    fs::remove(folder_ / name, error);  // what it leads to is somebody else's
    return;
  }
  const std::shared_ptr<UnsavedPlace> claimed = unsaved_.claim(name);  // throws if its folder cannot be written to
  if (is_unsaved(name) && !claimed)
    throw Error("This scene is open in another program; close it there before deleting it.", ErrorCode::refused);
  remove_folder(name);
}

void FolderLibrary::remove_folder(const std::string& name) {
  std::error_code error;
  const FolderLock lock = FolderLock::to_write(folder_ / name);
  fs::remove(scene_file(name), error);  // first: if this is killed, no half of a scene is left
  fs::remove_all(folder_ / name, error);
  if (error) throw Error("The scene '" + name + "' cannot be deleted: " + error.message() + ".");
}

std::string FolderLibrary::thumbnail(const std::string& name) {
  if (!is_identifier(name)) return {};
  if (!is_builtin(name)) {
    try {
      return read_text(folder_ / name / "thumbnail.png", k_largest_thumbnail);
    } catch (const Error&) {
      return {};
    }
  }
  const std::scoped_lock lock(mutex_);
  std::string& picture = thumbnails_[name];
  if (picture.empty() && draw_) {
    picture = draw_(placed_parts(builtin_scene(name)));
  }
  return picture;
}

fs::path FolderLibrary::save(const Scene& scene, const std::string& name, Replacing replacing) {
  if (!is_identifier(name))
    throw Error("A scene's name is made of letters, digits, - and _, at most 64 of them.", ErrorCode::invalid_argument);
  if (is_builtin(name))
    throw Error("'" + name + "' is the name of a built-in scene; choose another.", ErrorCode::refused);
  if (is_unsaved(name))
    throw Error("'" + name + "' is kept for what was not saved; choose another name.", ErrorCode::refused);
  std::error_code error;
  if (!fs::exists(scene_file(name), error)) {
    const auto is_saved = [](const fs::directory_entry& e) { return !is_unsaved(e.path().filename().string()); };
    const auto count = std::count_if(fs::directory_iterator(folder_, error), fs::directory_iterator(), is_saved);
    if (!error && static_cast<std::size_t>(count) >= k_most_saved)
      throw Error("There are already " + std::to_string(k_most_saved) + " saved scenes; delete some of them first.",
                  ErrorCode::refused);
  }
  return keep(scene, name, replacing);
}

std::shared_ptr<UnsavedPlace> FolderLibrary::keep_unsaved(const Scene& scene, std::shared_ptr<UnsavedPlace> place) {
  unsaved_.check_room(scene, place.get());
  if (place) {
    keep(scene, place->name(), Replacing::wanted);
    return place;
  }
  place = unsaved_.new_place();
  try {
    keep(scene, place->name(), Replacing::wanted);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_ / place->name(), ignored);
    throw;
  }
  return place;
}

std::shared_ptr<UnsavedPlace> FolderLibrary::claim_unsaved(const std::string& name) {
  try {
    return unsaved_.claim(name);
  } catch (const Error&) {
    return nullptr;  // where nothing can be written, what is opened is kept elsewhere or not at all
  }
}

void FolderLibrary::forget_unsaved(const UnsavedPlace& place) {
  std::error_code error;
  if (fs::exists(scene_file(place.name()), error)) remove_folder(place.name());
}

fs::path FolderLibrary::keep(const Scene& scene, const std::string& name, Replacing replacing) {
  return save_scene(scene, name, folder_ / name, replacing, draw_ ? draw_(placed_parts(scene)) : std::string());
}

}  // namespace cotouch
