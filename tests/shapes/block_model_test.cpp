#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/report.h>
#include <cotouch/mesh/winding.h>
#include <cotouch/shapes/block_model.h>
#include <cotouch/shapes/solids.h>
#include <mesh/mesh_checks.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

double polygon(int n) {  // area of a regular n-gon in the unit circle
  return 0.5 * n * sin_cos(2 * k_pi / n).sin;
}

void expect_closed(const TriangleMesh& mesh) {
  EXPECT_TRUE(is_closed_and_consistent(mesh));
  TriangleMesh copy = mesh;
  const MeshReport report = clean_mesh(copy);
  EXPECT_EQ(report.welded, 0u);
  EXPECT_EQ(report.without_area, 0u);
  EXPECT_EQ(report.crossings.crossing, 0u);
}

TEST(BlockModel, StepsHaveTheirVolume) {
  BlockModel model;
  model.add_box({0, 0, 0}, {0.1, 0.06, 0.01});
  model.add_box({0, 0, 0.01}, {0.02, 0.06, 0.03});
  model.remove_box({0.05, 0.02, 0}, {0.08, 0.04, 0.01});
  const TriangleMesh mesh = model.mesh("steps");
  expect_closed(mesh);
  EXPECT_NEAR(signed_volume(mesh), 0.1 * 0.06 * 0.01 + 0.02 * 0.06 * 0.02 - 0.03 * 0.02 * 0.01, 1e-16);
}

TEST(BlockModel, BoresAndPostsHaveTheirVolume) {
  constexpr int k_around = 32;
  BlockModel model;
  model.add_box({0, 0, 0}, {0.1, 0.06, 0.02});
  // A bore with a shoulder, a blind one, a tube on top of the plate and a post below it.
  model.remove_cylinder(0.02, 0.03, 0.012, 0.01, 0.02);
  model.remove_cylinder(0.02, 0.03, 0.006, 0, 0.01);
  model.remove_cylinder(0.05, 0.03, 0.005, 0.004, 0.02);
  model.add_cylinder(0.08, 0.02, 0.01, 0.02, 0.05);
  model.remove_cylinder(0.08, 0.02, 0.008, 0.03, 0.05);
  model.add_cylinder(0.09, 0.05, 0.004, -0.03, 0);
  const TriangleMesh mesh = model.mesh("plate", k_around);
  expect_closed(mesh);
  const double circle = polygon(k_around);
  const auto cylinder = [&](double r, double h) { return circle * r * r * h; };
  const double want = 0.1 * 0.06 * 0.02 - cylinder(0.012, 0.01) - cylinder(0.006, 0.01) - cylinder(0.005, 0.016) +
                      cylinder(0.01, 0.03) - cylinder(0.008, 0.02) + cylinder(0.004, 0.03);
  EXPECT_NEAR(signed_volume(mesh), want, 1e-15);
  const WindingNumber inside(mesh);
  EXPECT_LT(inside.at({0.02, 0.03, 0.005}), 0.1);   // through the bore
  EXPECT_GT(inside.at({0.029, 0.03, 0.005}), 0.9);  // in its shoulder
  EXPECT_LT(inside.at({0.029, 0.03, 0.015}), 0.1);  // above the shoulder
  EXPECT_GT(inside.at({0.05, 0.03, 0.002}), 0.9);   // below the blind bore
  EXPECT_LT(inside.at({0.08, 0.02, 0.04}), 0.1);    // in the tube
  EXPECT_GT(inside.at({0.089, 0.02, 0.04}), 0.9);   // in its wall
  EXPECT_GT(inside.at({0.09, 0.05, -0.02}), 0.9);   // in the post
}

TEST(BlockModel, ACylinderMayStandWhereOtherPlanesPass) {
  // Planes of small boxes elsewhere pass through the cylinder's tile.
  BlockModel model;
  model.add_box({0, 0, 0}, {0.1, 0.1, 0.01});
  for (int i = 0; i < 7; ++i) model.add_box({0.01 * i + 0.013, 0.09, 0.01}, {0.01 * i + 0.017, 0.095, 0.012});
  for (int i = 0; i < 5; ++i) model.add_box({0.09, 0.01 * i + 0.02, 0.01}, {0.095, 0.01 * i + 0.024, 0.012});
  model.remove_cylinder(0.045, 0.045, 0.03, 0, 0.01);
  const TriangleMesh mesh = model.mesh("plate", 64);
  expect_closed(mesh);
  EXPECT_NEAR(signed_volume(mesh), 1e-4 + 12 * 0.004 * 0.005 * 0.002 - polygon(64) * 0.0009 * 0.01, 1e-15);
}

TEST(BlockModel, RefusesWhatItCannotMesh) {
  BlockModel cut;
  cut.add_box({0, 0, 0}, {0.1, 0.1, 0.01});
  cut.remove_cylinder(0.1, 0.05, 0.02, 0, 0.01);  // half of it outside
  EXPECT_THROW(cut.mesh("cut"), Error);
  BlockModel crossing;
  crossing.add_box({0, 0, 0}, {0.1, 0.1, 0.01});
  crossing.remove_cylinder(0.04, 0.05, 0.02, 0, 0.01);
  crossing.remove_cylinder(0.06, 0.05, 0.02, 0, 0.01);
  EXPECT_THROW(crossing.mesh("crossing"), Error);
  EXPECT_THROW(BlockModel().mesh("nothing"), Error);
}

}  // namespace
}  // namespace cotouch::this_file
