#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/mass.h>
#include <cotouch/mesh/report.h>
#include <cotouch/shapes/blocks.h>
#include <cotouch/shapes/solids.h>
#include <mesh/mesh_checks.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

TEST(Blocks, AreSolidsOfTheirSize) {
  for (const TriangleMesh& mesh : {make_block({0.04, 0.04, 0.04}, 0.003), make_block({0.08, 0.02, 0.03}, 0.002, 3),
                                   make_plate(), make_billiard_table(), make_billiard_ball()}) {
    SCOPED_TRACE(mesh.name);
    EXPECT_TRUE(is_closed_and_consistent(mesh));
    EXPECT_TRUE(is_solid(mesh));
    EXPECT_LE(mesh.triangles.size(), 21'000u);
  }
  const auto expect_bounds = [](const TriangleMesh& mesh, const Vec3d& low, const Vec3d& high) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(mesh.bounds().low[i], low[i], 1e-12);
      EXPECT_NEAR(mesh.bounds().high[i], high[i], 1e-12);
    }
  };
  expect_bounds(make_block({0.08, 0.02, 0.03}, 0.002), {-0.04, -0.01, -0.015}, {0.04, 0.01, 0.015});
  expect_bounds(make_plate(), {-0.2, -0.2, -0.02}, {0.2, 0.2, 0});
  expect_bounds(make_billiard_table(), {-0.28, -0.18, -0.02}, {0.28, 0.18, 0.036});
}

TEST(Blocks, HaveRoundEdges) {
  const Vec3d size{0.04, 0.05, 0.06};
  const double r = 0.003;
  const TriangleMesh block = make_block(size, r, 16);
  // Every vertex is at the radius from the box that is smaller by it on all sides.
  for (const Vec3d& v : block.vertices) {
    Vec3d out;
    for (std::size_t i = 0; i < 3; ++i) out[i] = std::max(std::fabs(v[i]) - (0.5 * size[i] - r), 0.0);
    EXPECT_NEAR(norm(out), r, 1e-12);
  }
  // Steiner's formula for the body at distance r around that box.
  const double a = size.x - 2 * r, b = size.y - 2 * r, c = size.z - 2 * r;
  const double want =
      a * b * c + 2 * r * (a * b + b * c + c * a) + k_pi * r * r * (a + b + c) + 4 * k_pi / 3 * r * r * r;
  const double sharp = size.x * size.y * size.z;
  EXPECT_NEAR(signed_volume(block), want, 0.01 * (sharp - want));
}

TEST(Blocks, TableHoldsBallsAboveTheirCentres) {
  const BilliardShape shape;
  EXPECT_NEAR(signed_volume(make_billiard_table()), 0.56 * 0.36 * 0.056 - 0.5 * 0.3 * 0.036, 1e-14);
  EXPECT_GT(shape.cushion_height, shape.ball_radius);
  const double r = shape.ball_radius;
  EXPECT_NEAR(signed_volume(make_billiard_ball()), 4 * k_pi / 3 * r * r * r, 0.002 * 4 * r * r * r);
}

TEST(Blocks, RefuseSettingsThatDescribeNothing) {
  EXPECT_THROW(make_block({0.04, 0.04, 0.005}, 0.003), Error);
  EXPECT_THROW(make_block({0.04, 0.04, 0.04}, 0), Error);
  BilliardShape low;
  low.cushion_height = 0.02;
  EXPECT_THROW(make_billiard_table(low), Error);
}

}  // namespace
}  // namespace cotouch::this_file
