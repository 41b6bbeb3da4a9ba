// The gallery: which scenes there are and how to get one.
#pragma once

#include <cotouch/session/scene_file.h>
#include <cotouch/session/unsaved_scenes.h>

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct SceneEntry {
  std::string name, title, summary;
  bool saved = false;      // the user's own
  bool unsaved = false;    // one of those that was changed and not saved under a name
  bool thumbnail = false;  // there is a picture of it
};

// All functions may be called from any thread.
class SceneLibrary {
 public:
  virtual ~SceneLibrary() = default;
  virtual std::vector<SceneEntry> list() = 0;
  // Prepared. Throws Error naming the scenes there are.
  virtual Scene load(const std::string& name, Progress& progress) = 0;
  // A PNG file, empty if there is none.
  virtual std::string thumbnail(const std::string& name) = 0;
  // Keeps a scene under a name; returns its file. Throws Error if the name is taken by a built-in scene, and one with
  // the code `exists` if there is a scene of that name that is not to be replaced.
  virtual std::filesystem::path save(const Scene& scene, const std::string& name, Replacing replacing) = 0;
  // What was changed and not saved is kept in a place of its own, until it is saved or removed: it is listed, and once
  // opened it is a scene without a name again. In `place`, or in a new one if that is null; returns where. Throws Error
  // if it cannot be kept; what was kept before is then still there.
  virtual std::shared_ptr<UnsavedPlace> keep_unsaved(const Scene& scene, std::shared_ptr<UnsavedPlace> place) = 0;
  // For the session that opens it, before it does. Null if it is none of those, or another session has it open.
  virtual std::shared_ptr<UnsavedPlace> claim_unsaved(const std::string& name) = 0;
  virtual void forget_unsaved(const UnsavedPlace& place) = 0;
  // Throws Error if the user has saved no such scene, it cannot be removed, or it is unsaved and open somewhere.
  virtual void remove(const std::string& name) = 0;
};

// The built-in scenes and those saved in a folder.
class FolderLibrary final : public SceneLibrary {
 public:
  // `draw` makes a thumbnail (PNG) of meshes where they stand; it may be empty.
  struct Placed {
    const TriangleMesh* mesh;
    Pose pose;
    std::string color;  // "#rrggbb"
  };
  using Draw = std::function<std::string(const std::vector<Placed>&)>;
  FolderLibrary(std::filesystem::path folder, Draw draw, UnsavedLimits limits = {})
      : folder_(std::move(folder)), draw_(std::move(draw)), unsaved_(folder_, limits) {}

  std::vector<SceneEntry> list() override;
  Scene load(const std::string& name, Progress& progress) override;
  std::string thumbnail(const std::string& name) override;
  std::filesystem::path save(const Scene& scene, const std::string& name, Replacing replacing) override;
  std::shared_ptr<UnsavedPlace> keep_unsaved(const Scene& scene, std::shared_ptr<UnsavedPlace> place) override;
  std::shared_ptr<UnsavedPlace> claim_unsaved(const std::string& name) override;
  void forget_unsaved(const UnsavedPlace& place) override;
  void remove(const std::string& name) override;

  // The newest first.
  std::vector<std::string> unsaved() const { return unsaved_.names(); }
  // A scene file anywhere. It keeps a name only if this library has it under that name.
  Scene load_file(const std::filesystem::path& file, Progress& progress);

 private:
  bool is_builtin(const std::string& name) const;
  std::optional<SceneEntry> entry(const std::string& name) const;
  void remove_folder(const std::string& name);
  std::filesystem::path keep(const Scene& scene, const std::string& name, Replacing replacing);
  std::filesystem::path scene_file(const std::string& name) const { return folder_ / name / "scene.toml"; }

  std::filesystem::path folder_;
  Draw draw_;
  UnsavedScenes unsaved_;
  std::mutex mutex_;
  std::vector<SceneEntry> builtin_;                // made once, by the first who asks
  std::map<std::string, std::string> thumbnails_;  // of built-in scenes
};

}  // namespace cotouch
