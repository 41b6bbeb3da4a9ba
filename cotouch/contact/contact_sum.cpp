#include <cotouch/contact/contact_sum.h>

namespace cotouch {

void ContactSum::finish(const Pose& shell, const Pose& field, Moving moving, double stiffness,
                        ContactResult& result) const noexcept {
  const Mat3 r = rotation_matrix(shell.rotation);
  const Mat3 r_back = r.transposed();
  const Mat3 nn = r * nn_ * r_back;
  const Mat3 nc = r * nc_ * r_back;
  const Mat3 cc = r * cc_ * r_back;
  const Vec3d dn = r * force_;
  const Vec3d dc = r * torque_;

  Mat6& g = result.gradient;
  g.force_linear = nn;
  if (moving == Moving::shell) {
    result.wrench = {dn * -stiffness, dc * -stiffness};
    g.force_angular = nc - Mat3::cross_matrix(dn);
    g.torque_linear = nc.transposed();
    g.torque_angular = cc - Mat3::cross_matrix(dc);
  } else {
    const Vec3d offset = shell.position - field.position;
    const Mat3 s = Mat3::cross_matrix(offset);
    const Mat3 ne = nc - nn * s;
    result.wrench = {dn * stiffness, (dc + cross(offset, dn)) * stiffness};
    g.force_angular = ne;
    g.torque_linear = ne.transposed() - Mat3::cross_matrix(dn);
    g.torque_angular = cc + s * nc - nc.transposed() * s - s * nn * s;
  }
  g = g * -stiffness;
}

}  // namespace cotouch
