// Walls that are thinner than a cell can still be felt.
#include <cotouch/base/pose.h>
#include <cotouch/base/random.h>
#include <cotouch/field/build.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

const Quat k_tilt = quat_from_rotation_vector({0.3, 0.2, 0.1});  // along no axis of the lattice

TriangleMesh tilted(TriangleMesh mesh) {
  for (Vec3d& v : mesh.vertices) v = rotate(k_tilt, v);
  return mesh;
}

Field build(const TriangleMesh& mesh, FieldReport& report) {
  FieldSettings settings;
  settings.resolution = 64;
  NoProgress quiet;
  return build_field(mesh, settings, quiet, &report);
}

float at(const Field& field, const Vec3d& p) {
  return field.distance(Vec3f(rotate(k_tilt, p)));
}

TEST(ThinWalls, OfAPlateAreInsideAllAcrossAndNoThickerThanASheet) {
  constexpr double k_side = 0.1;
  for (const double cells : {0.95, 0.5, 0.1, 0.001}) {
    SCOPED_TRACE(cells);
    const double thickness = cells * k_side / 64;
    FieldReport report;
    const Field field = build(tilted(make_box({k_side, k_side, thickness})), report);
    const float cell = field.spacing();
    EXPECT_GT(report.sheets, 0U);
    Random random(1);
    for (int i = 0; i < 5000; ++i) {
      const double reach = k_side / 2 - 2 * static_cast<double>(cell);
      const Vec3d p{random.uniform(-reach, reach), random.uniform(-reach, reach), 0};
      // A cell deep at the samples; interpolating the crease in between takes at most sqrt(3) / 2 of it.
      EXPECT_LT(at(field, p), -0.13F * cell);
      for (const double side : {-1.0, 1.0}) {
        const double height = random.uniform(1.2, 4) * static_cast<double>(cell);
        const float outside = at(field, p + Vec3d{0, 0, side * height});
        EXPECT_GT(outside, 0);
        EXPECT_NEAR(outside, static_cast<float>(height) - cell, 0.1F * cell);
      }
    }
  }
}

TEST(ThinWalls, OfANeedleAreInside) {
  FieldReport report;
  const Field field = build(tilted(make_box({0.1, 1e-4, 1e-4})), report);
  for (int i = -45; i <= 45; ++i) EXPECT_LT(at(field, {i * 1e-3, 0, 0}), 0) << i;
}

TEST(ThinWalls, OfABoxLeaveItsRoomFree) {
  // 100 mm, open at the top, with walls of 0.4 mm where a cell has 1.6.
  constexpr double k_wall = 0.4e-3;
  TriangleMesh walls = make_box({0.1, 0.1, k_wall});
  for (Vec3d& v : walls.vertices) v.z -= 0.05;
  for (const double side : {-1.0, 1.0}) {
    TriangleMesh x = make_box({k_wall, 0.1, 0.1}), y = make_box({0.1, k_wall, 0.1});
    for (Vec3d& v : x.vertices) v.x += side * 0.05;
    for (Vec3d& v : y.vertices) v.y += side * 0.05;
    append(walls, x);
    append(walls, y);
  }
  FieldReport report;
  const Field field = build(tilted(walls), report);
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const Vec3d room_point{random.uniform(-0.045, 0.045), random.uniform(-0.045, 0.045), random.uniform(-0.045, 0.04)};
    EXPECT_GT(at(field, room_point), 0);
    const Vec3d in_wall{0.05, random.uniform(-0.045, 0.045), random.uniform(-0.045, 0.045)};
    EXPECT_LT(at(field, in_wall), 0);
    EXPECT_LT(at(field, {in_wall.y, in_wall.z, -0.05}), 0);
  }
}

TEST(ThinWalls, ASheetBetweenTwoBlocksIsKeptThoughItsCornersTouchThem) {
  TriangleMesh mesh;
  for (const double side : {-1.0, 1.0}) {
    TriangleMesh block = make_box({0.02, 0.06, 0.02});
    for (Vec3d& v : block.vertices) v.x += side * 0.05;
    append(mesh, block);
  }
  append(mesh, {"", {{-0.04, -0.03, 0}, {0.04, -0.03, 0}, {0.04, 0.03, 0}, {-0.04, 0.03, 0}}, {{0, 1, 2}, {0, 2, 3}}});
  FieldReport report;
  const Field field = build(tilted(mesh), report);
  EXPECT_EQ(report.sheets, 2U);
  EXPECT_LT(at(field, {0, 0, 0}), 0);
}

TEST(ThinWalls, AreNotFoundInSolidsAndSharpEdges) {
  // Three cells thick; and a wedge whose sides meet at 40 degrees, thinner than a cell near its edge.
  for (const bool wedge : {false, true}) {
    TriangleMesh mesh = make_box({0.1, 0.1, wedge ? 0.073 : 3 * 0.1 / 64});
    if (wedge)
      for (Vec3d& v : mesh.vertices)
        if (v.x > 0) v.z *= 1e-3;
    FieldReport report;
    build(tilted(mesh), report);
    EXPECT_EQ(report.sheets, 0U);
  }
}

}  // namespace
}  // namespace cotouch::this_file
