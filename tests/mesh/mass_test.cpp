#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/mass.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cotouch::this_file {
namespace {

constexpr double k_steel = 7850;  // kg/m^3

Mat3 diagonal(double x, double y, double z) {
  return {{x, 0, 0, 0, y, 0, 0, 0, z}};
}

void expect_near(const Mat3& a, const Mat3& b, double tolerance) {
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(a.m[i], b.m[i], tolerance) << "entry " << i;
}
void expect_near(const Vec3d& a, const Vec3d& b, double tolerance) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "axis " << i;
}

MassProperties box_by_algebra(const Vec3d& size, double density) {
  const double m = density * size.x * size.y * size.z;
  const auto two = [&](double a, double b) { return m * (a * a + b * b) / 12; };
  return {m, {}, diagonal(two(size.y, size.z), two(size.z, size.x), two(size.x, size.y))};
}

TriangleMesh placed(TriangleMesh mesh, const Pose& pose) {
  for (Vec3d& v : mesh.vertices) v = transform(pose, v);
  return mesh;
}

TEST(Mass, OfABoxFollowsTheFormula) {
  const Vec3d size{0.12, 0.09, 0.07};
  const MassProperties got = mass_properties(make_box(size), k_steel), want = box_by_algebra(size, k_steel);
  EXPECT_NEAR(got.mass, want.mass, 1e-14 * want.mass);
  expect_near(got.center, {}, 1e-17);
  expect_near(got.inertia, want.inertia, 1e-14 * want.inertia.m[0]);
}

TEST(Mass, OfABallAndATorusFollowTheFormulas) {
  // The meshes are inside their curved surfaces, by a share of about the square of half an edge's angle.
  const double r = 0.03;
  const MassProperties ball = mass_properties(make_sphere(r, 6), k_steel);
  const double ball_mass = k_steel * 4 / 3 * k_pi * r * r * r, ball_inertia = 0.4 * ball_mass * r * r;
  EXPECT_NEAR(ball.mass, ball_mass, 1e-3 * ball_mass);
  EXPECT_LT(ball.mass, ball_mass);
  expect_near(ball.center, {}, 1e-12);
  expect_near(ball.inertia, diagonal(ball_inertia, ball_inertia, ball_inertia), 1e-3 * ball_inertia);

  const double ring = 0.04, tube = 0.01;
  const MassProperties torus = mass_properties(make_torus(ring, tube, 400, 200), k_steel);
  const double mass = k_steel * 2 * k_pi * k_pi * ring * tube * tube;
  const double axial = mass * (ring * ring + 0.75 * tube * tube);
  const double across = mass * (0.5 * ring * ring + 0.625 * tube * tube);
  EXPECT_NEAR(torus.mass, mass, 1e-3 * mass);
  expect_near(torus.inertia, diagonal(across, across, axial), 1e-3 * axial);
}

TEST(Mass, OfAnAngleBracketIsThatOfItsTwoPlates) {
  // Foot 70 x 50 x 5 mm on z = 0 from x = 0; back 5 x 50 x 40 mm standing on it.
  const MassProperties got = mass_properties(make_bracket(), k_steel);
  const PlacedMass foot{box_by_algebra({0.07, 0.05, 0.005}, k_steel), {{0.035, 0, 0.0025}, {}}};
  const PlacedMass back{box_by_algebra({0.005, 0.05, 0.04}, k_steel), {{0.0025, 0, 0.025}, {}}};
  const double m1 = foot.matter.mass, m2 = back.matter.mass, m = m1 + m2;
  EXPECT_NEAR(got.mass, m, 1e-14 * m);
  const Vec3d center{(m1 * 0.035 + m2 * 0.0025) / m, 0, (m1 * 0.0025 + m2 * 0.025) / m};
  expect_near(got.center, center, 1e-15);
  // The product of inertia of two points that the plates are, about their common centre.
  const double xz = -m1 * m2 / m * (0.035 - 0.0025) * (0.0025 - 0.025);
  EXPECT_NEAR(got.inertia(0, 2), xz, 1e-12 * std::fabs(xz));
  EXPECT_GT(xz, 0);
  const PlacedMass parts[] = {foot, back};
  const MassProperties sum = combined(parts);
  EXPECT_NEAR(sum.mass, got.mass, 1e-14 * m);
  expect_near(sum.center, got.center, 1e-15);
  expect_near(sum.inertia, got.inertia, 1e-13 * got.inertia.m[0]);
}

TEST(Mass, MovesWithThePart) {
  const Pose pose{{3, -2, 5}, quat_from_rotation_vector({0.4, -1.1, 0.7})};
  const TriangleMesh bracket = make_bracket();
  const MassProperties at_home = mass_properties(bracket, k_steel);
  const MassProperties moved_mesh = mass_properties(placed(bracket, pose), k_steel);
  const MassProperties moved_mass = transformed(at_home, pose);
  EXPECT_NEAR(moved_mesh.mass, at_home.mass, 1e-12 * at_home.mass);
  expect_near(moved_mesh.center, transform(pose, at_home.center), 1e-14);
  // Vertices metres away from the origin are rounded to 1e-15 m, in parts of 5 mm.
  expect_near(moved_mesh.inertia, moved_mass.inertia, 1e-11 * at_home.inertia.m[0]);
  // A rotation keeps the sum and the product of the principal moments.
  const auto trace = [](const Mat3& m) { return m.m[0] + m.m[4] + m.m[8]; };
  EXPECT_NEAR(trace(moved_mass.inertia), trace(at_home.inertia), 1e-13 * trace(at_home.inertia));
  for (const auto& [i, j] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 2}, {2, 0}})
    EXPECT_EQ(moved_mass.inertia(i, j), moved_mass.inertia(j, i));
}

