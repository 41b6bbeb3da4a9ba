#include <cotouch/elastic/stencil.h>
#include <cotouch/elastic/stuffing.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/elastic/tet_quality.h>

#include "mesh/mesh_checks.h"
#include "support/error_code.h"

#include <cotouch/base/random.h>
#include <cotouch/field/build.h>
#include <cotouch/field/mass.h>
#include <cotouch/mesh/import.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

namespace cotouch::this_file {
namespace {

Field field_of(const TriangleMesh& mesh, int resolution = 64) {
  NoProgress quiet;
  FieldSettings settings;
  settings.resolution = resolution;
  return build_field(mesh, settings, quiet);
}

Field ball(double radius = 0.05, const Vec3d& center = {}) {
  const Vec3d reach{radius, radius, radius};
  Box3d box;
  box.add(center - reach);
  box.add(center + reach);
  return build_field([=](const Vec3d& p) { return norm(p - center) - radius; }, box, {});
}

TetMesh stuffed(const Field& field, double edge) {
  NoProgress quiet;
  TetSettings settings;
  settings.edge = edge;
  return tetrahedralise(field, settings, quiet);
}

TetMesh targeted(const Field& field, std::uint32_t target) {
  NoProgress quiet;
  TetSettings settings;
  settings.target_tets = target;
  return tetrahedralise(field, settings, quiet);
}

// The distance of the surface's nodes and of its triangles' middles from where the field is zero, in metres.
double distance_from_surface(const TetMesh& mesh, const Field& field, bool nodes_only) {
  double worst = 0;
  const TetSurface surface = surface_of(mesh);
  const auto look_at = [&](const Vec3d& p) {
    worst = std::max(worst, std::fabs(static_cast<double>(field.distance(Vec3f(p)))));
  };
  for (const Vec3d& p : surface.mesh.vertices) look_at(p);
  for (std::size_t i = 0; !nodes_only && i < surface.mesh.triangles.size(); ++i) {
    const auto [a, b, c] = surface.mesh.corners(i);
    look_at((a + b + c) / 3);
  }
  return worst;
}

void expect_sound(const TetMesh& mesh, const Field& field) {
  ASSERT_FALSE(mesh.tets.empty());
  const TetQuality quality = tet_quality(mesh);
  EXPECT_GT(quality.smallest_volume, 0);
  EXPECT_GE(quality.smallest_angle, 10.7);
  EXPECT_LE(quality.largest_angle, 164.8);
  EXPECT_EQ(first_overlapping(mesh), mesh.tets.size());
  TetMesh copy = mesh;
  EXPECT_EQ(drop_unused_nodes(copy), 0U);
  const std::set<std::array<double, 3>> places = [&] {
    std::set<std::array<double, 3>> result;
    for (const Vec3d& p : mesh.nodes) result.insert({p.x, p.y, p.z});
    return result;
  }();
  EXPECT_EQ(places.size(), mesh.nodes.size());
  // If a face inside did not fit the one beside it, both would be surface, with corners inside.
  EXPECT_LT(distance_from_surface(mesh, field, true), 1e-5);
}

TEST(Stencil, FillsBothSidesOfEveryTetrahedronWithoutGapsOrOverlaps) {
  const std::array<Vec3d, 4> corners{{{1, 1, 1}, {1, 1, 3}, {0, 0, 2}, {2, 0, 2}}};
  const double whole = dot(cross(corners[1] - corners[0], corners[2] - corners[0]), corners[3] - corners[0]);
  ASSERT_GT(whole, 0);
  Random random(3);
  for (int code = 0; code < 81 * 4; ++code) {
    LatticeTet inside{{code % 3 - 1, code / 3 % 3 - 1, code / 9 % 3 - 1, code / 27 % 3 - 1}, {}};
    inside.odd = {code / 81 % 2 == 0, code / 81 % 2 != 0, code / 162 % 2 == 0, code / 162 % 2 != 0};
    if (inside.side == std::array{0, 0, 0, 0}) continue;
    LatticeTet outside = inside;
    for (int& side : outside.side) side = -side;
    double share[4][4];
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < a; ++b) share[b][a] = 1 - (share[a][b] = random.uniform(0.1, 0.9));
    double sum = 0;
    for (const LatticeTet& tet : {inside, outside}) {
      const Stencil stencil = fill(tet);
      for (std::size_t i = 0; i < stencil.count; ++i) {
        std::array<Vec3d, 4> p;
        for (std::size_t k = 0; k < 4; ++k) {
          const auto [a, b] = stencil.fillings[i][k];
          p[k] = a == b ? corners[a] : corners[a] + (corners[b] - corners[a]) * share[a][b];
          EXPECT_EQ(a == b, tet.side[a] >= 0 && tet.side[a] * tet.side[b] >= 0);
        }
        const double volume = dot(cross(p[1] - p[0], p[2] - p[0]), p[3] - p[0]);
        EXPECT_GT(volume, 0) << code;
        sum += volume;
      }
    }
    EXPECT_NEAR(sum, whole, 1e-12) << code;
  }
}

TEST(Stuffing, ABallIsWellShapedClosedAndOfTheRightVolume) {
  const Field field = ball();
  for (const double edge : {0.011, 0.017, 0.025}) {
    const TetMesh mesh = stuffed(field, edge);
    expect_sound(mesh, field);
    EXPECT_EQ(components(mesh), 1U);
    EXPECT_TRUE(is_closed_and_consistent(surface_of(mesh).mesh));
    // A triangle within a circle of one edge's radius lies below the surface by up to edge^2 / (2 r).
    EXPECT_LT(distance_from_surface(mesh, field, false), edge * edge / (2 * 0.05));
    const double ball_volume = 4.0 / 3 * 3.14159265358979 * 0.05 * 0.05 * 0.05;
    EXPECT_LT(tet_quality(mesh).volume, ball_volume);
    EXPECT_GT(tet_quality(mesh).volume, ball_volume * (1 - 3 * edge * edge / (8 * 0.05 * 0.05)));
  }
}

TEST(Stuffing, TheInsideIsTheLattice) {
  // A cube of the lattice has twelve tetrahedra, all alike.
  const double edge = 0.008;
  const TetMesh mesh = stuffed(ball(), edge);
  std::size_t alike = 0;
  for (std::size_t i = 0; i < mesh.tets.size(); ++i)
    alike += std::fabs(tet_volume(mesh, i) - edge * edge * edge / 12) < 1e-6 * edge * edge * edge;
  EXPECT_GT(alike, mesh.tets.size() / 4);
}

TEST(Stuffing, BoxTorusAndCreatureAreWellShaped) {
  for (const TriangleMesh& shape :
       {make_box({0.1, 0.06, 0.04}), make_torus(0.05, 0.02, 64, 32), make_creature(), make_gear()}) {
    const Field field = field_of(shape);
    for (const double edge : {0.006, 0.0083, 0.0117}) {
      expect_sound(stuffed(field, edge), field);
    }
  }
}

TEST(Stuffing, ATorusHasAHole) {
  const TetSurface surface = surface_of(stuffed(field_of(make_torus(0.05, 0.02, 64, 32)), 0.01));
  EXPECT_TRUE(is_closed_and_consistent(surface.mesh));
  // Euler: vertices - edges + faces = 0, with three half edges a face.
  EXPECT_EQ(2 * surface.mesh.vertices.size(), surface.mesh.triangles.size());
}

TEST(Stuffing, AnglesHoldWhereTheSurfaceIsMuchFinerThanTheLattice) {
  // Bumps of the size of an edge and below, so that cuts are anywhere.
  Box3d box;
  box.add({-0.06, -0.06, -0.06});
  box.add({0.06, 0.06, 0.06});
  const Field field = build_field(
      [](const Vec3d& p) {
        const auto wave = [](double x) { return std::fabs(x / 0.013 - std::floor(x / 0.013) - 0.5) * 0.013; };
        return 0.4 * (norm(p) - 0.05 + wave(p.x) + wave(p.y + 0.3 * p.z) + wave(p.z));
      },
      box, {});
  for (const double edge : {0.006, 0.009, 0.0137, 0.02}) expect_sound(stuffed(field, edge), field);
}

TEST(Stuffing, MeetsTheNumberAskedFor) {
  for (const TriangleMesh& shape : {make_sphere(0.03, 4), make_box({0.2, 0.1, 0.05}), make_torus(0.05, 0.02, 64, 32)}) {
    const Field field = field_of(shape);
    for (const std::uint32_t target : {2000U, 3000U, 20000U})
      EXPECT_NEAR(static_cast<double>(targeted(field, target).tets.size()), target, 0.15 * target);
  }
}

TEST(Stuffing, AThinPlateGetsMoreThanAskedForRatherThanNothing) {
  const Field field = field_of(make_box({0.2, 0.2, 0.006}), 128);
  const TetMesh mesh = targeted(field, 100);
  expect_sound(mesh, field);
  EXPECT_EQ(components(mesh), 1U);
}

TEST(Stuffing, IsTheSameEachTimeAndWhereverTheBallIs) {
  const Field field = field_of(make_creature());
  const TetMesh mesh = targeted(field, 2000), again = targeted(field, 2000);
  EXPECT_EQ(mesh.nodes, again.nodes);
  EXPECT_EQ(mesh.tets, again.tets);
  const Field far = ball(0.05, {3, -2, 1});
  expect_sound(stuffed(far, 0.011), far);
}

TEST(Stuffing, TwoBallsAreTwoPieces) {
  TriangleMesh balls = make_sphere(0.03, 3);
  TriangleMesh other = make_sphere(0.02, 3);
  for (Vec3d& v : other.vertices) v.x += 0.08;
  append(balls, other);
  const Field field = field_of(balls);
  const TetMesh mesh = stuffed(field, 0.01);
  expect_sound(mesh, field);
  EXPECT_EQ(components(mesh), 2U);
}

TEST(Stuffing, AnEdgeThatIsTooLongIsRefusedWithOneThatWorks) {
  const Field field = ball(0.01);
  try {
    stuffed(field, 0.1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    const std::string sentence = error.what(), before = "An edge of ", after = " m works";
    const std::size_t end = sentence.find(after), begin = sentence.rfind(before, end) + before.size();
    ASSERT_NE(end, std::string::npos) << sentence;
    expect_sound(stuffed(field, std::stod(sentence.substr(begin, end - begin))), field);
  }
}

TEST(Stuffing, NonsenseAndTooManyTetrahedraAreRefused) {
  const Field field = ball();
  EXPECT_EQ(code_of([&] { stuffed(field, 1e-5); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([&] { stuffed(field, 0.0009); }), ErrorCode::too_large);  // 4 million fit
  EXPECT_EQ(code_of([&] { stuffed(field, 1e-300); }), ErrorCode::too_large);
  EXPECT_EQ(code_of([&] { stuffed(field, 1e300); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { stuffed(field, -1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { stuffed(field, std::nan("")); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { targeted(field, 0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { targeted(field, 2'000'001); }), ErrorCode::invalid_argument);
}

// A model from the Stanford repository, in the folder that COTOUCH_MODELS names.
TEST(Stuffing, TheBunnyIsWellShaped) {
  const char* folder = std::getenv("COTOUCH_MODELS");
  const std::filesystem::path path = std::filesystem::path(folder ? folder : "") / "bunny.obj";
  if (!folder || !std::filesystem::exists(path)) GTEST_SKIP() << "COTOUCH_MODELS names no folder with bunny.obj";
  const Field field = field_of(load_mesh(path).mesh);
  for (const std::uint32_t target : {2000U, 3000U, 30000U}) {
    const TetMesh mesh = targeted(field, target);
    expect_sound(mesh, field);
    EXPECT_NEAR(static_cast<double>(mesh.tets.size()), target, 0.15 * target);
    EXPECT_NEAR(tet_quality(mesh).volume / mass_properties(field, 1).mass, 1, 0.07);
  }
}

}  // namespace
}  // namespace cotouch::this_file
