#include <cotouch/elastic/warp.h>

#include <cotouch/base/trig.h>

#include <cmath>

namespace cotouch {
namespace {

// A and B and their derivatives with respect to s = |w|^2.
struct Coefficients {
  double a, b, da, db;
};

Coefficients coefficients(double s) {
  if (s < 1) {
    // a = sum of (-s)^k / (2k + 2)!, b = sum of (-s)^k / (2k + 3)!: the next term is below 1e-18.
    double a = 0, b = 0, da = 0, db = 0, term = 0.5, slope = 0;
    for (int k = 0; k < 9; ++k) {
      const double third = 1.0 / (2 * k + 3);
      a += term;
      b += term * third;
      da += slope;
      db += slope * third;
      // From (-s)^k / (2k + 2)! to the next, and its derivative.
      const double ratio = -1.0 / ((2 * k + 3) * (2 * k + 4));
      slope = (slope * s + term) * ratio;
      term *= s * ratio;
    }
    return {a, b, da, db};
  }
  const double angle = std::sqrt(s);
  const SinCos turn = sin_cos(angle);
  const double sinc = turn.sin / angle;
  const double a = (1 - turn.cos) / s, b = (1 - sinc) / s;
  const double slope_of_sinc = (turn.cos - sinc) / (2 * s);
  return {a, b, (0.5 * sinc - a) / s, (-slope_of_sinc - b) / s};
}

Mat3 warp_matrix(const Vec3d& w, const Coefficients& c) {
  const Mat3 skew = Mat3::cross_matrix(w);
  return Mat3::identity() + skew * c.a + skew * skew * c.b;
}

}  // namespace

Vec3d warped(const Vec3d& y, const Vec3d& w) noexcept {
  const Coefficients c = coefficients(norm_squared(w));
  const Vec3d turned = cross(w, y);
  return y + turned * c.a + cross(w, turned) * c.b;
}

WarpGradient warp_gradient(const Vec3d& y, const Vec3d& w) noexcept {
  const Coefficients c = coefficients(norm_squared(w));
  const Vec3d turned = cross(w, y), twice = cross(w, turned);
  // w x (w x y) = w (w.y) - y (w.w)
  const Mat3 of_twice = Mat3::identity() * dot(w, y) + Mat3::outer(w, y) - Mat3::outer(y, w) * 2;
  return {warp_matrix(w, c),
          Mat3::cross_matrix(y) * -c.a + of_twice * c.b + Mat3::outer(turned * c.da + twice * c.db, w) * 2};
}

Mat3 turn_gradient(const Vec3d& w) noexcept {
  return warp_matrix(w, coefficients(norm_squared(w)));
}

}  // namespace cotouch
