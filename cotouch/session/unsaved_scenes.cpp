#include <cotouch/session/unsaved_scenes.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

constexpr auto k_patience = std::chrono::seconds(1);  // for a session that is just leaving the scene
constexpr const char* k_file = "scene.toml";          // written last: a folder without it is no scene
constexpr const char* k_claim = "in-use";  // a folder in a scene's own, locked by the session that writes to it
constexpr const char* k_cure =
    " Save it under a name, or delete what is no longer wanted under 'Unsaved' in the list of scenes.";

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string name_of_now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  return std::strftime(text, sizeof text, "unsaved-%Y%m%d-%H%M%S", &local) > 0 ? text : "unsaved-00000000-000000";
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (it->is_regular_file(gone)) bytes += it->file_size(gone);
  }
  return bytes;
}

// What its parts take as files, nearly.
std::uint64_t bytes_of(const Scene& scene) {
  std::uint64_t bytes = 0;
  std::set<const Part*> counted;
  for (const SceneBody& body : scene.bodies)
    for (const ScenePart& part : body.parts) {
      if (part.part == nullptr || !counted.insert(part.part.get()).second) continue;
      const Part& made = *part.part;
      bytes += made.mesh.vertices.size() * sizeof made.mesh.vertices[0] +
               made.mesh.triangles.size() * sizeof made.mesh.triangles[0] + made.field.memory_bytes() +
               made.shell.data().positions.size_bytes() + made.shell.data().inward_normals.size_bytes();
      for (const PartSection& section : made.sections) bytes += section.size();
    }
  return bytes;
}

}  // namespace

bool is_unsaved(std::string_view name) {
  constexpr std::size_t k_prefix = 8, k_date = 8, k_time = 6;  // "unsaved-" and so many digits each
  if (name == k_unsaved_scene) return true;
  if (!name.starts_with("unsaved-") || name.size() < k_prefix + k_date + 1 + k_time) return false;
  const std::string_view date = name.substr(k_prefix, k_date), time = name.substr(k_prefix + k_date + 1, k_time);
  const std::string_view rest = name.substr(k_prefix + k_date + 1 + k_time);
  return are_digits(date) && name[k_prefix + k_date] == '-' && are_digits(time) &&
         (rest.empty() || (rest[0] == '-' && are_digits(rest.substr(1))));
}

UnsavedScenes::UnsavedScenes(fs::path folder, UnsavedLimits limits) : folder_(std::move(folder)), limits_(limits) {
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const bool may_be_half = is_unsaved(it->path().filename().string()) && it->is_directory(ignored) &&
                             !it->is_symlink(ignored) && !fs::exists(it->path() / k_file, ignored);
    if (!may_be_half) continue;
    try {
      // Not what somebody is only beginning to keep.
      const std::optional<FolderLock> lock = FolderLock::to_write_now(it->path() / k_claim);
      if (lock && !fs::exists(it->path() / k_file, ignored)) fs::remove_all(it->path(), ignored);
    } catch (const Error&) {
      // Where nothing can be written, nothing can be removed.
    }
  }
}

std::vector<std::string> UnsavedScenes::names() const {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code none;
    const fs::file_time_type written = fs::last_write_time(it->path() / k_file, none);
    if (!none && is_unsaved(name)) found.emplace_back(written, name);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (auto& [written, name] : found) names.push_back(std::move(name));
  return names;
}

std::shared_ptr<UnsavedPlace> UnsavedScenes::claim(const std::string& name) const {
  const fs::path folder = folder_ / name;
  std::error_code error;
  if (!is_unsaved(name) || !fs::exists(folder / k_file, error)) return nullptr;
  const auto end = std::chrono::steady_clock::now() + k_patience;
  do {
    if (std::optional<FolderLock> lock = FolderLock::to_write_now(folder / k_claim)) {
      if (fs::exists(folder / k_file, error)) return std::make_shared<UnsavedPlace>(name, std::move(*lock));
      fs::remove_all(folder, error);  // it was deleted meanwhile, and locking it has made it anew
      return nullptr;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } while (std::chrono::steady_clock::now() < end);
  return nullptr;
}

std::shared_ptr<UnsavedPlace> UnsavedScenes::new_place() const {
  make_folders(folder_);
  const std::string now = name_of_now();
  for (std::size_t i = 1;; ++i) {
    const std::string name = i == 1 ? now : now + "-" + std::to_string(i);
    std::error_code error;
    // Of two that ask at the same time one makes it.
    if (fs::create_directory(folder_ / name, error))
      return std::make_shared<UnsavedPlace>(name, FolderLock::to_write(folder_ / name / k_claim));
    if (error) throw Error("Cannot make the folder " + (folder_ / name).string() + ": " + error.message() + ".");
  }
}

void UnsavedScenes::check_room(const Scene& scene, const UnsavedPlace* place) const {
  std::uint64_t bytes = bytes_of(scene);
  std::size_t others = 0;
  for (const std::string& name : names()) {
    if (place != nullptr && place->name() == name) continue;
    ++others;
    bytes += bytes_in(folder_ / name);
  }
  if (place == nullptr && others >= limits_.scenes)
    throw Error("There are " + std::to_string(others) + " unsaved scenes already." + k_cure, ErrorCode::refused);
  if (bytes > limits_.bytes)
    throw Error("All unsaved scenes together would take " + std::to_string(bytes >> 20U) + " MB, and may take " +
                    std::to_string(limits_.bytes >> 20U) + "." + k_cure,
                ErrorCode::too_large);
}

}  // namespace cotouch
