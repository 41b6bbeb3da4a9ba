#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>
#include <mesh/mesh_checks.h>

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

TEST(Shapes, BoxIsClosedAndHasItsVolume) {
  const TriangleMesh box = make_box({0.1, 0.2, 0.3});
  EXPECT_TRUE(is_closed_and_consistent(box));
  EXPECT_NEAR(signed_volume(box), 0.006, 1e-16);
  EXPECT_EQ(box.bounds().low, Vec3d(-0.05, -0.1, -0.15));
  EXPECT_EQ(box.bounds().high, Vec3d(0.05, 0.1, 0.15));
}

TEST(Shapes, SphereVerticesLieOnTheSphereAndTheVolumeConverges) {
  double error_before = 1;
  for (int level = 0; level <= 4; ++level) {
    const TriangleMesh sphere = make_sphere(0.05, level);
    EXPECT_TRUE(is_closed_and_consistent(sphere));
    EXPECT_EQ(sphere.triangles.size(), 20u << (2 * level));
    EXPECT_EQ(sphere.vertices.size(), sphere.triangles.size() / 2 + 2);  // Euler
    for (const Vec3d& v : sphere.vertices) EXPECT_NEAR(norm(v), 0.05, 1e-16);
    // Inscribed, so below the ball's volume, and second order in the edge length: four times closer at each level
    // once the edges are short.
    const double error = 1 - signed_volume(sphere) / (4.0 / 3.0 * k_pi * 0.05 * 0.05 * 0.05);
    EXPECT_GT(error, 0);
    if (level > 1) {
      EXPECT_NEAR(error_before / error, 4, 0.4);
    }
    error_before = error;
  }
}

TEST(Shapes, TorusAndCylinderHaveTheVolumeOfTheirPolygons) {
  // Turning a profile in n steps gives, at every height, a regular n-gon: area n/2 sin(2 pi/n) r^2 instead of pi r^2.
  const auto polygon = [](int n) { return 0.5 * n * sin_cos(2 * k_pi / n).sin; };
  const TriangleMesh cylinder = make_cylinder(0.02, 0.1, 24);
  EXPECT_TRUE(is_closed_and_consistent(cylinder));
  EXPECT_NEAR(signed_volume(cylinder), polygon(24) * 0.02 * 0.02 * 0.1, 1e-16);

  // Pappus, 2 pi R times the profile's area, with both circles replaced by polygons.
  const TriangleMesh torus = make_torus(0.06, 0.02, 48, 24);
  EXPECT_TRUE(is_closed_and_consistent(torus));
  EXPECT_NEAR(signed_volume(torus), 2 * polygon(48) * 0.06 * polygon(24) * 0.02 * 0.02, 1e-15);
}

TEST(Shapes, RefuseSettingsThatDescribeNothing) {
  EXPECT_THROW(make_sphere(1, 11), Error);
  EXPECT_THROW(make_torus(0.01, 0.02, 10, 10), Error);
  EXPECT_THROW(make_cylinder(1, 1, 2), Error);
}

}  // namespace
}  // namespace cotouch::this_file
