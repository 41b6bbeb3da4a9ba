// One moving body against several resting ones: the sum of a pair's contact for each of them.
#pragma once

#include <cotouch/contact/nested.h>

#include <memory>
#include <vector>

namespace cotouch {

// The engine's "other" body is the scene itself: every resting body has a fixed place in it. Wrenches and gradients on
// the moving body all refer to its own position, so they add up as they are.
class ContactGroup final : public ContactEngine {
 public:
  // `place` is the resting body's pose in the scene.
  void add(std::unique_ptr<NestedContact> pair, const Pose& place);

  void evaluate(const Pose& shell, const Pose& field, Moving moving, ContactResult& result) noexcept override;
  // Of the first pair: points of different shells cannot be told apart here.
  std::span<const ContactPoint> contacts() const noexcept override;
  void reset() noexcept override;

 private:
  struct Pair {
    std::unique_ptr<NestedContact> engine;
    Pose place;
  };
  std::vector<Pair> pairs_;
};

}  // namespace cotouch
