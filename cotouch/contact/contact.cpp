#include <cotouch/contact/contact.h>

namespace cotouch {

ContactForce contact_force(const ContactSums& sums, double stiffness) noexcept {
  return contact_force(sums, stiffness, sums.depth8);
}

ContactForce contact_force(const ContactSums& sums, double stiffness, double total_depth8) noexcept {
  ContactForce force;
  if (!(sums.depth8 > 0)) return force;
  const double norm = std::sqrt(std::sqrt(std::sqrt(total_depth8)));  // the 8-norm of the depths
  const double square = norm * norm;
  force.scale = stiffness / (square * square * square);
  if (!std::isfinite(force.scale)) return {};  // so shallow that its power has vanished
  force.wrench = sums.push * force.scale;
  force.moment = sums.moment * force.scale;
  // C = 7 k S^(-3/4) sum(a d^6 w w') - 6 k S^(-7/4) (sum a d^7 w)(sum a d^7 w)'
  const double along = 6 * force.scale / total_depth8;
  const Vec3d &f = sums.push.force, &t = sums.push.torque;
  const Mat6 outer{Mat3::outer(f, f), Mat3::outer(f, t), Mat3::outer(t, f), Mat3::outer(t, t)};
  force.stiffness = sums.spread * (7 * force.scale) + outer * -along;
  return force;
}

Mat6 moved_stiffness(const Mat6& c, const Vec3d& offset) noexcept {
  const Mat3 s = Mat3::cross_matrix(offset);
  // X = [1, -s; 0, 1], so C X = [ff, fa - ff s; tl, ta - tl s] and X' adds s (since (-s)' = s) times the upper row.
  const Mat3 fa = c.force_angular - c.force_linear * s;
  const Mat3 ta = c.torque_angular - c.torque_linear * s;
  return {c.force_linear, fa, c.torque_linear + s * c.force_linear, ta + s * fa};
}

ContactForce seen_from_field(const ContactForce& on_shell, const Vec3d& offset) noexcept {
  ContactForce out;
  out.wrench = {-on_shell.wrench.force, -(on_shell.wrench.torque + cross(offset, on_shell.wrench.force))};
  out.stiffness = moved_stiffness(on_shell.stiffness, offset);
  out.moment = (on_shell.moment + Mat3::outer(offset, on_shell.wrench.force)) * -1.0;
  out.scale = on_shell.scale;
  return out;
}

ContactSums shifted(const ContactSums& sums, const Vec3d& offset) noexcept {
  return {sums.depth8,
          {sums.push.force, sums.push.torque + cross(offset, sums.push.force)},
          moved_stiffness(sums.spread, offset),
          sums.moment + Mat3::outer(offset, sums.push.force)};
}

ContactSums negated(const ContactSums& sums) noexcept {
  return {sums.depth8, -sums.push, sums.spread, sums.moment * -1.0};
}

// The forces' directions stay with the field, the lever arms turn with the shell: d(r x F) = (w x r) x F, which is
// (r F' - (r.F) 1) w.
Mat6 gradient_on_shell(const ContactForce& on_shell) noexcept {
  Mat6 g = on_shell.stiffness * -1.0;
  const Mat3& h = on_shell.moment;
  const double trace = h(0, 0) + h(1, 1) + h(2, 2);
  g.torque_angular = g.torque_angular + h - Mat3::identity() * trace;
  return g;
}

// The field's body turns its forces with it, dF = w x F, and the points stay where they are in the world, so their
// lever arms q about the body change by minus its motion: d(q x F) = q x (w x F) - v x F.
Mat6 gradient_on_field(const ContactForce& on_shell, const Vec3d& offset) noexcept {
  const ContactForce own = seen_from_field(on_shell, offset);
  Mat6 g = own.stiffness * -1.0;
  const Mat3 f = Mat3::cross_matrix(own.wrench.force);
  const Mat3& h = own.moment;  // sum of q F'
  const double trace = h(0, 0) + h(1, 1) + h(2, 2);
  g.force_angular = g.force_angular - f;
  g.torque_linear = g.torque_linear + f;
  g.torque_angular = g.torque_angular + Mat3::identity() * trace - h.transposed();
  return g;
}

double largest_stiffness(double stiffness, std::uint32_t points, double lipschitz) noexcept {
  return 7 * stiffness * std::sqrt(std::sqrt(static_cast<double>(points))) * lipschitz * lipschitz;
}

}  // namespace cotouch
