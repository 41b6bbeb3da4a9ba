#include <cotouch/base/pose.h>

#include <cotouch/base/trig.h>

namespace cotouch {

Quat normalized(const Quat& q) noexcept {
  const double length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(length > 0)) return {};
  return {q.w / length, q.x / length, q.y / length, q.z / length};
}

Mat3 rotation_matrix(const Quat& q) noexcept {
  return {{1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y - q.w * q.z), 2 * (q.x * q.z + q.w * q.y),
           2 * (q.x * q.y + q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z - q.w * q.x),
           2 * (q.x * q.z - q.w * q.y), 2 * (q.y * q.z + q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)}};
}

Vec3d rotate(const Quat& q, const Vec3d& v) noexcept {
  const Vec3d u{q.x, q.y, q.z};
  const Vec3d t = cross(u, v) * 2.0;
  return v + t * q.w + cross(u, t);
}

Quat quat_from_rotation_vector(const Vec3d& r) noexcept {
  const double angle = norm(r);
  const SinCos half = sin_cos(angle * 0.5);
  // sin(a/2)/a by its series where a is too small to divide by.
  const double factor = angle > 1e-6 ? half.sin / angle : 0.5 - angle * angle / 48.0;
  return {half.cos, r.x * factor, r.y * factor, r.z * factor};
}

Vec3d rotation_vector(const Quat& q) noexcept {
  const double sign = q.w < 0 ? -1.0 : 1.0;
  const Vec3d v{q.x * sign, q.y * sign, q.z * sign};
  const double s = norm(v);
  if (s < 1e-9) return v * 2.0;
  return v * (2.0 * angle_of(s, q.w * sign) / s);
}

Vec3d transform(const Pose& pose, const Vec3d& point) noexcept {
  return rotate(pose.rotation, point) + pose.position;
}

Pose operator*(const Pose& a, const Pose& b) noexcept {
  return {transform(a, b.position), normalized(a.rotation * b.rotation)};
}

Pose inverse(const Pose& pose) noexcept {
  const Quat back = pose.rotation.conjugate();
  return {-rotate(back, pose.position), back};
}

Pose moved(const Pose& pose, const Vec6& motion) noexcept {
  return {pose.position + motion.linear, normalized(quat_from_rotation_vector(motion.angular) * pose.rotation)};
}

bool is_rotation(const Quat& q) noexcept {
  const double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  return square > 0.9 && square < 1.1;
}

bool is_finite(const Pose& pose) noexcept {
  return is_finite(pose.position) && std::isfinite(pose.rotation.w) && std::isfinite(pose.rotation.x) &&
         std::isfinite(pose.rotation.y) && std::isfinite(pose.rotation.z);
}

}  // namespace cotouch
