// Rotations, rigid poses and wrenches. SI units: metres, radians, newtons, newton metres.
#pragma once

#include <cotouch/base/vec.h>

namespace cotouch {

// A unit quaternion; rotates by q v q*.
struct Quat {
  double w = 1, x = 0, y = 0, z = 0;

  friend constexpr Quat operator*(const Quat& a, const Quat& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  }
  friend constexpr bool operator==(const Quat&, const Quat&) = default;
  constexpr Quat conjugate() const { return {w, -x, -y, -z}; }
};

Quat normalized(const Quat& q) noexcept;
Mat3 rotation_matrix(const Quat& q) noexcept;
Vec3d rotate(const Quat& q, const Vec3d& v) noexcept;

// Rotation vector (axis times angle, angle in [0, pi]) to quaternion and back.
Quat quat_from_rotation_vector(const Vec3d& rotation_vector) noexcept;
Vec3d rotation_vector(const Quat& q) noexcept;

// Maps a point of the body's own frame to the frame the pose is given in.
struct Pose {
  Vec3d position;
  Quat rotation;

  friend constexpr bool operator==(const Pose&, const Pose&) = default;
};

Vec3d transform(const Pose& pose, const Vec3d& point) noexcept;
Pose operator*(const Pose& a, const Pose& b) noexcept;
Pose inverse(const Pose& pose) noexcept;
// The pose after a small world-frame motion: translated by `linear`, rotated about its own position by `angular`.
Pose moved(const Pose& pose, const Vec6& motion) noexcept;
bool is_finite(const Pose& pose) noexcept;
// Of length one, within a tolerance that no rounding reaches.
bool is_rotation(const Quat& q) noexcept;

// A force and the torque about a stated point, both in world axes.
struct Wrench {
  Vec3d force, torque;

  friend constexpr Wrench operator+(const Wrench& a, const Wrench& b) {
    return {a.force + b.force, a.torque + b.torque};
  }
  friend constexpr Wrench operator-(const Wrench& a) { return {-a.force, -a.torque}; }
  friend constexpr Wrench operator*(const Wrench& a, double s) { return {a.force * s, a.torque * s}; }
  friend constexpr bool operator==(const Wrench&, const Wrench&) = default;
};

}  // namespace cotouch
