#include <cotouch/contact/sampled/wall.h>
#include <cotouch/part/part.h>
#include <cotouch/shapes/blocks.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include "support/prepared.h"

namespace cotouch::this_file {
namespace {

Part prepared(const TriangleMesh& mesh, int resolution, std::uint32_t points) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = points;
  return *testing_support::prepared(mesh, settings);
}

// The shell lies up to half a cell outside, and the way is gone in steps of half a cell.
double tolerance(const Part& part) {
  return static_cast<double>(part.field.spacing());
}

TEST(ThinnestWall, OfAPlateIsItsThicknessAndOfABallItsDiameter) {
  const Part plate = prepared(make_plate({{0.2, 0.2, 0.012}, 0.002}), 48, 2000);
  EXPECT_NEAR(thinnest_wall(plate.shell, plate.field, 0.1), 0.012, tolerance(plate));
  const Part ball = prepared(make_sphere(0.02, 4), 32, 2000);
  EXPECT_NEAR(thinnest_wall(ball.shell, ball.field, 0.1), 0.04, tolerance(ball));
}

TEST(ThinnestWall, IsNoMoreThanIsAskedFor) {
  const Part ball = prepared(make_sphere(0.02, 4), 32, 2000);
  EXPECT_EQ(thinnest_wall(ball.shell, ball.field, 0.01), static_cast<double>(0.01F));
}

TEST(ThinnestWall, OfAPartWithoutFieldOrPointsIsNoLimit) {
  const Part ball = prepared(make_sphere(0.02, 3), 16, 200);
  EXPECT_EQ(thinnest_wall(ball.shell, Field(), 0.01), 0.01);
  EXPECT_EQ(thinnest_wall(Shell(), ball.field, 0.01), static_cast<double>(0.01F));
}

// A block and, on its side, a fin.
TEST(ThinnestWall, IsThatOfTheThinnestPlace) {
  TriangleMesh mesh = make_block({0.04, 0.04, 0.04}, 0.003);
  TriangleMesh fin = make_block({0.03, 0.006, 0.02}, 0.001);
  for (Vec3d& v : fin.vertices) v.x += 0.03;
  append(mesh, fin);
  const Part part = prepared(mesh, 48, 4000);
  EXPECT_NEAR(thinnest_wall(part.shell, part.field, 0.1), 0.006, tolerance(part));
}

}  // namespace
}  // namespace cotouch::this_file
