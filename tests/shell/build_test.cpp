#include <cotouch/base/error.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shell/build.h>
#include <cotouch/shell/level_set.h>
#include <cotouch/shell/sampling.h>
#include <shell/test_fields.h>

#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <limits>
#include <numbers>

namespace cotouch::this_file {
namespace {

Shell build(const Field& field, std::uint32_t points, double offset = 0.5, std::uint64_t seed = 1) {
  NoProgress quiet;
  ShellSettings settings;
  settings.points = points;
  settings.offset = offset;
  settings.seed = seed;
  return build_shell(field, settings, quiet);
}

bool same_bits(const Shell& a, const Shell& b) {
  const auto equal = [](auto x, auto y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
  };
  return equal(a.data().nodes, b.data().nodes) && equal(a.data().positions, b.data().positions) &&
         equal(a.data().inward_normals, b.data().inward_normals);
}

// A mesh as people have them: parts pushed into each other, nothing joined.
Field soup_field() {
  TriangleMesh mesh = make_box({0.1, 0.06, 0.01});
  append(mesh, make_cylinder(0.012, 0.08, 24));
  append(mesh, make_torus(0.03, 0.006, 32, 12));
  FieldSettings settings;
  settings.resolution = 64;
  NoProgress quiet;
  return build_field(mesh, settings, quiet);
}

TEST(ShellBuild, LevelsHaveFourTimesAsManyPointsEach) {
  EXPECT_EQ(level_sizes(16384), (std::vector<std::uint32_t>{64, 256, 1024, 4096, 16384}));
  EXPECT_EQ(level_sizes(256000), (std::vector<std::uint32_t>{63, 250, 1000, 4000, 16000, 64000, 256000}));
  EXPECT_EQ(level_sizes(65), (std::vector<std::uint32_t>{16, 65}));
  EXPECT_EQ(level_sizes(64), (std::vector<std::uint32_t>{64}));
  EXPECT_EQ(level_sizes(1), (std::vector<std::uint32_t>{1}));
  const Shell shell = build(test::sphere_field(), 1000);
  EXPECT_EQ(shell.levels(), 3U);
  EXPECT_EQ(shell.points_to_level(0), 63U);
  EXPECT_EQ(shell.points_to_level(1), 250U);
  EXPECT_EQ(shell.point_count(), 1000U);
}

// The issue asks for 0.15 at every level. Nearest neighbours are brute force here.
TEST(ShellBuild, SpacingIsEvenOnEveryLevelOfEveryShape) {
  const std::pair<const char*, Field> shapes[]{
      {"sphere", test::sphere_field()}, {"torus", test::torus_field()}, {"box", test::box_field()},
      {"plate", test::plate_field()},   {"comb", test::comb_field()},   {"balls", test::balls_field()},
      {"soup", soup_field()},
  };
  for (const auto& [name, field] : shapes) {
    const Shell shell = build(field, 2048);
    const ShellQuality quality = measure_quality(shell);
    ASSERT_EQ(quality.levels.size(), shell.levels());
    for (std::uint32_t l = 0; l < shell.levels(); ++l) {
      const auto points = shell.data().positions.first(shell.points_to_level(l));
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        double nearest = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < points.size(); ++j)
          if (j != i) nearest = std::min(nearest, norm_squared(Vec3d(points[j]) - Vec3d(points[i])));
        sum += std::sqrt(nearest);
        squares += nearest;
      }
      const auto count = static_cast<double>(points.size());
      const double mean = sum / count;
      const double variation = std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean;
      EXPECT_LE(variation, 0.15) << name << " level " << l;
      // The difference of squares above loses digits; six remain.
      EXPECT_NEAR(quality.levels[l].variation, variation, 1e-6) << name << " level " << l;
      EXPECT_NEAR(quality.levels[l].mean_spacing, mean, 1e-9) << name << " level " << l;
      EXPECT_EQ(quality.levels[l].points, points.size());
    }
  }
}

