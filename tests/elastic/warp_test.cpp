#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/elastic/warp.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

// The integral itself, by Simpson's rule.
Vec3d integrated(const Vec3d& y, const Vec3d& w) {
  constexpr int k_steps = 400;
  Vec3d sum;
  for (int i = 0; i <= k_steps; ++i) {
    const double factor = i == 0 || i == k_steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += rotate(quat_from_rotation_vector(w * (static_cast<double>(i) / k_steps)), y) * factor;
  }
  return sum / (3 * k_steps);
}

TEST(Warp, IsTheIntegralOfTheTurningDisplacement) {
  Random random(1);
  for (const double angle : {0.0, 1e-8, 1e-3, 0.5, 0.999, 1.001, 3.0, 6.5}) {
    const Vec3d y = random.direction() * 0.3, w = random.direction() * angle;
    // Simpson's error is (angle / steps)^4 / 180 of |y|.
    EXPECT_LT(norm(warped(y, w) - integrated(y, w)), 1e-9) << angle;
  }
}

TEST(Warp, BendsAnArcIntoACircle) {
  // A rod along x whose linear mode turns it by x k about z: the rod becomes an arc of the radius 1 / k, and keeps its
  // length where linear modes would make it longer.
  const double k = 2, x = 0.7;
  const Vec3d y{0, k * x * x / 2, 0}, w{0, 0, k * x};
  const Vec3d at = Vec3d{x, 0, 0} + warped(y, w);
  const SinCos turn = sin_cos(k * x);
  // To third order in the angle, which is what the warping of single points promises.
  EXPECT_NEAR(at.x, turn.sin / k, 0.25 * k * k * x * x * x);
  EXPECT_NEAR(at.y, (1 - turn.cos) / k, 0.1 * k * x * x);
  EXPECT_LT(norm(at), x);
  EXPECT_GT(norm(Vec3d{x, 0, 0} + y), x * 1.2);
}

TEST(Warp, GradientsAreThoseOfFiniteDifferences) {
  Random random(2);
  for (const double angle : {1e-4, 0.3, 0.9, 1.1, 2.5, 5.0}) {
    const Vec3d y = random.direction() * 0.4, w = random.direction() * angle;
    const WarpGradient gradient = warp_gradient(y, w);
    constexpr double k_step = 1e-5;
    for (std::size_t i = 0; i < 3; ++i) {
      Vec3d d;
      d[i] = k_step;
      const Vec3d by_y = (warped(y + d, w) - warped(y - d, w)) / (2 * k_step);
      const Vec3d by_w = (warped(y, w + d) - warped(y, w - d)) / (2 * k_step);
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(gradient.by_displacement(k, i), by_y[k], 1e-9) << angle;
        EXPECT_NEAR(gradient.by_rotation(k, i), by_w[k], 1e-9) << angle;
      }
      const Quat turned = quat_from_rotation_vector(w + d) * quat_from_rotation_vector(w - d).conjugate();
      const Vec3d turn = rotation_vector(turned) / (2 * k_step);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(turn_gradient(w)(k, i), turn[k], 1e-8) << angle;
    }
  }
}

TEST(Warp, IsBoundedByTheLinearDisplacement) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const Vec3d y = random.vector(0, 1), a = random.vector(0, 8);
    const Vec3d b = a + random.vector(0, 2);
    EXPECT_LE(norm(warped(y, a)), norm(y) * (1 + 1e-12));
    EXPECT_LE(norm(warped(y, a) - warped(y, b)), 0.5 * norm(a - b) * norm(y) * (1 + 1e-12));
  }
}

}  // namespace
}  // namespace cotouch::this_file
