#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/mass.h>
#include <cotouch/shapes/docking.h>
#include <mesh/mesh_checks.h>
#include <shapes/fit_checks.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

TEST(Docking, BracketAndBoxAreSolidsOfTheirSize) {
  const TriangleMesh bracket = make_engine_bracket(), box = make_fuel_control_box();
  for (const TriangleMesh* mesh : {&bracket, &box}) {
    SCOPED_TRACE(mesh->name);
    EXPECT_TRUE(is_closed_and_consistent(*mesh));
    EXPECT_TRUE(is_solid(*mesh));
    EXPECT_GT(mesh->triangles.size(), 1000u);
    EXPECT_LT(mesh->triangles.size(), 20'000u);
  }
  const Vec3d low{-0.06, -0.045, -0.035}, high{0.06, 0.045, 0.035};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(box.bounds().low[i], low[i], 1e-12);
    EXPECT_NEAR(box.bounds().high[i], high[i], 1e-12);
  }
  EXPECT_LT(bracket.bounds().size().x, 0.25);
}

TEST(DockingSlow, DockedBoxHasItsClearanceOnAllSides) {
  const FitPart bracket(make_engine_bracket()), box(make_fuel_control_box());
  const Pose docked = docked_pose();
  EXPECT_NEAR(clearance(box, docked, bracket, {}), 0.001, 1e-9);
  // It can be moved by the clearance and no further, down, up, to the sides and to the back; the front is open.
  const auto moved_by = [&](const Vec3d& by) {
    return clearance(box, {docked.position + by, docked.rotation}, bracket, {});
  };
  for (const Vec3d& way : {Vec3d{0, 0, -1}, Vec3d{0, 0, 1}, Vec3d{0, 1, 0}, Vec3d{0, -1, 0}, Vec3d{-1, 0, 0}}) {
    EXPECT_GT(moved_by(way * 0.0009), 0.00005);
    EXPECT_LT(moved_by(way * 0.0011), 0);
  }
}

TEST(DockingSlow, TheWayInIsFree) {
  const FitPart bracket(make_engine_bracket()), box(make_fuel_control_box());
  const Pose docked = docked_pose(), start = undocked_pose();
  EXPECT_GT(clearance(box, start, bracket, {}, 0.02), 0.01);
  EXPECT_EQ(start.rotation, docked.rotation);
  EXPECT_GT(norm(start.position - docked.position), 0.04);
  // Sideways and down in front of the rails, then along them.
  const Vec3d before{start.position.x, docked.position.y, docked.position.z};
  for (int i = 0; i <= 10; ++i) {
    const double t = 0.1 * i;
    EXPECT_GT(clearance(box, {start.position * (1 - t) + before * t, {}}, bracket, {}), 0.0009);
    EXPECT_GT(clearance(box, {before * (1 - t) + docked.position * t, {}}, bracket, {}), 0.0009);
  }
}

TEST(DockingSlow, BoxDoesNotDockTheWrongWayAround) {
  const FitPart bracket(make_engine_bracket()), box(make_fuel_control_box());
  const Pose docked = docked_pose();
  EXPECT_LT(clearance(box, {docked.position, quat_from_rotation_vector({0, 0, k_pi})}, bracket, {}), 0);
  // Within the 9.5 degrees of the task a turn about any axis can still be stopped by the rails.
  for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}})
    EXPECT_LT(clearance(box, {docked.position, quat_from_rotation_vector(axis * (5 * k_pi / 180))}, bracket, {}), 0);
}

TEST(Docking, BoxWeighsWhatTwoHandsCarry) {
  const MassProperties matter = mass_properties(make_fuel_control_box(), 2700);  // aluminium
  EXPECT_GT(matter.mass, 0.5);
  EXPECT_LT(matter.mass, 2);
  EXPECT_TRUE(is_physical(matter));
  EXPECT_GT(std::fabs(matter.center.x), 0.001);  // not in the middle: it wants to turn
}

TEST(Docking, RefusesAClearanceOfNothing) {
  DockingShape shape;
  shape.clearance = 0;
  EXPECT_THROW(make_engine_bracket(shape), Error);
}

}  // namespace
}  // namespace cotouch::this_file