TEST(Mass, ACavityWeighsNothing) {
  TriangleMesh hollow = make_box({0.1, 0.1, 0.1}), inside = make_box({0.08, 0.06, 0.04});
  for (Triangle& t : inside.triangles) std::swap(t[0], t[1]);
  append(hollow, inside);
  EXPECT_TRUE(is_solid(hollow));
  EXPECT_NEAR(mass_properties(hollow, 1000).mass, 1 - 0.192, 1e-13);
}

TEST(Mass, PartsInOneBodyAddUpWhateverTheirPoses) {
  // A box cut into two along x, the halves in frames of their own.
  const Vec3d half{0.05, 0.06, 0.03};
  const Pose turn{{0.025, 0, 0}, quat_from_rotation_vector({0, 0, k_pi})};
  const Pose other{{-0.025, 0, 0}, quat_from_rotation_vector({k_pi, 0, 0})};
  const PlacedMass parts[] = {{box_by_algebra(half, 1000), turn}, {box_by_algebra(half, 1000), other}};
  const MassProperties got = combined(parts), want = box_by_algebra({0.1, 0.06, 0.03}, 1000);
  EXPECT_NEAR(got.mass, want.mass, 1e-15);
  expect_near(got.center, {}, 1e-16);
  expect_near(got.inertia, want.inertia, 1e-16);
  EXPECT_EQ(combined({}).mass, 0);
}

TEST(Mass, TellsSolidsFromWhatOnlyLooksLikeOne) {
  EXPECT_TRUE(is_solid(make_box({1, 2, 3})));
  EXPECT_TRUE(is_solid(make_gear()));
  EXPECT_TRUE(is_solid(make_torus(0.04, 0.01, 48, 24)));
  EXPECT_FALSE(is_solid({}));

  TriangleMesh open = make_sphere(0.1, 3);
  open.triangles.pop_back();
  EXPECT_FALSE(is_solid(open));

  TriangleMesh flipped = make_sphere(0.1, 3);
  for (Triangle& t : flipped.triangles) std::swap(t[0], t[1]);
  EXPECT_FALSE(is_solid(flipped));

  TriangleMesh crossing = make_box({0.1, 0.1, 0.1}), other = make_box({0.1, 0.1, 0.1});
  translate(other, {0.05, 0.03, 0.02});
  append(crossing, other);
  EXPECT_FALSE(is_solid(crossing));

  TriangleMesh nested = make_box({0.1, 0.1, 0.1});  // counted twice inside
  append(nested, make_box({0.05, 0.05, 0.05}));
  EXPECT_FALSE(is_solid(nested));

  TriangleMesh apart = make_box({0.1, 0.1, 0.1}), turned = make_box({0.02, 0.02, 0.02});  // one of two inside out
  for (Triangle& t : turned.triangles) std::swap(t[0], t[1]);
  translate(turned, {1, 0, 0});
  append(apart, turned);
  EXPECT_FALSE(is_solid(apart));
}

TEST(Mass, RefusesWhatHasNone) {
  TriangleMesh sheet;
  sheet.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  sheet.triangles = {{0, 1, 2}};
  EXPECT_THROW(mass_properties(sheet, 1000), Error);
  EXPECT_THROW(mass_properties(TriangleMesh{}, 1000), Error);
  EXPECT_THROW(mass_properties(make_box({1, 1, 1}), 0), Error);
  EXPECT_THROW(mass_properties(make_box({1, 1, 1}), -5), Error);
  EXPECT_THROW(mass_properties(make_box({1, 1, 1}), std::numeric_limits<double>::quiet_NaN()), Error);
}

TEST(Mass, KnowsWhichMatterCanExist) {
  const MassProperties box = box_by_algebra({0.1, 0.2, 0.3}, 1000);
  EXPECT_TRUE(is_physical(box));
  EXPECT_TRUE(is_physical(transformed(box, {{1, 2, 3}, quat_from_rotation_vector({0.3, 0.4, 0.5})})));
  EXPECT_TRUE(is_physical({1, {}, diagonal(1, 1, 2)}));      // a sheet
  EXPECT_FALSE(is_physical({1, {}, diagonal(1, 1, 2.01)}));  // no matter turns like this
  EXPECT_FALSE(is_physical({1, {}, diagonal(0, 1, 1)}));     // a thread without thickness cannot be inverted
  EXPECT_FALSE(is_physical({0, {}, diagonal(1, 1, 1)}));     // no mass
  EXPECT_FALSE(is_physical({1, {}, diagonal(-1, 1, 1)}));
  EXPECT_FALSE(is_physical({1, {}, {{1, 0.1, 0, 0, 1, 0, 0, 0, 1}}}));    // not symmetric
  EXPECT_FALSE(is_physical({1, {}, {{1, 0.6, 0, 0.6, 1, 0, 0, 0, 1}}}));  // principal moments 1.6, 0.4, 1
}

}  // namespace
}  // namespace cotouch::this_file
