// Newtons: points, edges and faces against algebra, action and reaction, continuity, energy, clearance.
#include "contact/pairs.h"

#include <functional>

namespace cotouch::this_file {
namespace {

using namespace contact_test;

constexpr double k_half = 0.03;     // of the cube that most tests press on; its upper face is flat and at z = k_half
constexpr double k_stiff = 30'000;  // of a single point

Field cube() {
  return box_field({k_half, k_half, k_half}, 40);
}

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

// Contact with the cube's upper face by algebra: depths from the points' places, then
// F = k S^(-3/4) sum(d^7) upwards and its torque about the shell's position.
struct OnFlatFace {
  Wrench wrench;
  double energy = 0;  // k / 2 S^(1/4)
  double points = 0;
};
OnFlatFace on_flat_face(const Shell& shell, const Pose& pose) {
  OnFlatFace out;
  double s = 0;
  for (const Vec3f& p : shell.data().positions) {
    const Vec3d arm = rotate(pose.rotation, Vec3d(p));
    const double depth = k_half - pose.position.z - arm.z;
    if (depth <= 0) continue;
    const double seventh = std::pow(depth, 7);
    s += seventh * depth;
    out.wrench = out.wrench + Wrench{{0, 0, seventh}, cross(arm, {0, 0, seventh})};
    out.points += 1;
  }
  if (s > 0) out.wrench = out.wrench * (k_stiff * std::pow(s, -0.75));
  out.energy = k_stiff / 2 * std::pow(s, 0.25);
  return out;
}

TEST(ContactForce, OfOnePointIsStiffnessTimesDepthAlongTheFieldsGradient) {
  const Field field = cube();
  // One point 20 mm from the part's origin, 2 mm deep in the upper face of the cube: 500 N/m * 2 mm = 1 N upwards,
  // whatever its own normal is.
  const Shell shell = link_naively({{{0.02, 0, 0}, {0.6, 0, 0.8}}}, 1);
  Evaluator engine(shell, field, {.stiffness = 500});
  const Pose pose{{-0.01, 0.005, k_half - 0.002}, {}};
  const double tolerance = 500 * rounding(field) + 1e-3 * 1;  // the slope of rounded samples
  engine.at(pose);
  EXPECT_EQ(engine.contact.stats.in_contact, 1U);
  EXPECT_NEAR(static_cast<double>(engine.contact.stats.deepest), 0.002, rounding(field));
  expect_near(engine.contact.on_shell.wrench.force, {0, 0, 1}, tolerance);
  expect_near(engine.contact.on_shell.wrench.torque, {0, -0.02, 0}, tolerance);  // (0.02, 0, 0) x (0, 0, 1)

  // On the field the force is opposite and acts at (0.01, 0.005, 0.028).
  const ContactForce other = seen_from_field(engine.contact.on_shell, pose.position);
  expect_near(other.wrench.force, {0, 0, -1}, tolerance);
  expect_near(other.wrench.torque, {-0.005, 0.01, 0}, tolerance);
}

// A 40 x 40 mm patch of 128 x 128 points on a plate: k N^(1/4) d, linear from the first micrometre on, on every level.
TEST(ContactForce, OfAFlatFaceGrowsLinearlyWithItsDepthOnEveryLevel) {
  const Field plate = box_field({0.04, 0.04, 0.01}, 64);
  Evaluator engine(patch_shell(0.04, 128, 4), plate);
  const double stiffness = k_stiff * std::sqrt(std::sqrt(16384.0));
  EXPECT_NEAR(stiffness, k_stiff * 11.3137, 1);
  const double off = stiffness * rounding(plate);
  for (std::uint32_t level = 0; level < 4; ++level)
    for (const double depth : {1e-6, 2e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3}) {
      engine.at(BodyState{{{0, 0, 0.01 - depth}, {}}}, {}, Detail::at(level));
      EXPECT_NEAR(engine.contact.on_shell.wrench.force.z, stiffness * depth, off + 1e-3 * stiffness * depth) << depth;
      // The coarser levels' points lie a little to one side.
      if (level == 3) {
        EXPECT_LE(norm(engine.contact.on_shell.wrench.torque), off * 0.03 + 1e-3 * stiffness * depth * 0.03);
      }
    }
  // No step anywhere: a micrometre adds what a micrometre is worth.
  double last = 0;
  for (int i = 0; i <= 200; ++i) {
    const double force = engine.at(Pose{{0, 0, 0.01 - i * 1e-6}, {}}).on_shell.wrench.force.z;
    EXPECT_LE(force - last, stiffness * 1e-6 * 1.001 + off * 0.1) << i;
    last = force;
  }
}

TEST(ContactForce, GrowsWithTheFourthRootOfTheNumberOfPoints) {
  const Field field = cube();
  for (const std::uint32_t side : {1U, 2U, 3U, 4U, 8U}) {
    Evaluator engine(patch_shell(0.02, side, 2), field, {.stiffness = 1000});
    const double force = engine.at(Pose{{0, 0, k_half - 0.001}, {}}).on_shell.wrench.force.z;
    EXPECT_EQ(engine.contact.stats.in_contact, side * side);
    EXPECT_NEAR(force, std::sqrt(static_cast<double>(side)), 3000 * rounding(field) + 1e-3);
  }
}

// Face, edge, corner: a patch turned more and more, first about one axis, then about two. The force is that of the
// potential over the points' depths, which algebra knows; an error e in each depth changes it by at most
// largest_stiffness() e.
TEST(ContactForce, OfFacesEdgesAndCornersAgreesWithAlgebra) {
  const Field field = cube();
  const Shell shell = patch_shell(0.02, 24, 1);
  Evaluator engine(shell, field);
  for (const double turn : {0.0, 0.003, 0.02, 0.1, 0.5})
    for (const double about_y : {0.0, 0.5, 1.0}) {
      const Quat rotation = quat_from_rotation_vector({turn, turn * about_y, 0});
      // The lowest point half a millimetre deep.
      double lowest = 0;
      for (const Vec3f& p : shell.data().positions) lowest = std::min(lowest, rotate(rotation, Vec3d(p)).z);
      const Pose pose{{0.001, -0.002, k_half - 0.0005 - lowest}, rotation};
      const OnFlatFace expected = on_flat_face(shell, pose);
      engine.at(pose);
      const Wrench& felt = engine.contact.on_shell.wrench;
      const double tolerance = engine.engine.largest_stiffness() * rounding(field) + 1e-3 * expected.wrench.force.z;
      EXPECT_NEAR(engine.contact.stats.in_contact, expected.points, 0.02 * expected.points + 1);
      expect_near(felt.force, expected.wrench.force, tolerance);
      expect_near(felt.torque, expected.wrench.torque, tolerance * 0.015);
      EXPECT_NEAR(k_stiff / 2 * std::pow(engine.contact.sums.depth8, 0.25), expected.energy, tolerance * 0.0005 + 1e-9);
    }
}

TEST(ContactForce, OfABallOnAFlatFaceAgreesWithAlgebra) {
  const Field field = cube();
  const Shell shell = ball_shell(0.02, 4096, 1);
  Evaluator engine(shell, field);
  for (const double depth : {0.0002, 0.001, 0.004}) {
    const Pose pose{{0.0007, 0.0003, k_half + 0.02 - depth}, quat_from_rotation_vector({0.3, 0.2, 0})};
    const OnFlatFace expected = on_flat_face(shell, pose);
    ASSERT_GT(expected.points, 5);
    const double tolerance = largest_stiffness(k_stiff, static_cast<std::uint32_t>(expected.points)) * rounding(field) +
                             1e-3 * expected.wrench.force.z;
    expect_near(engine.at(pose).on_shell.wrench.force, expected.wrench.force, tolerance);
  }
}

TEST(ContactForce, ActsEquallyAndOppositelyOnTheOtherBody) {
  Random random(41);
  int touching = 0;
  for (const PartPair& pair : pairs()) {
    Evaluator engine(pair.shell, pair.field);
    for (int i = 0; i < 30; ++i) {
      const Pose field = random_pose(random, 1);
      const Pose shell = field * random_pose(random, 0.06);
      const ContactForce on_shell = engine.at(shell, field).on_shell;
      const ContactForce on_field = seen_from_field(on_shell, shell.position - field.position);
      EXPECT_EQ(on_field.wrench.force, -on_shell.wrench.force);
      // Torques about the field's body, point by point.
      Vec3d torque;
      double most = 1e-9;
      const std::vector<Vec3d> forces = engine.point_forces({shell}, {field});
      for (std::size_t p = 0; p < forces.size(); ++p) {
        const Vec3d at = transform(shell, Vec3d(pair.shell.data().positions[engine.scratch.touching()[p].point]));
        torque -= cross(at - field.position, forces[p]);
        most += norm(forces[p]);
      }
      EXPECT_LT(norm(on_field.wrench.torque - torque), 1e-11 * most);
      touching += engine.contact.stats.in_contact > 0;
    }
  }
  EXPECT_GT(touching, 50);
}

TEST(ContactForce, IsTheSumOfTheForcesOfItsPoints) {
  Random random(42);
  int touching = 0;
  for (const PartPair& pair : pairs()) {
    Evaluator engine(pair.shell, pair.field);
    for (int i = 0; i < 30; ++i) {
      const BodyState field{random_pose(random, 1), i % 2 ? 0.0005 : 0};
      const BodyState shell{field.pose * random_pose(random, 0.06)};
      engine.at(shell, field, Detail::at(static_cast<std::uint32_t>(random.below(4))));
      const std::vector<Vec3d> forces = engine.point_forces(shell, field);
      Wrench sum;
      double most = 1e-9;
      for (std::size_t p = 0; p < forces.size(); ++p) {
        const Vec3d at =
            rotate(shell.pose.rotation, Vec3d(pair.shell.data().positions[engine.scratch.touching()[p].point]));
        sum = sum + Wrench{forces[p], cross(at, forces[p])};
        most += norm(forces[p]);
      }
      EXPECT_LT(norm(sum.force - engine.contact.on_shell.wrench.force), 1e-12 * most);
      EXPECT_LT(norm(sum.torque - engine.contact.on_shell.wrench.torque), 1e-12 * most);
      EXPECT_EQ(forces.size(), engine.contact.stats.in_contact);
      touching += most > 1e-3;
    }
  }
  EXPECT_GT(touching, 50);
}

// Two contacts of one body that share a potential are no stiffer than one of as many points; sums about another point
// and from the other side say the same.
TEST(ContactForce, OfSharedSumsIsThatOfOneShellWithAllThePoints) {
  const Field field = cube();
  const auto patch_at = [](double x) {
    std::vector<OrientedPoint> points;
    const Shell patch = patch_shell(0.01, 5, 1);
    for (const Vec3f& p : patch.data().positions) points.push_back({Vec3d(p) + Vec3d{x, 0.002, 0}, {0, 0, 1}});
    return points;
  };
  std::vector<OrientedPoint> both = patch_at(-0.008);
  const std::vector<OrientedPoint> right = patch_at(0.009);
  Evaluator one(link_naively(both, 1), field), other(link_naively(right, 1), field);
  both.insert(both.end(), right.begin(), right.end());
  Evaluator whole(link_naively(both, 1), field);
  const Pose pose{{0, 0, k_half - 0.001}, quat_from_rotation_vector({0.02, 0.03, 0})};
  const ContactForce together = contact_force(one.at(pose).sums + other.at(pose).sums, k_stiff);
  const ContactForce expected = whole.at(pose).on_shell;
  EXPECT_LT(norm(together.wrench.force - expected.wrench.force), 1e-11 * norm(expected.wrench.force));
  EXPECT_LT(norm(together.wrench.torque - expected.wrench.torque), 1e-11 * norm(expected.wrench.force));
  // Each one's share adds up to the whole.
  const double total = one.contact.sums.depth8 + other.contact.sums.depth8;
  const Vec3d shares = contact_force(one.contact.sums, k_stiff, total).wrench.force +
                       contact_force(other.contact.sums, k_stiff, total).wrench.force;
  EXPECT_LT(norm(shares - together.wrench.force), 1e-11 * norm(shares));

  const Vec3d offset{0.1, -0.2, 0.3};
  const ContactForce seen = seen_from_field(expected, offset);
  const ContactForce from_sums = contact_force(negated(shifted(whole.contact.sums, offset)), k_stiff);
  EXPECT_LT(norm(seen.wrench.torque - from_sums.wrench.torque), 1e-10);
  for (std::size_t i = 0; i < 36; ++i)
    EXPECT_NEAR(seen.stiffness(i / 6, i % 6), from_sums.stiffness(i / 6, i % 6), 1e-9 * 7 * k_stiff);
}

// Between two poses near each other the force changes by no more than the largest stiffness times the motion, plus
// what the field's gradient turns at the points that touch: it has steps at the borders of cells where the field is
// curved, and none where it is flat. Points come and go on the way; one that counted as a whole at once would break the
// bound.
TEST(ContactForce, IsContinuousAcrossCellsAndEnteringPoints) {
  struct Case {
    Field field;
    Pose start;
    Vec3d direction;
    bool flat;
  };
  const double radius = 0.02, step = 2e-6, turn = 2e-5;
  const std::vector<Case> cases{
      {cube(), {{-0.006, -0.004, k_half + radius - 0.003}, {}}, {0.5, 0.35, -0.02}, true},
      {torus_field(0.03, 0.01, 60), {{0.028, -0.005, 0.028}, {}}, {0.1, 0.9, -0.03}, false},
  };
  for (const Case& c : cases) {
    const Shell shell = ball_shell(radius, 800, 2);
    Evaluator engine(shell, c.field);
    const double largest = engine.engine.largest_stiffness();
    Pose pose = c.start;
    Wrench last;
    std::vector<Vec3d> last_gradient(800), gradient(800);
    std::vector<double> last_size(800), size(800);
    int entered = 0;
    for (int i = 0; i < 12000; ++i) {
      pose = moved(pose, {c.direction * step, Vec3d{0.3, 0.2, 0.9} * turn});
      engine.at(pose);
      const Wrench now = engine.contact.on_shell.wrench;
      const std::vector<Vec3d> forces = engine.point_forces(BodyState{pose}, {});
      size.assign(800, 0);
      for (std::size_t p = 0; p < forces.size(); ++p) {
        const ContactPoint& touching = engine.scratch.touching()[p];
        const double pushed = engine.contact.on_shell.scale * engine.contact.weight *
                              std::pow(-static_cast<double>(touching.distance), 7);
        size[touching.point] = pushed;
        if (pushed > 0) gradient[touching.point] = forces[p] / pushed;
      }
      if (i > 0) {
        double turned = 0;
        for (std::size_t p = 0; p < 800; ++p) {
          entered += size[p] > 0 && last_size[p] == 0;
          if (size[p] > 0 && last_size[p] > 0) turned += size[p] * norm(gradient[p] - last_gradient[p]);
        }
        const double bound = largest * (step + turn * radius) * 1.01 + (c.flat ? 0.002 : 1.0) * turned + 1e-6;
        ASSERT_LE(norm(now.force - last.force), bound) << i;
        ASSERT_LE(norm(now.torque - last.torque), (bound + norm(now.force) * turn) * radius * 1.01) << i;
      }
      last = now;
      last_size = size;
      last_gradient = gradient;
    }
    EXPECT_GT(entered, 5);
  }
}

// Work of the contact along a way of poses, by the midpoint rule: force times the motion and torque times the turn.
double work_along(Evaluator& engine, const std::function<Pose(double)>& way, int steps, double& turned_over) {
  double work = 0;
  turned_over = 0;
  for (int i = 0; i < steps; ++i) {
    const Pose a = way(static_cast<double>(i) / steps), b = way((i + 1.0) / steps);
    const Wrench w = engine.at(way((i + 0.5) / steps)).on_shell.wrench;
    const double done =
        dot(w.force, b.position - a.position) + dot(w.torque, rotation_vector(b.rotation * a.rotation.conjugate()));
    work += done;
    turned_over += std::fabs(done);
  }
  return work;
}

// A closed way of poses through contact, deep and shallow, sliding and turning, gives back what it took. (Some of these
// ways lead deeper than the field is stored finely, where forces were not the derivative of their potential.) The
// midpoint rule errs where the gradient steps at a cell's border, by the step of the force times the length of one
// piece: with pieces half as long by half as much, and by less than a thousandth of what was turned over here.
TEST(ContactForce, DoesNoWorkAroundAClosedWay) {
  Random random(45);
  for (const PartPair& pair : pairs()) {
    SCOPED_TRACE(pair.name);
    Evaluator engine(pair.shell, pair.field);
    int touched = 0;
    for (int trial = 0; trial < 3; ++trial) {
      // Around a pose on the border of contact.
      Pose middle = random_pose(random, 0.05);
      for (int i = 0; i < 200 && engine.at(middle).stats.deepest > 0.004F; ++i) middle.position *= 1.02;
      const Vec3d a = random.direction() * 0.004, b = random.direction() * 0.003, c = random.direction() * 0.2;
      const auto way = [&](double t) {
        const SinCos once = sin_cos(2 * k_pi * t), twice = sin_cos(4 * k_pi * t);
        return moved(middle, {a * once.cos + b * twice.sin, c * once.sin});
      };
      double turned_over = 0, coarse_turned = 0;
      const double fine = work_along(engine, way, 4000, turned_over);
      const double coarse = work_along(engine, way, 500, coarse_turned);
      if (turned_over < 1e-4) continue;
      ++touched;
      EXPECT_LT(std::fabs(fine), 1e-3 * turned_over);
      EXPECT_LT(std::fabs(coarse), 1e-2 * turned_over);
      // And from end to end it is the difference of the potential.
      const auto half = [&](double t) { return way(t / 2); };
      const double there = work_along(engine, half, 4000, turned_over);
      const double stored =
          k_stiff / 2 *
          (std::pow(engine.at(way(0)).sums.depth8, 0.25) - std::pow(engine.at(way(0.5)).sums.depth8, 0.25));
      EXPECT_NEAR(there, stored, 1e-3 * turned_over + 1e-9);
    }
    EXPECT_GE(touched, 1);
  }
}

TEST(ContactForce, BeginsAtTheClearanceOfBothBodiesTogether) {
  const Field field = cube();
  Evaluator engine(patch_shell(0.02, 4, 2), field);
  const double stiffness = k_stiff * 2;  // sixteen points
  const double most = static_cast<double>(field.largest_clearance());
  ASSERT_GT(most, 0.002);
  CoherenceCache cache;
  for (const double clearance : {0.0, 0.0005, 0.002})
    for (const double gap : {-0.0003, 0.0004, 0.0015, 0.0019, 0.0025}) {
      const BodyState shell{{{0, 0, k_half + gap}, {}}, clearance / 4}, other{{}, clearance * 3 / 4};
      const PairContact& contact = engine.at(shell, other, {}, &cache);  // one cache for all clearances
      const double expected = stiffness * std::max(0.0, clearance - gap);
      EXPECT_NEAR(contact.on_shell.wrench.force.z, expected, stiffness * rounding(field) + 2e-3 * expected);
    }
  // More than the field knows is as much as it knows; less than nothing is nothing.
  EXPECT_NEAR(engine.at(BodyState{{{0, 0, k_half}, {}}, 1.0}, {}).on_shell.wrench.force.z, stiffness * most,
              stiffness * rounding(field) + 2e-3 * stiffness * most);
  EXPECT_EQ(engine.at(BodyState{{{0, 0, k_half + 0.0001}, {}}, -1.0}, {}).stats.in_contact, 0U);
}

// The moment sum of r F' about another point, `offset` from which lies the first, and as the other body has it.
TEST(ContactForce, MomentsMoveWithThePointTheyAreAbout) {
  Random random(57);
  const auto vector = [&] { return random.vector(0.1, 1); };
  const Vec3d offset = vector();
  ContactSums sums;
  ContactForce force;
  Mat3 moved;
  for (int i = 0; i < 5; ++i) {
    const Vec3d r = vector(), f = vector();
    sums.push.force += f;
    sums.moment = sums.moment + Mat3::outer(r, f);
    moved = moved + Mat3::outer(r + offset, f);
  }
  force.wrench.force = sums.push.force;
  force.moment = sums.moment;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(shifted(sums, offset).moment(i, j), moved(i, j), 1e-12);
      EXPECT_NEAR(seen_from_field(force, offset).moment(i, j), -moved(i, j), 1e-12);
      EXPECT_EQ(negated(sums).moment(i, j), -sums.moment(i, j));
    }
}

}  // namespace
}  // namespace cotouch::this_file
