#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/field/build.h>
#include <cotouch/field/mass.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace cotouch::this_file {
namespace {

constexpr double k_water = 1000;  // kg/m^3

Field field_of(const TriangleMesh& mesh, int resolution) {
  NoProgress quiet;
  FieldSettings settings;
  settings.resolution = resolution;
  return build_field(mesh, settings, quiet);
}

// Mass and inertia within shares of their size, the centre within a share of the spacing.
void expect_near(const MassProperties& got, const MassProperties& want, double mass, double inertia, double center) {
  EXPECT_NEAR(got.mass, want.mass, mass * want.mass);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got.center[i], want.center[i], center) << "axis " << i;
  const double largest = std::max({want.inertia(0, 0), want.inertia(1, 1), want.inertia(2, 2)});
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(got.inertia.m[i], want.inertia.m[i], inertia * largest) << "entry " << i;
}

MassProperties simple(double mass, const Vec3d& center, double ix, double iy, double iz) {
  return {mass, center, {{ix, 0, 0, 0, iy, 0, 0, 0, iz}}};
}

TEST(FieldMass, OfABallABoxAndATorusFollowTheFormulas) {
  const auto report = [](const char* name, const MassProperties& got, const MassProperties& want) {
    SCOPED_TRACE(name);
    expect_near(got, want, 0.004, 0.008, 1e-5);
  };
  const double r = 0.03;
  const Vec3d at{0.11, -0.07, 0.05};
  const auto ball = [&](const Vec3d& p) { return norm(p - at) - r; };
  const Vec3d rrr{r, r, r};
  const double m = k_water * 4 / 3 * k_pi * r * r * r, i = 0.4 * m * r * r;
  FieldSettings settings;
  settings.resolution = 64;
  report("ball", mass_properties(build_field(ball, {at - rrr, at + rrr}, settings), k_water), simple(m, at, i, i, i));

  const Vec3d s{0.12, 0.09, 0.07};
  const double mb = k_water * s.x * s.y * s.z;
  report("box", mass_properties(field_of(make_box(s), 64), k_water),
         simple(mb, {}, mb * (s.y * s.y + s.z * s.z) / 12, mb * (s.z * s.z + s.x * s.x) / 12,
                mb * (s.x * s.x + s.y * s.y) / 12));

  const double ring = 0.04, tube = 0.012;
  const auto torus = [&](const Vec3d& p) {
    const double out = std::sqrt(p.x * p.x + p.y * p.y) - ring;
    return std::sqrt(out * out + p.z * p.z) - tube;
  };
  const double mt = k_water * 2 * k_pi * k_pi * ring * tube * tube;
  const double across = mt * (0.5 * ring * ring + 0.625 * tube * tube);
  const Vec3d outside{ring + tube, ring + tube, tube};
  report("torus", mass_properties(build_field(torus, {-outside, outside}, settings), k_water),
         simple(mt, {}, across, across, mt * (ring * ring + 0.75 * tube * tube)));
}

TEST(FieldMass, AgreesWithTheMeshOfASolid) {
  for (const TriangleMesh& mesh : {make_gear(), make_bracket()}) {
    SCOPED_TRACE(mesh.name);
    ASSERT_TRUE(is_solid(mesh));
    // Tips of teeth are edges, far out, of which each loses part of a cell.
    expect_near(mass_properties(field_of(mesh, 64), k_water), mass_properties(mesh, k_water), 0.01, 0.02, 1e-4);
  }
}

TEST(FieldMass, LosesWhatInterpolationOverACurvedSurfaceLoses) {
  // A ball shrinks by h^2/12 * 2/r, which is the share h^2/(2 r^2) of its volume.
  const double r = 0.03;
  const Vec3d rrr{r, r, r};
  FieldSettings settings;
  for (const int resolution : {16, 32}) {
    settings.resolution = resolution;
    const Field field = build_field([&](const Vec3d& p) { return norm(p) - r; }, {-rrr, rrr}, settings);
    const double h = static_cast<double>(field.spacing()), share = h * h / (2 * r * r);
    const double lost = 1 - mass_properties(field, k_water).mass / (k_water * 4 / 3 * k_pi * r * r * r);
    EXPECT_NEAR(lost, share, 0.15 * share) << resolution;
  }
}

TEST(FieldMass, IsRightForATiltedBox) {
  const Vec3d s{0.12, 0.09, 0.07};
  const Pose pose{{0.3, 0.1, -0.2}, quat_from_rotation_vector({0.5, 0.7, -0.3})};
  TriangleMesh box = make_box(s);
  const MassProperties want = transformed(mass_properties(box, k_water), pose);
  for (Vec3d& v : box.vertices) v = transform(pose, v);
  expect_near(mass_properties(field_of(box, 64), k_water), want, 0.004, 0.008, 1e-4);
}

TEST(FieldMass, IsRightForPiecesThatCross) {
  // Two cubes that share a cube in their middle: the mesh integral counts it twice, the field once.
  TriangleMesh both = make_box({0.1, 0.1, 0.1}), other = make_box({0.1, 0.1, 0.1});
  translate(other, {0.05, 0.05, 0.05});
  append(both, other);
  EXPECT_FALSE(is_solid(both));
  const MassProperties got = mass_properties(field_of(both, 64), k_water);
  EXPECT_NEAR(got.mass, k_water * (2 * 0.001 - 0.000125), 0.01 * 1.875);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got.center[i], 0.025, 1e-4);
}

TEST(FieldMass, RefusesADensityOfNothing) {
  EXPECT_THROW(mass_properties(field_of(make_box({0.1, 0.1, 0.1}), 16), 0), Error);
}

}  // namespace
}  // namespace cotouch::this_file
