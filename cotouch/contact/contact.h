// What contact answers: given the states of two bodies, the wrench on each, how it changes with their relative motion,
// and how much work that took.
//
// The force comes from a potential. A point of one body's shell at depth d > 0 in the other body's field (d is minus
// the field's value there, less the clearance) adds to
//   V = k / 2 (sum of a d^8)^(1/4),                       a: how many points of the finest level a point stands for
// and every force is its derivative along the field's gradient g = grad D, exact for the interpolated field:
//   F_i = k S^(-3/4) a d_i^7 g_i,   S = sum of a d^8.
// What follows:
// - No cycle of poses creates energy, whatever touches whatever, because V depends on the poses alone.
// - One point has the stiffness k. N points at the same depth have k N^(1/4): a face of sixteen thousand points is
// eleven
//   times as stiff as one point, not sixteen thousand times, and its force grows in proportion to its depth.
// - No direction, turning included (at the points' own lever arms), is ever stiffer than 7 k N^(1/4) |g|^2, whatever
// the
//   depths are: largest_stiffness(). (The Hessian of ||d||_8^2 / 2 is at most 7 ||v||_8^2 along v.)
// - Force and torque are continuous when points come and go: a point arrives with weight d^7.
// - A few deep points are not drowned by many shallow ones: a push that needs twice the depth of its neighbours counts
//   128 times as much as each of them.
//
// The paper (001, II-A) adds k d N with the shell's own normal N and scales by L / l above L points. That force comes
// from no potential: where few points press, it created up to 86 mJ and let 8 N sink 2.6 mm into a sheet of 5 mm (see
// docs/contact.md for the measurements of both).
//
// Frames and signs: world axes. `shell` is the body that brings its points, `field` the one that brings its distances.
// Torques on a body are about its position (pose.position). Motions are (linear, angular) as in moved(pose, motion).
#pragma once

#include <cotouch/base/pose.h>

#include <cstdint>

namespace cotouch {

class Deformation;
class DeformedField;

// Where a body is and how it is shaped at this instant.
struct BodyState {
  Pose pose;
  double clearance = 0;                // metres of room that others keep from the body, as a grasping hand needs it
  Deformation* deformation = nullptr;  // of a body that bends; its memory is used, its shape is not changed
  const DeformedField* deformed_field = nullptr;  // set to the same shape; needed of a body whose field is asked
};

struct ContactStats {
  std::uint32_t visited = 0;     // units of the engine's work, for instance nodes of a tree
  std::uint32_t looked_up = 0;   // points whose distance was asked for
  std::uint32_t in_contact = 0;  // points with positive depth
  std::uint32_t level = 0;       // deepest level rendered
  float deepest = 0;             // largest depth, metres

  friend bool operator==(const ContactStats&, const ContactStats&) = default;
};

// One point in contact.
struct ContactPoint {
  std::uint32_t point;  // index in the shell
  float distance;       // minus its depth, metres
};

// The sums behind a contact, in world axes about one body's position. Sums of several contacts of the same body about
// the same point may be added: then all of them share one potential.
struct ContactSums {
  double depth8 = 0;  // S
  Wrench push;        // sum of a d^7 (g, r x g): the direction in which the body is pushed
  Mat6 spread;        // sum of a d^6 w w', w = (g, r x g)
  Mat3 moment;        // sum of a d^7 r g'

  friend ContactSums operator+(const ContactSums& a, const ContactSums& b) {
    return {a.depth8 + b.depth8, a.push + b.push, a.spread + b.spread, a.moment + b.moment};
  }
};

// What the sums mean for the body they are about.
struct ContactForce {
  Wrench wrench;
  Mat6 stiffness;    // C: a relative motion x changes the wrench by -C x; symmetric, positive semidefinite
  Mat3 moment;       // sum of r F'
  double scale = 0;  // k S^(-3/4): a point's force is scale * weight * d^7 * g
};
ContactForce contact_force(const ContactSums& sums, double stiffness) noexcept;
// The share of `sums` in a potential that holds more: `total_depth8` is its S.
ContactForce contact_force(const ContactSums& sums, double stiffness, double total_depth8) noexcept;
// The same sums about a point, `offset` from which lies the one they are about; and as the other body has them.
ContactSums shifted(const ContactSums& sums, const Vec3d& offset) noexcept;
ContactSums negated(const ContactSums& sums) noexcept;

// The answer for a pair of bodies.
struct PairContact {
  ContactSums sums;  // about the shell's body
  ContactForce on_shell;
  double weight = 1;  // a
  ContactStats stats;
};

// The same contact as the field's body has it; `offset` is the shell's position minus the field's. Its force is the
// negative of the other to the last bit.
ContactForce seen_from_field(const ContactForce& on_shell, const Vec3d& offset) noexcept;

// d(wrench on the body)/d(small motion of that body), the other at rest, with everything in it.
Mat6 gradient_on_shell(const ContactForce& on_shell) noexcept;
Mat6 gradient_on_field(const ContactForce& on_shell, const Vec3d& offset) noexcept;

// No contact of so many points is stiffer, N/m; `lipschitz` bounds the field's gradient. Turning, with the square of
// the largest lever arm.
double largest_stiffness(double stiffness, std::uint32_t points, double lipschitz = 1) noexcept;

// X' C X for X = [1, -[offset]x; 0, 1]: a stiffness about one point as a stiffness about another, `offset` from it.
Mat6 moved_stiffness(const Mat6& stiffness, const Vec3d& offset) noexcept;

}  // namespace cotouch
