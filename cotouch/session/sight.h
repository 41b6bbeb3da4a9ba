// What is shown but not felt: contact points, traversed points, clearance and nearness. Computed at frame rate outside
// the touch thread, from nothing but the bodies' poses and how they are bent.
#pragma once

#include <cotouch/elastic/deformed_field.h>
#include <cotouch/session/shown_scene.h>
#include <cotouch/session/view.h>
#include <cotouch/world/state.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cotouch {

class Sight {
 public:
  // The model is the scene's.
  Sight(std::shared_ptr<const ShownScene> scene, std::shared_ptr<const WorldModel> model);

  // What there is to see; traversed points only if wanted. Contacts are shown of bodies that are held or move: those of
  // a pile at rest would hide the few that somebody makes.
  ContactView look(const WorldState& state, bool traversed);

  // Smallest distance between bodies that may touch, as ContactView has it. Near the surface the field's value at a
  // point of the shell, farther away the distance from that point to the picture's triangles. Work is bounded; beyond
  // it the answer may be too large by the spacing of the shell's points on the level reached.
  float clearance(const WorldState& state);

  // Is there something to tell of this body, given by its index? There is while somebody holds it or it moves.
  bool is_news(const WorldState& state, std::size_t body) const;
  // Distance at which nearness fades out, metres.
  float range() const { return range_; }
  // For each vertex of the part's picture: 0 touching or inside .. 255 at `range` or farther from the nearest part that
  // it could touch. Of two parts at least one is held or moves: a block that rests on a block is not news. False if
  // nothing can be said.
  bool nearness(const WorldState& state, const ShownPart& part, std::vector<std::uint8_t>& values);

 private:
  // A body that bends, as it was looked at last.
  struct Bent {
    Deformation shape;
    DeformedField field;
    std::vector<double> coordinates;
  };
  // Brings the shapes of bodies up to date.
  void bend(const WorldState& state);
  BodyState body_state(const WorldState& state, std::uint32_t body, std::uint32_t piece);
  double largest_move(std::uint32_t body) const { return bent_[body] ? bent_[body]->shape.largest_move() : 0; }
  PairState pair_state(const WorldState& state, const PairModel& pair);
  // Of the shell's ball and the field's box, at least.
  double gap_of(const WorldState& state, const PairModel& pair) const;
  Pose pose_of(const WorldState& state, std::uint32_t body, std::uint32_t piece) const;
  const PartPicture& picture_of(std::uint32_t body, std::uint32_t piece) const;
  float pair_clearance(const WorldState& state, const PairModel& pair, float best);

  std::shared_ptr<const ShownScene> scene_;
  std::shared_ptr<const WorldModel> model_;
  std::vector<std::vector<const PartPicture*>> pictures_;  // by body and piece
  std::vector<std::optional<Bent>> bent_;                  // by body
  Workspaces workspaces_;
  std::vector<TouchingPoint> touching_;
  std::vector<VisitedPoint> visited_;
  float range_ = 0;
};

}  // namespace cotouch
