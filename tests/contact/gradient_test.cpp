// How the wrench changes with motion: against finite differences, and against the promised stiffness.
#include "contact/pairs.h"

namespace cotouch::this_file {
namespace {

using namespace contact_test;

constexpr double k_half = 0.03;
constexpr double k_stiff = 700;

Vec6 unit(std::size_t column, double size) {
  Vec6 motion{};
  (column < 3 ? motion.linear : motion.angular)[column % 3] = size;
  return motion;
}

// The field of a flat face is linear but for its rounding, so nothing is left out of the gradient: central differences
// with steps of 20 micrometres (at an arm of 2 cm) err by (step / depth)^2 times the numbers of the third derivative,
// 1e-4 here, and by the samples' rounding, quantum / spacing.
TEST(ContactGradient, MatchesFiniteDifferencesFlatAndTiltedForBothBodies) {
  const Field field = box_field({k_half, k_half, k_half}, 40);
  // Away from the part's origin, so that no term cancels by symmetry.
  std::vector<OrientedPoint> points;
  const Shell patch = patch_shell(0.02, 6, 1);
  for (const Vec3f& p : patch.data().positions) points.push_back({Vec3d(p) + Vec3d{0.011, -0.007, 0.005}, {0, 0, 1}});
  Evaluator engine(link_naively(points, 2), field, {.stiffness = k_stiff});
  Random random(51);
  for (const double tilt : {0.0, 0.05, 0.15})
    for (int i = 0; i < 4; ++i) {
      const Pose at = random_pose(random, 0.3);
      const Pose shell =
          at * Pose{{-0.004, 0.003, k_half - 0.0091}, quat_from_rotation_vector({tilt, -tilt / 2, 0.1 * i})};
      const ContactForce base = engine.at(shell, at).on_shell;
      const Vec3d offset = shell.position - at.position;
      ASSERT_GE(engine.contact.stats.in_contact, 30U);
      const double largest = engine.engine.largest_stiffness();
      for (const bool field_moves : {false, true}) {
        const Mat6 gradient = field_moves ? gradient_on_field(base, offset) : gradient_on_shell(base);
        const auto wrench = [&](const Vec6& motion) {
          const Pose s = field_moves ? shell : moved(shell, motion), f = field_moves ? moved(at, motion) : at;
          const ContactForce on_shell = engine.at(s, f).on_shell;
          return field_moves ? seen_from_field(on_shell, s.position - f.position).wrench : on_shell.wrench;
        };
        const double reach = field_moves ? norm(offset) + 0.03 : 0.03;
        for (std::size_t column = 0; column < 6; ++column) {
          const double step = column < 3 ? 2e-5 : 2e-5 / reach;
          const Vec6 motion = unit(column, step);
          const Wrench ahead = wrench(motion), behind = wrench({-motion.linear, -motion.angular});
          const Vec3d force = (ahead.force - behind.force) / (2 * step);
          const Vec3d torque = (ahead.torque - behind.torque) / (2 * step);
          const double error = 2e-3 + static_cast<double>(field.data().quantum / field.spacing());
          const double arm = column < 3 ? 1 : reach;
          for (std::size_t row = 0; row < 3; ++row) {
            EXPECT_NEAR(gradient(row, column), force[row], largest * arm * error) << row << " " << column;
            EXPECT_NEAR(gradient(row + 3, column), torque[row], largest * reach * arm * error) << row << " " << column;
          }
        }
      }
    }
}

TEST(ContactGradient, OfAFaceIsItsForceOverItsDepth) {
  Evaluator engine(patch_shell(0.02, 6, 2), box_field({k_half, k_half, k_half}, 40), {.stiffness = k_stiff});
  engine.at(Pose{{0, 0, k_half - 0.002}, {}});
  const Mat6& c = engine.contact.on_shell.stiffness;
  const double n4 = std::sqrt(6.0);  // 36 points to the power 1/4
  EXPECT_NEAR(c(2, 2), k_stiff * n4, 2e-3 * k_stiff * n4);
  EXPECT_NEAR(c(0, 0), 0, 1e-3 * k_stiff);
  // 36 points on a regular 6 x 6 grid of side 0.02 have a mean square arm of 0.02^2 (1 - 1/36) / 12 about each axis,
  // and turning, whose depths differ, meets seven times the stiffness.
  const double arm_squared = 0.02 * 0.02 * (1 - 1.0 / 36) / 12;
  EXPECT_NEAR(c(3, 3), 7 * k_stiff * n4 * arm_squared, 0.01 * 7 * k_stiff * n4 * arm_squared);
}

double quadratic(const Mat6& c, const Vec6& v) {
  const Vec6 w = c * v;
  return dot(v.linear, w.linear) + dot(v.angular, w.angular);
}

// Random search for a direction that is stiffer than promised or not stiff but springy: whatever touches whatever, a
// motion that moves no point by more than one unit meets at most largest_stiffness(), and never pulls.
TEST(ContactStiffness, IsSymmetricNeverNegativeAndNowhereAboveThePromise) {
  Random random(52);
  for (const PartPair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    Evaluator engine(pair.shell, pair.field);
    const double promise = engine.engine.largest_stiffness();
    EXPECT_DOUBLE_EQ(promise, 7 * 30'000 * std::pow(pair.shell.point_count(), 0.25) *
                                  std::pow(static_cast<double>(pair.field.data().lipschitz), 2));
    double stiffest = 0;
    int touching = 0;
    for (int i = 0; i < 300; ++i) {
      const BodyState shell{random_pose(random, 0.07)};
      engine.at(shell, {}, Detail::at(static_cast<std::uint32_t>(random.below(6))));
      if (engine.contact.stats.in_contact == 0) continue;
      ++touching;
      const Mat6& c = engine.contact.on_shell.stiffness;
      for (std::size_t row = 0; row < 6; ++row)
        for (std::size_t col = 0; col < row; ++col) ASSERT_NEAR(c(row, col), c(col, row), 1e-12 * promise);
      for (int k = 0; k < 40; ++k) {
        Vec6 v{random.vector(0, 1), random.below(2) ? random.vector(0, 60) : Vec3d{}};
        double farthest = 0;
        for (const ContactPoint& p : engine.scratch.touching()) {
          const Vec3d arm = rotate(shell.pose.rotation, Vec3d(pair.shell.data().positions[p.point]));
          farthest = std::max(farthest, norm_squared(v.linear + cross(v.angular, arm)));
        }
        const double stiffness = quadratic(c, v);
        ASSERT_LE(stiffness, promise * farthest * (1 + 1e-9));
        ASSERT_GE(stiffness, -1e-9 * promise * farthest);
        stiffest = std::max(stiffest, stiffness / farthest);
      }
    }
    EXPECT_GT(touching, 30);
    EXPECT_GT(stiffest, promise / 50);  // the search came near enough to mean something
  }
}

// The same for what a hand would measure: over no piece of way on a flat face is the force's rise above the promise,
// first micrometres, tilts and single points included.
TEST(ContactStiffness, MeasuredOverAnyPieceOfWayStaysBelowThePromise) {
  const Field field = box_field({k_half, k_half, k_half}, 40);
  Random random(53);
  for (const std::uint32_t side : {1U, 2U, 5U, 40U}) {
    Evaluator engine(patch_shell(0.02, side, 1), field);
    const double promise = engine.engine.largest_stiffness();
    for (int i = 0; i < 400; ++i) {
      const double tilt = random.below(2) ? 0 : std::pow(10, random.uniform(-5, -1));
      const Quat turn = quat_from_rotation_vector(Vec3d{random.uniform(-1, 1), random.uniform(-1, 1), 0} * tilt);
      const Pose from{{random.uniform(-0.003, 0.003), 0, k_half - random.uniform(-1e-4, 1e-3)}, turn};
      const double way = std::pow(10, random.uniform(-5.5, -3.5));
      const Vec3d direction = random.direction();
      const Vec3d before = engine.at(from).on_shell.wrench.force;
      const Vec3d after = engine.at(moved(from, {direction * way, {}})).on_shell.wrench.force;
      // Depths are rounded to floats of millimetres: a tenth of a nanometre of a way of three micrometres.
      EXPECT_LE(norm(after - before), promise * way * (1 + 1e-3)) << side << " " << tilt << " " << way;
    }
  }
}

}  // namespace
}  // namespace cotouch::this_file
