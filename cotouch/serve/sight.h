// What is shown but not felt: contact points, traversed points, clearance and nearness. Computed at frame rate outside
// the touch thread, with engines of its own, from nothing but the object's pose.
#pragma once

#include <cotouch/contact/nested.h>
#include <cotouch/serve/loaded_scene.h>
#include <cotouch/serve/wire.h>

#include <memory>
#include <span>
#include <vector>

namespace cotouch {

class Sight {
 public:
  explicit Sight(std::shared_ptr<const LoadedScene> scene);

  // Fills contacts (deepest first where there are more than can be sent), traversed points where wanted, and clearance.
  void look(const Pose& object, bool traversed, StateFrame& frame);

  // Smallest distance between the object and the resting parts, metres; negative: deepest penetration; infinite where
  // there is nothing to touch. Near the surface the field's value at a point of the shell, farther away the distance
  // from that point to the picture's triangles. Work is bounded; beyond it the answer may be too large by the spacing
  // of the shell's points on the level reached.
  float clearance(const Pose& object);

  // Distance at which nearness fades out, metres.
  float range() const { return range_; }
  // For each vertex of the part's picture: 0 touching or inside .. 255 at `range` or farther from the nearest part that
  // it could touch. False where nothing can be said.
  bool nearness(const Pose& object, const ScenePart& part, std::vector<std::uint8_t>& values) const;

 private:
  struct Pair {
    const ScenePart* rest;  // the resting part
    std::unique_ptr<NestedContact> engine;
  };
  struct Candidate {
    std::uint32_t node;
    float bound;  // no point below this node is closer
  };
  float pair_clearance(const Pair& pair, const Pose& shell_in_field, float best);

  std::shared_ptr<const LoadedScene> scene_;
  const ScenePart* held_ = nullptr;
  std::vector<Pair> pairs_;
  float range_ = 0;
  std::vector<Candidate> open_, next_;
};

}  // namespace cotouch
