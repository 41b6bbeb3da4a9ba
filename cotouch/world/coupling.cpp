#include <cotouch/world/coupling.h>

#include <cotouch/base/trig.h>

namespace cotouch {
namespace {

constexpr double k_knee = 0.75;  // the share of the maximum up to which the spring is linear

struct Pull {
  double magnitude;
  double slope;   // dm/dr
  double secant;  // m/r, with its limit k at r = 0
};

Pull pull_at(double stiffness, double maximum, double r) {
  if (!(stiffness > 0 && maximum > 0)) return {0, 0, 0};
  const double knee = k_knee * maximum;
  const double beyond = r - knee / stiffness;
  if (beyond <= 0) return {stiffness * r, stiffness, stiffness};
  const double width = 2 * (maximum - knee) / stiffness;
  if (beyond >= width) return {maximum, 0, maximum / r};
  const double magnitude = knee + stiffness * beyond * (1 - beyond / (2 * width));
  return {magnitude, stiffness * (1 - beyond / width), magnitude / r};
}

double energy_at(double stiffness, double maximum, double r) {
  if (!(stiffness > 0 && maximum > 0)) return 0;
  const double knee = k_knee * maximum;
  const double linear_end = knee / stiffness;
  if (r <= linear_end) return stiffness * r * r / 2;
  const double width = 2 * (maximum - knee) / stiffness;
  const double bent = std::fmin(r - linear_end, width);
  const double energy =
      knee * linear_end / 2 + knee * bent + stiffness * bent * bent / 2 - stiffness * bent * bent * bent / (6 * width);
  return energy + maximum * std::fmax(r - linear_end - width, 0);
}

// The rotation of the hand seen from the object, and how it changes as the object turns.
struct Turn {
  Vec3d theta;
  double angle;
  Mat3 jacobian;  // J(theta)
};

Vec3d turn_between(const Pose& hand, const Pose& object) {
  return rotation_vector(hand.rotation * object.rotation.conjugate());
}

Turn turn_at(const Vec3d& theta) {
  const double angle = norm(theta);
  // Below 1e-2 the closed form subtracts two numbers of size 1/t^2; its series is exact to t^4/30240 there.
  double square_factor = 1.0 / 12.0 + angle * angle / 720.0;
  if (angle > 1e-2) {
    const SinCos half = sin_cos(angle / 2);
    square_factor = 1.0 / (angle * angle) - half.cos / (half.sin * 2 * angle);
  }
  const Mat3 skew = Mat3::cross_matrix(theta);
  return {theta, angle, Mat3::identity() + skew * 0.5 + skew * skew * square_factor};
}

// d(m(|v|) v/|v|)/dv without the Jacobian: secant across, slope along.
Mat3 pull_gradient(const Pull& pull, const Vec3d& direction, double along) {
  return Mat3::identity() * pull.secant + Mat3::outer(direction, direction) * (along - pull.secant);
}

}  // namespace

CouplingResult couple(const CouplingSettings& settings, const Pose& hand, const Pose& object) noexcept {
  const Vec3d x = hand.position - object.position;
  const Turn turn = turn_at(turn_between(hand, object));
  const double distance = norm(x);
  const Pull linear = pull_at(settings.linear_stiffness, settings.max_force, distance);
  const Pull angular = pull_at(settings.angular_stiffness, settings.max_torque, turn.angle);

  CouplingResult result;
  result.wrench = {x * linear.secant, turn.theta * angular.secant};
  // The displacement shrinks as the object moves towards the hand, hence the minus signs.
  const Vec3d x_axis = normalized(x), turn_axis = normalized(turn.theta);
  result.gradient.force_linear = pull_gradient(linear, x_axis, linear.slope) * -1.0;
  result.gradient.torque_angular = pull_gradient(angular, turn_axis, angular.slope) * turn.jacobian * -1.0;
  result.solve_gradient.force_linear = Mat3::identity() * -linear.secant;
  result.solve_gradient.torque_angular = turn.jacobian * -angular.secant;
  return result;
}

double coupling_energy(const CouplingSettings& settings, const Pose& hand, const Pose& object) noexcept {
  return energy_at(settings.linear_stiffness, settings.max_force, norm(hand.position - object.position)) +
         energy_at(settings.angular_stiffness, settings.max_torque, norm(turn_between(hand, object)));
}

}  // namespace cotouch
