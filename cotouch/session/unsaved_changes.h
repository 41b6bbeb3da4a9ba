// How far the changes to one open scene, which were not saved under a name, are kept in the library.
#pragma once

#include <cotouch/session/scene_library.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace cotouch {

// All functions may be called from any thread; keep() and saved() one after another.
class UnsavedChanges {
 public:
  using Clock = std::chrono::steady_clock;

  // `place` is where the scene was opened from, if it was not saved then.
  explicit UnsavedChanges(std::shared_ptr<UnsavedPlace> place = nullptr) : place_(std::move(place)) {}

  // One more change, to be kept by then.
  void add(Clock::time_point due);
  // Bodies were moved by hand. That counts as a change of what is unsaved anyway, but is no reason to keep it at once.
  void moved();
  std::uint64_t count() const;
  bool are_kept() const;
  bool are_due(Clock::time_point now) const;
  // Somebody keeps them now, or has to do it again.
  void set_due(std::optional<Clock::time_point> due);

  // The scene as it was after so many changes. Throws Error if it cannot be kept.
  void keep(SceneLibrary& library, const Scene& scene, std::uint64_t count);
  // The scene was saved under a name after so many changes; unless there were more, it need not be kept besides.
  void saved(SceneLibrary& library, std::uint64_t count);

  // Of the place; empty if there is none.
  std::string name() const;
  // Why the last attempt to keep them failed; empty if it did not.
  std::string problem() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<UnsavedPlace> place_;
  std::uint64_t count_ = 0, kept_ = 0;
  std::optional<Clock::time_point> due_;
  std::string problem_;
};

}  // namespace cotouch
