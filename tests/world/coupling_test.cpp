#include <cotouch/world/coupling.h>

#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

const CouplingSettings k_settings{.linear_stiffness = 800, .angular_stiffness = 2, .max_force = 5, .max_torque = 0.4};

Vec6 unit_motion(int axis, double size) {
  Vec6 motion;
  if (axis < 3)
    motion.linear[static_cast<std::size_t>(axis)] = size;
  else
    motion.angular[static_cast<std::size_t>(axis - 3)] = size;
  return motion;
}

// The largest difference between the analytic gradient and central differences.
double gradient_error(const Pose& hand, const Pose& object) {
  const Mat6 gradient = couple(k_settings, hand, object).gradient;
  double worst = 0;
  for (int axis = 0; axis < 6; ++axis) {
    const double h = 1e-6;
    const Wrench plus = couple(k_settings, hand, moved(object, unit_motion(axis, h))).wrench;
    const Wrench minus = couple(k_settings, hand, moved(object, unit_motion(axis, -h))).wrench;
    const Vec6 exact = gradient * unit_motion(axis, 1);
    worst = std::max(worst, norm((plus.force - minus.force) / (2 * h) - exact.linear));
    worst = std::max(worst, norm((plus.torque - minus.torque) / (2 * h) - exact.angular));
  }
  return worst;
}

TEST(Coupling, GradientMatchesFiniteDifferencesFromTinyToSaturatedAndNearlyHalfATurn) {
  Random random(21);
  const double distances[] = {0, 1e-6, 1e-3, 4.0 / 800, 5.5 / 800, 0.1};  // around the knee at 4.7 mm and beyond
  const double angles[] = {0, 1e-5, 5e-3, 0.0099, 0.0101, 0.1, 0.17, 0.22, 1.5, 3.0, 3.1};
  for (const double distance : distances)
    for (const double angle : angles) {
      const Pose object{random.direction(), quat_from_rotation_vector(random.direction() * 2.0)};
      const Quat turn = quat_from_rotation_vector(random.direction() * angle);
      const Pose hand{object.position + random.direction() * distance, normalized(turn * object.rotation)};
      // Central differences with h = 1e-6 carry rounding of 5 N * 1e-16 / 1e-6 = 5e-10 and a truncation of h^2 / 6
      // times the third derivative, which is about F / r^3 = 4e7 just beyond the knee: 1e-5 N/m of 800 N/m.
      EXPECT_LT(gradient_error(hand, object), 4e-5) << distance << " " << angle;
    }
}

TEST(Coupling, IsLinearThenSaturatesWithoutAStepInForceOrSlope) {
  const auto pull = [](double r) { return couple(k_settings, {{r, 0, 0}, {}}, {}); };
  EXPECT_DOUBLE_EQ(pull(1e-3).wrench.force.x, 0.8);
  EXPECT_DOUBLE_EQ(pull(1).wrench.force.x, 5);
  // The parabola's middle, by hand: 3.75 + 800 s (1 - s / 2w) with s = w/2 and w = 2.5/800 is 3.75 + 0.9375.
  EXPECT_NEAR(pull(3.75 / 800 + 1.25 / 800).wrench.force.x, 4.6875, 1e-12);
  for (const double border : {3.75 / 800, 6.25 / 800}) {
    EXPECT_NEAR(pull(border - 1e-9).wrench.force.x, pull(border + 1e-9).wrench.force.x, 2e-6);
    EXPECT_NEAR(pull(border - 1e-9).gradient(0, 0), pull(border + 1e-9).gradient(0, 0), 1e-3);
  }
}

TEST(Coupling, SolveGradientLeadsToTheHandFromAnywhere) {
  Random random(22);
  for (int trial = 0; trial < 200; ++trial) {
    const Pose object{random.direction(), quat_from_rotation_vector(random.direction() * 2.0)};
    const Vec6 way{random.vector(0, 1), random.vector(0, 3.1)};
    const CouplingResult result = couple(k_settings, moved(object, way), object);
    Vec6 motion;
    ASSERT_TRUE(solve(result.solve_gradient, {-result.wrench.force, -result.wrench.torque}, motion));
    EXPECT_LT(norm(motion.linear - way.linear), 1e-12);
    EXPECT_LT(norm(motion.angular - way.angular), 1e-9);  // J is worst conditioned near half a turn
  }
}

TEST(Coupling, WrenchIsTheGradientOfItsEnergy) {
  Random random(23);
  for (int trial = 0; trial < 200; ++trial) {
    const Pose object{{}, quat_from_rotation_vector(random.direction() * 2.0)};
    const Pose hand = moved(object, {random.vector(0, 0.012), random.vector(0, 0.5)});
    const Wrench wrench = couple(k_settings, hand, object).wrench;
    for (int axis = 0; axis < 6; ++axis) {
      const double h = 1e-6;
      const double slope = (coupling_energy(k_settings, hand, moved(object, unit_motion(axis, h))) -
                            coupling_energy(k_settings, hand, moved(object, unit_motion(axis, -h)))) /
                           (2 * h);
      const double along =
          axis < 3 ? wrench.force[static_cast<std::size_t>(axis)] : wrench.torque[static_cast<std::size_t>(axis - 3)];
      EXPECT_NEAR(slope, -along, 1e-7);
    }
  }
}

TEST(Coupling, SaysNothingWhereItHasNoStiffness) {
  const CouplingResult result = couple({0, 0, 5, 1}, {{1, 2, 3}, quat_from_rotation_vector({1, 0, 0})}, {});
  EXPECT_EQ(result.wrench, Wrench{});
}

}  // namespace
}  // namespace cotouch::this_file
