// How far single points of a shell are from the other body, for pictures (ContactEngine::clearance).
#pragma once

#include <cotouch/contact/engine.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/elastic/deformed_field.h>

namespace cotouch {

class ClearanceMeasure {
 public:
  ClearanceMeasure(const Shell& shell, const Field& field, const PairState& state, const ClearanceQuestion& question)
      : shell_(shell),
        field_(field),
        shape_(state.shell.deformation),
        deformed_(state.shell.deformation != nullptr ? state.field.deformed_field : nullptr),
        question_(question),
        to_field_(inverse(state.field.pose) * state.shell.pose),
        // Beyond the band the field only bounds the distance from below.
        exact_below_(field.band() - 2 * field.spacing()),
        best_(question.best) {}

  // What the field says of the point: its distance, or less.
  float operator()(std::uint32_t point) {
    ++lookups_;
    Vec3f own = shell_.data().positions[point];
    if (shape_ != nullptr) shape_->shell_points(shell_.data().positions.data(), &point, 1, &own);
    const Vec3f at(transform(to_field_, Vec3d(own)));
    float bound = 0;
    if (deformed_ != nullptr)
      deformed_->distances(&at, 1, DeformedField::k_ask_all, &bound);
    else
      bound = field_.distance(at);
    // Of a body that bends only the field is known here, far away a bound.
    if (bound < exact_below_ || deformed_ != nullptr)
      best_ = std::min(best_, bound);
    else if (bound < best_)
      best_ = std::min(best_, question_.far_away(at, best_));
    return bound;
  }

  float best() const noexcept { return best_; }
  std::size_t lookups() const noexcept { return lookups_; }

 private:
  const Shell& shell_;
  const Field& field_;
  Deformation* shape_;
  const DeformedField* deformed_;
  const ClearanceQuestion& question_;
  Pose to_field_;
  float exact_below_, best_;
  std::size_t lookups_ = 0;
};

}  // namespace cotouch
