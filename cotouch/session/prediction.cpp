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

// Of a person's hand, approximately. Tremor moves it by some hundredths of a millimetre, and some hundredths of a
// degree.
MotionFilter::Settings settings(Prediction kind, double tick, double noise, double acceleration, double jerk) noexcept {
  const bool third = kind == Prediction::kalman_acceleration;
  return {noise, third ? jerk * tick * tick * tick : acceleration * tick * tick, third};
}

bool is_kalman(Prediction kind) noexcept {
  return kind == Prediction::kalman_velocity || kind == Prediction::kalman_acceleration;
}

constexpr double k_fastest = 5;  // m/s; hands reach 2 to 3 in fast movements

}  // namespace

HandPredictor::HandPredictor(Prediction kind, double tick_seconds) noexcept
    : kind_(kind),
      tick_seconds_(tick_seconds),
      linear_(settings(kind, tick_seconds, 3e-5, 0.3, 5)),
      angular_(settings(kind, tick_seconds, 3e-4, 1.5, 25)) {
}

void HandPredictor::observe(Tick tick, const HandInput& input) noexcept {
  step_ = {};
  bool goes_on = is_usable(newest_) && is_usable(input);
  if (goes_on) {
    step_ = {input.pose.position - newest_.pose.position, turn(newest_.pose.rotation, input.pose.rotation)};
    // Farther than a hand gets in a tick: it was put elsewhere.
    if (!(norm(step_.linear) < k_fastest * tick_seconds_)) {
      goes_on = false;
      step_ = {};
    }
  }
  newest_ = input;
  newest_tick_ = tick;
  if (!is_kalman(kind_)) return;
  for (MotionFilter* filter : {&linear_, &angular_}) {
    if (!goes_on) {
      filter->begin();
      continue;
    }
    filter->observe(filter == &linear_ ? step_.linear : step_.angular);
    if (input.action != HandInput::Action::none) filter->stop();
  }
}

HandInput HandPredictor::predict(Tick tick) const noexcept {
  HandInput out = newest_;
  if (out.action != HandInput::Action::none) {
    out.action = HandInput::Action::none;
    out.body = 0;
  }
  if (kind_ == Prediction::hold || !is_usable(newest_)) return out;
  const auto ahead = static_cast<double>(tick - newest_tick_);
  const Vec6 motion = kind_ == Prediction::linear ? Vec6{step_.linear * ahead, step_.angular * ahead}
                                                  : Vec6{linear_.predict(ahead), angular_.predict(ahead)};
  out.pose.position += motion.linear;
  // What does not turn keeps its bits, which normalising might change.
  if (motion.angular != Vec3d{})
    out.pose.rotation = normalized(quat_from_rotation_vector(motion.angular) * out.pose.rotation);
  return quantised(out);
}

void HandPredictor::set_jitter(double seconds) noexcept {
  const double ticks = seconds > 0 ? seconds / tick_seconds_ : 0;
  linear_.set_jitter(ticks);
  angular_.set_jitter(ticks);
}

}  // namespace cotouch