// The two sides of a sheet thinner than the spacing are one crowd in space, yet each side alone must be even as well:
// distances between opposite sides count sqrt(3/2) = 1.22 times, so on one side points keep that much farther apart
// than across. Without it both would be the same.
TEST(ShellBuild, EachSideOfAThinSheetIsEvenOnItsOwn) {
  const Shell shell = build(test::plate_field(), 256);
  for (std::uint32_t l = 0; l < shell.levels(); ++l) {
    const auto points = shell.data().positions.first(shell.points_to_level(l));
    double nearest_same = 1, nearest_opposite = 1;
    for (std::size_t i = 0; i < points.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const float facing = dot(shell.data().inward_normals[i], shell.data().inward_normals[j]);
        const double distance = norm(Vec3d(points[i]) - Vec3d(points[j]));
        if (facing > 0.5F) nearest_same = std::min(nearest_same, distance);
        if (facing < -0.9F) nearest_opposite = std::min(nearest_opposite, distance);
      }
    EXPECT_GT(nearest_same, 1.1 * nearest_opposite) << "level " << l;
    EXPECT_LT(nearest_same, 1.4 * nearest_opposite) << "level " << l;
  }
}

// n discs of diameter s in the densest arrangement cover the area A where s^2 = 2 A / (sqrt(3) n). Random packing
// without any repulsion reaches 0.78 of that spacing; a shell must do better, and it cannot do better than 1 (3 % for
// the sphere's curvature and the ends of a finite lattice).
TEST(ShellBuild, SpacingIsCloseToTheDensestPossible) {
  const Field field = test::sphere_field();
  const ShellQuality quality = measure_quality(build(field, 4096));
  const double radius = 0.05 + 0.5 * static_cast<double>(field.spacing());
  for (const auto& level : quality.levels) {
    const double area = 4 * std::numbers::pi * radius * radius;
    const double densest = std::sqrt(2 * area / (std::sqrt(3.0) * level.points));
    EXPECT_GT(level.mean_spacing, 0.85 * densest);
    EXPECT_LT(level.mean_spacing, 1.03 * densest);
  }
}

// No hole is left: every place of the surface has a point within 1.1 spacings (a perfect lattice: 0.58).
TEST(ShellBuild, EveryPlaceOfTheSurfaceHasAPointNearby) {
  const Field field = test::torus_field();
  const LevelSet surface(field, 0.5);
  const Shell shell = build(field, 1024);
  for (std::uint32_t l = 0; l < shell.levels(); ++l) {
    const auto points = shell.data().positions.first(shell.points_to_level(l));
    const double spacing =
        std::sqrt(2 * surface.estimate_area(7) / (std::sqrt(3.0) * static_cast<double>(points.size())));
    int drawn = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
      Vec3f place, normal;
      if (!surface.draw(seed * 0x9e3779b97f4a7c15ULL, place, normal)) continue;
      ++drawn;
      double nearest = 1;
      for (const Vec3f& p : points) nearest = std::min(nearest, norm(Vec3d(p) - Vec3d(place)));
      ASSERT_LT(nearest, 1.1 * spacing) << "level " << l;
    }
    EXPECT_GT(drawn, 500);  // about a third
  }
}

TEST(ShellBuild, PointsLieOnTheLevelSet) {
  for (const double offset : {0.5, 0.0, 1.0, -0.5}) {
    const Field field = test::comb_field();
    const Shell shell = build(field, 500, offset);
    for (const Vec3f& p : shell.data().positions)
      ASSERT_NEAR(static_cast<double>(field.distance(p) / field.spacing()), offset,
                  static_cast<double>(LevelSet::k_tolerance) * 1.01)
          << offset;
  }
}

TEST(ShellBuild, PointsAndNormalsAreThoseOfTheTrueShape) {
  const Field field = test::torus_field(128);
  const Shell shell = build(field, 2000);
  const auto cell = static_cast<double>(field.spacing());
  for (std::uint32_t i = 0; i < shell.point_count(); ++i) {
    const Vec3d p(shell.data().positions[i]);
    // Interpolation over a cell of a distance with radius of curvature R errs by about 3 cell^2 / (8 R): here
    // R = 19 cells, 0.02 cells.
    ASSERT_NEAR(test::torus_distance(p, 0.04, 0.015) / cell, 0.5, 0.05);
    const double ring = std::sqrt(p.x * p.x + p.y * p.y);
    const Vec3d outward = normalized(Vec3d{p.x * (1 - 0.04 / ring), p.y * (1 - 0.04 / ring), p.z});
    // A difference over one cell of a direction that turns by 1/19 a cell: within 0.05.
    ASSERT_NEAR(norm(Vec3d(shell.data().inward_normals[i]) + outward), 0, 0.05);
    ASSERT_NEAR(norm(Vec3d(shell.data().inward_normals[i])), 1, 1e-6);
  }
}

