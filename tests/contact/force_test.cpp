// Newtons: single points by hand, the limit of fine shells (Equation 2), continuity, roles, gradients.
#include "contact/support.h"

#include <gtest/gtest.h>

namespace cotouch {
namespace {

using namespace contact_test;

constexpr double k_half = 0.03;  // of the cube that most tests press on; its upper face is flat and at z = k_half

Field cube() {
  return box_field({k_half, k_half, k_half}, 40);
}

// What a stored sample may be off by: half a quantum. The interpolated value can be off by no more.
double rounding(const Field& field) {
  return static_cast<double>(field.data().quantum) / 2 + 1e-9;
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

TEST(ContactForce, OfOnePointIsStiffnessTimesDepthAlongTheInwardNormal) {
  const Field field = cube();
  // One point 20 mm from the part's origin, 2 mm deep in the upper face of the cube: 500 N/m * 2 mm = 1 N upwards.
  const Shell shell = link_naively({{{0.02, 0, 0}, {0, 0, 1}}}, 1);
  NestedContact engine(shell, field, {.stiffness = 500});
  const Pose pose{{-0.01, 0.005, k_half - 0.002}, {}};
  const double tolerance = 500 * rounding(field);
  ContactResult result;
  engine.evaluate(pose, {}, Moving::shell, result);
  EXPECT_EQ(result.stats.in_contact, 1U);
  EXPECT_NEAR(static_cast<double>(result.stats.deepest), 0.002, rounding(field));
  expect_near(result.wrench.force, {0, 0, 1}, tolerance);
  expect_near(result.wrench.torque, {0, -0.02, 0}, tolerance);  // (0.02, 0, 0) x (0, 0, 1)

  // On the field the force is opposite and acts at (0.01, 0.005, 0.028).
  engine.evaluate(pose, {}, Moving::field, result);
  expect_near(result.wrench.force, {0, 0, -1}, tolerance);
  expect_near(result.wrench.torque, {-0.005, 0.01, 0}, tolerance);
}

TEST(ContactForce, IsScaledDownOnceMoreThanTheThresholdTouch) {
  const Field field = cube();
  for (const std::uint32_t side : {2U, 3U, 4U, 8U}) {
    const Shell shell = patch_shell(0.02, side, 2);
    NestedContact engine(shell, field, {.stiffness = 1000, .scaling_threshold = 10});
    ContactResult result;
    engine.evaluate({{0, 0, k_half - 0.001}, {}}, {}, Moving::shell, result);
    EXPECT_EQ(result.stats.in_contact, side * side);
    EXPECT_NEAR(result.wrench.force.z, std::min(side * side, 10U) * 1.0, 10 * 1000 * rounding(field));
  }
}

TEST(ContactForce, CountsAShallowPointInPart) {
  // 16 points, all half a ramp deep, count as 8 < 10: not scaled. One and a half ramps deep they count as 16.
  const Field field = cube();
  const Shell shell = patch_shell(0.02, 4, 2);
  const double ramp = 0.001;
  NestedContact engine(shell, field, {.stiffness = 1000, .count_ramp = ramp});
  ContactResult result;
  engine.evaluate({{0, 0, k_half - ramp / 2}, {}}, {}, Moving::shell, result);
  EXPECT_NEAR(result.wrench.force.z, 16 * 0.5, 16 * 1000 * rounding(field));
  engine.evaluate({{0, 0, k_half - ramp * 1.5}, {}}, {}, Moving::shell, result);
  EXPECT_NEAR(result.wrench.force.z, 10 * 1.5, 16 * 1000 * rounding(field));
}

TEST(ContactForce, ActsWithEqualAndOppositeStrengthOnTheOtherBody) {
  const Field field = cube();
  NestedContact engine(ball_shell(0.02, 500, 3), field, {});
  Random random(41);
  for (int i = 0; i < 20; ++i) {
    const Pose at = random_pose(random, 1);
    const Pose shell = at * Pose{random.direction() * 0.045, random_pose(random, 0).rotation};
    ContactResult on_shell, on_field;
    engine.evaluate(shell, at, Moving::shell, on_shell);
    engine.evaluate(shell, at, Moving::field, on_field);
    expect_near(on_field.wrench.force, -on_shell.wrench.force, 1e-12);
    const Vec3d about_field = on_shell.wrench.torque + cross(shell.position - at.position, on_shell.wrench.force);
    expect_near(on_field.wrench.torque, -about_field, 1e-12);
  }
}

// A flat patch of side a, tilted about y by the angle t, its middle m deep: along the slope the depth is m + u sin t,
// so the part with u > u0 = max(-a/2, -m / sin t) touches, its mean depth is m + sin t (u0 + a/2) / 2, and Equation 2
// gives k L times that along the patch's normal. Between two shells of n columns the share in contact differs by up to
// a column at the edge, so the error is of the order of 1/n.
TEST(ContactForce, OfATiltedPatchApproachesTheLimitOfEquation2) {
  const Field field = cube();
  const double side = 0.03, tilt = 0.1, middle = 0.00037;
  const SinCos t = sin_cos(tilt);
  const double first = std::max(-side / 2, -middle / t.sin);
  const double expected = 1000 * 10 * (middle + t.sin * (first + side / 2) / 2);
  for (const std::uint32_t n : {8U, 16U, 32U, 64U, 128U}) {
    NestedContact engine(patch_shell(side, n, 1), field, {.count_ramp = 1e-7});
    ContactResult result;
    // Turning about +y lowers the +x end.
    engine.evaluate({{0, 0, k_half - middle}, quat_from_rotation_vector({0, tilt, 0})}, {}, Moving::shell, result);
    const Vec3d force = result.wrench.force;
    EXPECT_NEAR(norm(force), expected, expected * 1.5 / n) << n;
    expect_near(force / norm(force), {t.sin, 0, t.cos}, 1e-6);
  }
}

// A ball of radius R pressed m deep into the flat face: the cap has the area 2 pi R m and the volume
// pi m^2 (3R - m) / 3, so Equation 2's volume form gives k L (m/2 - m^2 / 6R). The sum is over N m / 2R points; one
// over the square root of their number would be the error of points thrown at random, a spiral does better.
TEST(ContactForce, OfABallOnAFlatFaceApproachesPenetrationVolumeOverContactArea) {
  const Field field = cube();
  const double radius = 0.02, depth = 0.004;
  const double expected = 1000 * 10 * (depth / 2 - depth * depth / (6 * radius));
  double error = 0;
  for (const std::uint32_t count : {256U, 1024U, 4096U, 16384U}) {
    NestedContact engine(ball_shell(radius, count, count > 2000 ? 1 : 3), field, {.count_ramp = 1e-7});
    ContactResult result;
    engine.evaluate({{0.0007, 0.0003, k_half + radius - depth}, {}}, {}, Moving::shell, result);
    error = std::fabs(result.wrench.force.z - expected) / expected;
    EXPECT_LT(error, 1 / std::sqrt(count * depth / (2 * radius))) << count;
    EXPECT_NEAR(result.wrench.force.x, 0, expected * 2 / std::sqrt(count)) << count;
  }
  EXPECT_LT(error, 0.003);
}

// Equation 2 for a shell ball of radius a against a field ball of radius b, centres a + b - m apart, by quadrature over
// the height h above the deepest point (equal heights are equal areas on a sphere).
double force_between_balls(double a, double b, double m) {
  const double apart = a + b - m;
  double force = 0, area = 0;
  const int steps = 200000;
  for (int i = 0; i < steps; ++i) {
    const double height = 2 * a * (i + 0.5) / steps, cosine = 1 - height / a;
    const double depth = b - std::sqrt(apart * apart + a * a - 2 * apart * a * cosine);
    if (depth <= 0) break;
    force += depth * cosine;
    area += 1;
  }
  return 1000 * 10 * force / area;
}

TEST(ContactForce, ChangesLittleWhenTheRolesAreSwapped) {
  const double a = 0.03, b = 0.02, depth = 0.001;
  const double one_way = force_between_balls(a, b, depth), other_way = force_between_balls(b, a, depth);
  // The asymmetry of the limit itself is of second order in the depth.
  EXPECT_LT(std::fabs(one_way - other_way), one_way * depth / b);
  ContactResult result;
  NestedContact first(ball_shell(a, 40000, 1), ball_field(b, 80), {.count_ramp = 1e-7});
  first.evaluate({{0, 0, a + b - depth}, {}}, {}, Moving::shell, result);
  const Vec3d as_shell = result.wrench.force;
  const double points = result.stats.in_contact;
  // The same body now carries the field; it is still the one that moves.
  NestedContact second(ball_shell(b, 40000, 1), ball_field(a, 80), {.count_ramp = 1e-7});
  second.evaluate({}, {{0, 0, a + b - depth}, {}}, Moving::field, result);
  const Vec3d as_field = result.wrench.force;
  // Sampling as above, and h^2 / 8b = 0.2 % of the depth's scale from interpolating a ball of radius b linearly.
  const double tolerance = 1 / std::sqrt(points) + 0.01;
  EXPECT_NEAR(as_shell.z, one_way, one_way * tolerance);
  EXPECT_NEAR(as_field.z, other_way, other_way * tolerance);
}

// In F = k s sum(d N) every looked-up d changes by at most sqrt(3) |u| when its point moves by u (trilinear
// interpolation of 1-Lipschitz samples, plus their rounding), and 1/s = max(1, l / L), where l changes by at most
// sqrt(3) |u| / ramp for each point. Hence between two poses with n points touching in one or the other
//   |F2 - F1| <= k n sqrt(3) |u| (s2 + s1 s2 |sum d N| / (L ramp)) + k s2 sum|d| angle.
// A point counted as a whole the moment it enters would change s by 1/l and break the bound.
TEST(ContactForce, IsContinuousAcrossCellsBricksAndEnteringPoints) {
  struct Case {
    Field field;
    Pose start;
    Vec3d direction;
  };
  const double radius = 0.02;
  const std::vector<Case> cases{
      {cube(), {{-0.012, -0.02, k_half + radius - 0.003}, {}}, {0.8, 0.55, -0.02}},
      {torus_field(0.03, 0.01, 60), {{0.028, -0.005, 0.028}, {}}, {0.1, 0.9, -0.03}},
  };
  const double stiffness = 1000, threshold = 3, ramp = 0.001, step = 2e-6, turn = 2e-5;
  for (const Case& c : cases) {
    NestedContact engine(ball_shell(radius, 160, 2), c.field,
                         {.stiffness = stiffness, .scaling_threshold = threshold, .count_ramp = ramp});
    const double slope = std::sqrt(3.0) * (1 + static_cast<double>(c.field.data().quantum / c.field.spacing()));
    Pose pose = c.start;
    ContactResult last, now;
    double last_scale = 1;
    std::vector<bool> touched(160), touches(160);
    int entered = 0, scaled = 0;
    for (int i = 0; i < 12000; ++i) {
      pose = moved(pose, {c.direction * step, Vec3d{0.3, 0.2, 0.9} * turn});
      engine.evaluate(pose, {}, Moving::shell, now);
      double weight = 0, depth = 0;
      touches.assign(160, false);
      int either = 0;
      for (const ContactPoint& p : engine.contacts()) {
        touches[p.point] = true;
        const double d = -static_cast<double>(p.distance);
        weight += std::min(1.0, d / ramp);
        depth += d;
      }
      for (std::size_t p = 0; p < 160; ++p) {
        either += touches[p] || touched[p];
        entered += touches[p] && !touched[p];
      }
      const double scale = std::min(1.0, threshold / weight);
      scaled += scale < 1;
      if (i > 0) {
        const double moved_by = step + turn * radius;
        const double sum = norm(last.wrench.force) / (stiffness * last_scale);
        const double bound =
            stiffness * (either * slope * moved_by * (scale + last_scale * scale * sum / (threshold * ramp)) +
                         scale * (depth + either * moved_by) * turn);
        ASSERT_LE(norm(now.wrench.force - last.wrench.force), bound + 1e-9) << i;
        ASSERT_LE(norm(now.wrench.torque - last.wrench.torque), bound * radius * 1.01 + 1e-9) << i;
      }
      last = now;
      last_scale = scale;
      touched = touches;
    }
    EXPECT_GT(entered, 5);
    EXPECT_GT(scaled, 1000);
  }
}

// A flat patch parallel to the flat face it is pressed on: there the halfspace model of the gradient is exact. Central
// differences then err by the square of the step (1e-6 of the value) and by the rounding of samples, which changes the
// field's slope by up to quantum / spacing.
TEST(ContactGradient, MatchesFiniteDifferencesWhereTheHalfspaceIsExact) {
  const Field field = cube();
  // Away from the part's origin, so that no term cancels by symmetry.
  std::vector<OrientedPoint> points;
  const Shell patch = patch_shell(0.02, 6, 1);
  for (const Vec3f& p : patch.data().positions) points.push_back({Vec3d(p) + Vec3d{0.011, -0.007, 0.005}, {0, 0, 1}});
  NestedContact engine(link_naively(points, 2), field, {.stiffness = 700});
  Random random(51);
  for (const Moving moving : {Moving::shell, Moving::field}) {
    for (int i = 0; i < 5; ++i) {
      const Pose at = random_pose(random, 0.3);
      const Pose shell = at * Pose{{-0.004, 0.003, k_half - 0.0071}, quat_from_rotation_vector({0, 0, 0.1 * i})};
      ContactResult base;
      engine.evaluate(shell, at, moving, base);
      ASSERT_EQ(base.stats.in_contact, 36U);
      const auto wrench = [&](const Vec6& motion) {
        ContactResult result;
        engine.evaluate(moving == Moving::shell ? moved(shell, motion) : shell,
                        moving == Moving::field ? moved(at, motion) : at, moving, result);
        return result.wrench;
      };
      for (std::size_t column = 0; column < 6; ++column) {
        const double step = column < 3 ? 1e-4 : 1e-3;
        Vec6 motion{};
        (column < 3 ? motion.linear : motion.angular)[column % 3] = step;
        const Wrench ahead = wrench(motion), behind = wrench({-motion.linear, -motion.angular});
        const Vec3d force = (ahead.force - behind.force) / (2 * step);
        const Vec3d torque = (ahead.torque - behind.torque) / (2 * step);
        // 10 points' worth of stiffness (the rest is scaled away), lever arms below 0.05 m.
        const double slope_error = static_cast<double>(field.data().quantum / field.spacing()) + 1e-5;
        const double arm = column < 3 ? 1 : 0.05;
        for (std::size_t row = 0; row < 3; ++row) {
          EXPECT_NEAR(base.gradient(row, column), force[row], 7000 * arm * slope_error) << row << " " << column;
          EXPECT_NEAR(base.gradient(row + 3, column), torque[row], 7000 * 0.05 * arm * slope_error)
              << row + 3 << " " << column;
        }
      }
    }
  }
}

TEST(ContactGradient, ResistsPushingInWithTheStiffnessOfTheScaledPoints) {
  NestedContact engine(patch_shell(0.02, 6, 2), cube(), {.stiffness = 700, .scaling_threshold = 10});
  ContactResult result;
  engine.evaluate({{0, 0, k_half - 0.002}, {}}, {}, Moving::shell, result);
  EXPECT_NEAR(result.gradient(2, 2), -7000, 1e-6);
  EXPECT_NEAR(result.gradient(0, 0), 0, 1e-9);
  // 36 points on a regular 6 x 6 grid of side 0.02 have a mean square arm of 0.02^2 (1 - 1/36) / 12 about each axis.
  const double arm_squared = 0.02 * 0.02 * (1 - 1.0 / 36) / 12;
  EXPECT_NEAR(result.gradient(3, 3), -7000 * arm_squared, 1e-6);
}

}  // namespace
}  // namespace cotouch
