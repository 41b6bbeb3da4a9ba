#include <cotouch/world/hand_path.h>

#include <cotouch/base/error.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_pause_seconds = 0.2;  // of a key repeated

double turn(const Pose& a, const Pose& b) {
  return norm(rotation_vector(b.rotation * a.rotation.conjugate()));
}

}  // namespace

Pose interpolate(const Pose& a, const Pose& b, double t) noexcept {
  const Vec3d rotation = rotation_vector(b.rotation * a.rotation.conjugate());
  return {a.position + (b.position - a.position) * t, normalized(quat_from_rotation_vector(rotation * t) * a.rotation)};
}

HandPath::HandPath(std::vector<Pose> keys, double mean_speed, double mean_turn) : keys_(std::move(keys)) {
  if (keys_.empty()) throw Error("A hand path needs at least one pose.");
  if (!(mean_speed > 0) || !(mean_turn > 0)) throw Error("A hand path needs speeds above zero.");
  double end = 0;
  for (std::size_t i = 1; i < keys_.size(); ++i) {
    const double moving = std::max(norm(keys_[i].position - keys_[i - 1].position) / mean_speed,
                                   turn(keys_[i - 1], keys_[i]) / mean_turn);
    // Asked of the keys themselves: a rotation and its inverse leave a turn of some 1e-17.
    const bool repeated = keys_[i] == keys_[i - 1] || !(moving > 0);
    end += repeated ? k_pause_seconds : moving;
    ends_.push_back(end);
  }
}

Pose HandPath::at(double seconds) const noexcept {
  const auto segment = std::upper_bound(ends_.begin(), ends_.end(), seconds);
  if (segment == ends_.end()) return keys_.back();
  const auto i = static_cast<std::size_t>(segment - ends_.begin());
  const double begin = i == 0 ? 0 : ends_[i - 1];
  const double t = std::max(0.0, (seconds - begin) / (ends_[i] - begin));
  return interpolate(keys_[i], keys_[i + 1], t * t * t * (10 - 15 * t + 6 * t * t));
}

}  // namespace cotouch