TEST(ShellBuild, SeparatePiecesGetPointsInProportionToTheirArea) {
  const Field field = test::balls_field();
  const Shell shell = build(field, 4096);
  const double half_cell = 0.5 * static_cast<double>(field.spacing());
  const double large = (0.03 + half_cell) * (0.03 + half_cell), small = (0.015 + half_cell) * (0.015 + half_cell);
  for (std::uint32_t l = 0; l < shell.levels(); ++l) {
    double on_small = 0;
    for (const Vec3f& p : shell.data().positions.first(shell.points_to_level(l))) on_small += p.x > 0.036F;
    const double expected = small / (large + small) * shell.points_to_level(l);
    // Repulsion does not cross between the balls, so the share is as random as the darts: a standard deviation well
    // below that of independent points, sqrt(expected).
    EXPECT_NEAR(on_small, expected, 2 * std::sqrt(expected)) << "level " << l;
  }
}

TEST(ShellBuild, AreaFollowsFromTheShareOfDraws) {
  const Field sphere = test::sphere_field(), torus = test::torus_field();
  const double sphere_radius = 0.05 + 0.5 * static_cast<double>(sphere.spacing()),
               tube = 0.015 + 0.5 * static_cast<double>(torus.spacing());
  // 2^17 draws, about a third hit: one standard deviation is 0.4 %.
  EXPECT_NEAR(LevelSet(sphere, 0.5).estimate_area(1) / (4 * std::numbers::pi * sphere_radius * sphere_radius), 1, 0.02);
  EXPECT_NEAR(LevelSet(torus, 0.5).estimate_area(1) / (4 * std::numbers::pi * std::numbers::pi * 0.04 * tube), 1, 0.02);
}

TEST(ShellBuild, IsTheSameBitsEveryTimeAndOnOneCore) {
  const Field field = test::comb_field();
  const Shell first = build(field, 3000), second = build(field, 3000), other_seed = build(field, 3000, 0.5, 2);
  EXPECT_TRUE(same_bits(first, second));
  EXPECT_FALSE(same_bits(first, other_seed));
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Shell alone = build(field, 3000);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_TRUE(same_bits(first, alone));
}

TEST(ShellBuild, TakesTinyRequests) {
  const Field field = test::sphere_field();
  for (const std::uint32_t points : {1U, 2U, 3U, 10U, 63U, 64U, 65U}) {
    const Shell shell = build(field, points);
    EXPECT_EQ(shell.point_count(), points);
    EXPECT_EQ(shell.levels(), points > 64 ? 2U : 1U);
  }
  EXPECT_EQ(measure_quality(build(field, 1)).levels.at(0).mean_spacing, 0);
}

TEST(ShellBuild, MayLieAsFarOutAsItSaysAndNoFarther) {
  const Field field = test::sphere_field();
  for (const double offset : {k_largest_offset, -k_largest_offset}) {
    EXPECT_NO_THROW(LevelSet(field, offset * 0.9999));
    EXPECT_THROW(LevelSet(field, offset * 1.001), Error);
  }
}

TEST(ShellBuild, SaysWhyThereIsNoShell) {
  const Field sphere = test::sphere_field(), plate = test::plate_field();
  EXPECT_THROW(build(sphere, 0), Error);
  EXPECT_THROW(build(sphere, 1U << 30), Error);
  EXPECT_THROW(build(sphere, 100, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(build(sphere, 100, 1000), Error);  // outside the band
  // Nothing is two cells inside a plate two cells thick.
  EXPECT_THROW(build(plate, 100, -2), Error);
}

TEST(ShellBuild, CanBeStoppedAndReportsItsProgress) {
  struct Stop final : Progress {
    void update(std::string_view stage, double fraction) override {
      EXPECT_EQ(stage, "Spreading points");
      EXPECT_GE(fraction, last);
      EXPECT_LE(fraction, 1);
      last = fraction;
      if (fraction > limit) throw Cancelled();
    }
    double last = 0, limit = 2;
  } progress;
  const Field field = test::sphere_field();
  ShellSettings settings;
  settings.points = 1000;
  build_shell(field, settings, progress);
  EXPECT_EQ(progress.last, 1);
  progress.last = 0;
  progress.limit = 0.5;
  EXPECT_THROW(build_shell(field, settings, progress), Cancelled);
}

}  // namespace
}  // namespace cotouch::this_file
