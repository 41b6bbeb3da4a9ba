#include <cotouch/session/unsaved_changes.h>

#include <cotouch/base/error.h>

#include <algorithm>
#include <utility>

namespace cotouch {

void UnsavedChanges::add(Clock::time_point due) {
  const std::scoped_lock lock(mutex_);
  ++count_;
  if (!due_) due_ = due;
}

void UnsavedChanges::moved() {
  const std::scoped_lock lock(mutex_);
  if (place_ || count_ > kept_) ++count_;
}

std::uint64_t UnsavedChanges::count() const {
  const std::scoped_lock lock(mutex_);
  return count_;
}

bool UnsavedChanges::are_kept() const {
  const std::scoped_lock lock(mutex_);
  return kept_ == count_;
}

bool UnsavedChanges::are_due(Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  return due_ && *due_ < now;
}

void UnsavedChanges::set_due(std::optional<Clock::time_point> due) {
  const std::scoped_lock lock(mutex_);
  due_ = due;
}

void UnsavedChanges::keep(SceneLibrary& library, const Scene& scene, std::uint64_t count) {
  std::shared_ptr<UnsavedPlace> place;
  {
    const std::scoped_lock lock(mutex_);
    if (count <= kept_) return;
    place = place_;
  }
  std::string problem;
  try {
    // What was emptied is no scene to come back to; what was kept of it before stays.
    if (!scene.bodies.empty()) place = library.keep_unsaved(scene, std::move(place));
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const std::scoped_lock lock(mutex_);
  problem_ = problem;
  if (!problem.empty()) throw Error(problem);
  place_ = std::move(place);
  kept_ = count;
}

void UnsavedChanges::saved(SceneLibrary& library, std::uint64_t count) {
  std::shared_ptr<UnsavedPlace> place;
  {
    const std::scoped_lock lock(mutex_);
    kept_ = std::max(kept_, count);
    // What was changed meanwhile is nowhere else, also if it was kept before this is heard of.
    if (count == count_) place = std::exchange(place_, nullptr);
    if (kept_ == count_) problem_.clear();
  }
  if (place) library.forget_unsaved(*place);
}

std::string UnsavedChanges::name() const {
  const std::scoped_lock lock(mutex_);
  return place_ ? place_->name() : "";
}

std::string UnsavedChanges::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

}  // namespace cotouch
