// What was changed and not saved: several scenes, each in a folder of its own among those that were saved. A folder is
// named by when its scene was first kept, and belongs to the one session that writes to it.
#pragma once

#include <cotouch/base/file.h>
#include <cotouch/world/scene.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

// What users call the newest of them, and the one folder that earlier versions had.
inline constexpr const char* k_unsaved_scene = "unsaved";

// "unsaved-20260131-101500", with "-2" and so on if there is one of that second, or "unsaved".
bool is_unsaved(std::string_view name);

// More are refused; none makes room for another one.
struct UnsavedLimits {
  std::size_t scenes = 32;
  std::uint64_t bytes = 4ULL << 30U;  // of all together
};

// Where one scene is kept. As long as this lives, no other session writes there, in this program or another one.
class UnsavedPlace {
 public:
  UnsavedPlace(std::string name, FolderLock lock) : name_(std::move(name)), lock_(std::move(lock)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  FolderLock lock_;
};

// All functions may be called from any thread.
class UnsavedScenes {
 public:
  // Removes what is left where a program was killed before a scene was whole, or while it was deleted.
  UnsavedScenes(std::filesystem::path folder, UnsavedLimits limits);

  // The newest first.
  std::vector<std::string> names() const;
  // Null if there is no such scene, or another session has it. Throws Error if nothing can be written there.
  std::shared_ptr<UnsavedPlace> claim(const std::string& name) const;
  // An empty one. Throws Error if it cannot be made.
  std::shared_ptr<UnsavedPlace> new_place() const;
  // Throws Error if the scene would be beyond the limits. `place` is where it is kept already, null if it is not.
  void check_room(const Scene& scene, const UnsavedPlace* place) const;

 private:
  std::filesystem::path folder_;
  UnsavedLimits limits_;
};

}  // namespace cotouch
