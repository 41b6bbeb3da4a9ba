#include <cotouch/session/prediction.h>

namespace cotouch {
namespace {

// Peers may send anything; the world uses its last good pose instead of a bad one.
bool is_usable(const HandInput& input) noexcept {
  return input.present && is_finite(input.pose) && is_rotation(input.pose.rotation);
}

// Rotation vector that leads from one rotation to another, exactly zero if they are the same.
Vec3d turn(const Quat& from, const Quat& to) noexcept {
  return from == to ? Vec3d{} : rotation_vector(to * from.conjugate());
}

}  // namespace

HandPredictor::HandPredictor(Prediction kind, double tick_seconds) noexcept : kind_(kind), tick_seconds_(tick_seconds) {
}

void HandPredictor::observe(Tick tick, const HandInput& input) noexcept {
  step_ = {};
  if (is_usable(newest_) && is_usable(input))
    step_ = {input.pose.position - newest_.pose.position, turn(newest_.pose.rotation, input.pose.rotation)};
  newest_ = input;
  newest_tick_ = tick;
}

HandInput HandPredictor::predict(Tick tick) const noexcept {
  HandInput out = newest_;
  if (out.action != HandInput::Action::none) {
    out.action = HandInput::Action::none;
    out.body = 0;
  }
  if (kind_ == Prediction::hold || !is_usable(newest_)) return out;
  const auto ahead = static_cast<double>(tick - newest_tick_);
  const Vec6 motion{step_.linear * ahead, step_.angular * ahead};
  out.pose.position += motion.linear;
  // What does not turn keeps its bits, which normalising might change.
  if (motion.angular != Vec3d{})
    out.pose.rotation = normalized(quat_from_rotation_vector(motion.angular) * out.pose.rotation);
  return quantised(out);
}

void HandPredictor::set_jitter(double seconds) noexcept {
  jitter_ = seconds;
}

}  // namespace cotouch
