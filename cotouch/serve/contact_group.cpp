#include <cotouch/serve/contact_group.h>

#include <algorithm>

namespace cotouch {

void ContactGroup::add(std::unique_ptr<NestedContact> pair, const Pose& place) {
  pairs_.push_back({std::move(pair), place});
}

void ContactGroup::evaluate(const Pose& shell, const Pose& field, Moving moving, ContactResult& result) noexcept {
  result = {};
  bool first = true;
  for (Pair& pair : pairs_) {
    ContactResult one;
    if (moving == Moving::shell)
      pair.engine->evaluate(shell, field * pair.place, moving, one);
    else
      pair.engine->evaluate(shell * pair.place, field, moving, one);
    result.wrench = result.wrench + one.wrench;
    result.gradient = result.gradient + one.gradient;
    result.stats.visited += one.stats.visited;
    result.stats.skipped += one.stats.skipped;
    result.stats.in_contact += one.stats.in_contact;
    result.stats.deepest = std::max(result.stats.deepest, one.stats.deepest);
    // What a user should know is the coarsest rendering in the scene.
    result.stats.level = first ? one.stats.level : std::min(result.stats.level, one.stats.level);
    first = false;
  }
}

std::span<const ContactPoint> ContactGroup::contacts() const noexcept {
  return pairs_.empty() ? std::span<const ContactPoint>() : pairs_.front().engine->contacts();
}

void ContactGroup::reset() noexcept {
  for (Pair& pair : pairs_) pair.engine->reset();
}

}  // namespace cotouch
