#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/field/build.h>

#include <gtest/gtest.h>

namespace cotouch {
namespace {

double sphere_distance(const Vec3d& p) {
  return norm(p - Vec3d{0.2, -0.1, 0.3}) - 1;
}

Field sphere_field(int resolution) {
  Box3d box;
  box.add({-0.8, -1.1, -0.7});
  box.add({1.2, 0.9, 1.3});
  FieldSettings settings;
  settings.resolution = resolution;
  return build_field(sphere_distance, box, settings);
}

Vec3f random_point(Random& random, double reach) {
  return Vec3f(Vec3d{random.uniform(-reach, reach), random.uniform(-reach, reach), random.uniform(-reach, reach)});
}

TEST(Field, IsWithinHalfACellDiagonalNearTheSurface) {
  const Field field = sphere_field(32);
  Random random(1);
  int near = 0;
  for (int i = 0; i < 200000; ++i) {
    const Vec3f p = random_point(random, 1.8);
    const double d = sphere_distance(Vec3d(p));
    const double h = static_cast<double>(field.spacing());
    const double value = static_cast<double>(field.distance(p));
    if (std::fabs(d) < static_cast<double>(field.band()) - 1.7321 * h) {
      ++near;
      EXPECT_NEAR(value, d, 0.866 * h);
    }
    if (d > 0) {
      EXPECT_LE(value, d + 0.867 * h);
    }
  }
  EXPECT_GT(near, 10000);
}

}  // namespace
}  // namespace cotouch
