// Adds the penalty forces of single points up to a wrench and its gradient (paper 001, II-A and V).
//
// A point of the shell at x (lever arm r = x - shell position, p in the shell's own frame) with inward normal N and
// field value d < 0 pushes the shell with F = -k d N. Its gradient treats the field there as an infinite halfspace
// facing along N, so a motion u of the point relative to the field changes d by N.u. Write c = r x N; then for a small
// motion (a, w) of the moving body:
//
//   shell moves:  u = a + w x r, and N, r turn with the body: dN = w x N, dc = w x c.
//     F = -k d N   dF/da = -k N N'     dF/dw = -k (N c' - d [N]x)
//     T = -k d c   dT/da = -k c N'     dT/dw = -k (c c' - d [c]x)
//
//   field moves:  with q = x - field position and e = q x N, u = -(a + w x q); N and x stay, q changes by -a.
//     F =  k d N   dF/da = -k N N'     dF/dw = -k N e'
//     T =  k d e   dT/da = -k (e N' - d [N]x)   dT/dw = -k e e'
//
// With s = shell position - field position, q = r + s and e = c + s x N, so both roles follow from the same five sums,
// which are taken in the shell's frame, where N and c do not depend on the pose.
//
// Scaling by L / l above L points (see nested.h) multiplies everything; its own change is left out of the gradient.
#pragma once

#include <cotouch/contact/engine.h>

#include <algorithm>

namespace cotouch {

class ContactSum {
 public:
  // `inverse_ramp` is 1 / (the depth at which a point counts as a whole one).
  explicit ContactSum(double inverse_ramp) : inverse_ramp_(inverse_ramp) {}

  void add(const Vec3f& position, const Vec3f& inward_normal, float distance) noexcept {
    const Vec3d n(inward_normal);
    const Vec3d c = cross(Vec3d(position), n);
    const double d = static_cast<double>(distance);
    force_ += n * d;
    torque_ += c * d;
    count_ += std::min(1.0, -d * inverse_ramp_);
    nn_ = nn_ + Mat3::outer(n, n);
    nc_ = nc_ + Mat3::outer(n, c);
    cc_ = cc_ + Mat3::outer(c, c);
  }

  // l, the number of points in contact, shallow ones counted in part.
  double count() const noexcept { return count_; }
  // Fills wrench and gradient on the moving body.
  void finish(const Pose& shell, const Pose& field, Moving moving, double stiffness,
              ContactResult& result) const noexcept;

 private:
  double inverse_ramp_;
  double count_ = 0;
  Vec3d force_, torque_;  // sums of d n and d c
  Mat3 nn_, nc_, cc_;     // sums of n n', n c', c c'
};

}  // namespace cotouch
