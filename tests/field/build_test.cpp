#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>
#include <cotouch/field/build.h>
#include <cotouch/field/isosurface.h>
#include <cotouch/field/pieces.h>
#include <cotouch/field/sides.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/import.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <thread>

#include "support/exact_winding.h"
#include "support/slivers.h"
#include "support/thorough.h"

namespace cotouch::this_file {
namespace {

using testing_support::exact_winding_number;

Field build(const TriangleMesh& mesh, int resolution, FieldReport* report = nullptr) {
  FieldSettings settings;
  settings.resolution = resolution;
  NoProgress quiet;
  return build_field(mesh, settings, quiet, report);
}

void move(TriangleMesh& mesh, const Vec3d& by) {
  for (Vec3d& v : mesh.vertices) v += by;
}

std::size_t flip_some(TriangleMesh& mesh, double share, std::uint64_t seed) {
  Random random(seed);
  std::size_t flipped = 0;
  for (Triangle& t : mesh.triangles)
    if (random.uniform() < share) {
      std::swap(t[1], t[2]);
      ++flipped;
    }
  return flipped;
}

double brute_force(const TriangleMesh& mesh, const Vec3d& p) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    best = std::min(best, closest_on_triangle(p, a, b, c).distance_squared);
  }
  return std::sqrt(best);
}

// The signed distance to a closed, simple, outward-oriented mesh by looking at every triangle.
double signed_brute_force(const TriangleMesh& mesh, const Vec3d& p) {
  return brute_force(mesh, p) * (exact_winding_number(mesh, p) > 0.5 ? -1 : 1);
}

// Compares with the truth at random lattice points (where only rounding is allowed) and between them (where
// interpolation may err by half a cell diagonal).
void expect_truth(const Field& field, const TriangleMesh& truth, int points) {
  const double h = static_cast<double>(field.spacing()), quantum = static_cast<double>(field.data().quantum);
  const Vec3<std::int32_t> n = field.data().bricks;
  Random random(11);
  int near = 0;
  while (near < points) {
    Vec3d cell{random.uniform(8, n.x * 8.0 - 8), random.uniform(8, n.y * 8.0 - 8), random.uniform(8, n.z * 8.0 - 8)};
    const bool on_lattice = near % 2 == 0;
    if (on_lattice) cell = {std::floor(cell.x), std::floor(cell.y), std::floor(cell.z)};
    const Vec3d p = Vec3d(field.data().origin) + Vec3d(Vec3f(cell)) * h;
    const double value = static_cast<double>(field.distance_in_cells(Vec3f(cell)));
    if (std::fabs(value) > 2 * h) continue;
    ++near;
    ASSERT_NEAR(value, signed_brute_force(truth, p), on_lattice ? 0.51 * quantum : 0.8661 * h);
  }
}

TEST(BuildField, EqualsBruteForceOnAClosedMesh) {
  const TriangleMesh mesh = make_torus(0.7, 0.25, 24, 12);
  FieldReport report;
  const Field field = build(mesh, 40, &report);
  EXPECT_EQ(report.flipped + report.enclosed + report.sheets + report.caps, 0U);
  expect_truth(field, mesh, 1000);
}

TEST(BuildField, TurnsFlippedTriangles) {
  const TriangleMesh truth = make_sphere(1, 3);
  TriangleMesh mesh = truth;
  const std::size_t flipped = flip_some(mesh, 0.5, 1);
  FieldReport report;
  const Field field = build(mesh, 32, &report);
  EXPECT_EQ(report.flipped, flipped);
  expect_truth(field, truth, 600);
}

TEST(BuildField, TurnsFlippedTrianglesThatShareNoCorners) {
  const TriangleMesh truth = make_sphere(1, 3);
  TriangleMesh mesh = truth;
  flip_some(mesh, 0.5, 2);
  // Every triangle shrunk a little, so that no two share a corner: a gap of 0.02 cells between neighbours.
  TriangleMesh loose;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto corners = mesh.corners(t);
    const Vec3d middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    const auto first = static_cast<std::uint32_t>(loose.vertices.size());
    for (const Vec3d& c : corners) loose.vertices.push_back(middle + (c - middle) * 0.99);
    loose.triangles.push_back({first, first + 1, first + 2});
  }
  const Field field = build(loose, 32);
  const double h = static_cast<double>(field.spacing());
  Random random(3);
  for (int i = 0; i < 600; ++i) {
    const Vec3d p = random.vector(0, 1.4);
    const double d = signed_brute_force(truth, p), value = static_cast<double>(field.distance(Vec3f(p)));
    if (std::fabs(d) < 2 * h) {
      EXPECT_NEAR(value, d, 0.9 * h);
    } else {
      EXPECT_EQ(value < 0, d < 0);
    }
  }
}

TEST(BuildField, TurnsAPartThatIsInsideOut) {
  const TriangleMesh truth = make_sphere(1, 2);
  TriangleMesh mesh = truth;
  flip_some(mesh, 1, 1);
  FieldReport report;
  const Field field = build(mesh, 24, &report);
  EXPECT_EQ(report.flipped, mesh.triangles.size());
  expect_truth(field, truth, 300);
}

// Two boxes that pass through each other are one solid: the faces of each inside the other do not count.
TEST(BuildField, UnitesPartsThatPassThroughEachOther) {
  TriangleMesh mesh = make_box({2, 2, 2});
  TriangleMesh bar = make_box({2, 1, 1});
  move(bar, {1, 0, 0});
  append(mesh, bar);
  FieldReport report;
  const Field field = build(mesh, 96, &report);
  EXPECT_GT(report.enclosed, 0U);
  EXPECT_EQ(report.sheets + report.caps, 0U);
  const double h = static_cast<double>(field.spacing());
  const auto box = [](const Vec3d& p, const Vec3d& c, const Vec3d& half) {
    const Vec3d q{std::fabs(p.x - c.x) - half.x, std::fabs(p.y - c.y) - half.y, std::fabs(p.z - c.z) - half.z};
    return norm(max(q, Vec3d{})) + std::min(std::max({q.x, q.y, q.z}), 0.0);
  };
  Random random(4);
  for (int i = 0; i < 20000; ++i) {
    const Vec3d p{random.uniform(-1.3, 2.3), random.uniform(-1.3, 1.3), random.uniform(-1.3, 1.3)};
    const double d = std::min(box(p, {}, {1, 1, 1}), box(p, {1, 0, 0}, {1, 0.5, 0.5}));
    const double value = static_cast<double>(field.distance(Vec3f(p)));
    if (d > 0 && d < 2 * h) {
      ASSERT_NEAR(value, d, 0.8661 * h);
    }
    if (std::fabs(d) > 0.8661 * h) {
      ASSERT_EQ(value < 0, d < 0);
    }
    // Enclosed faces are dropped in pieces of four cells. One may be left where the bar leaves the box and make depth
    // too small there; farther away than a piece is long, depth is that of the union.
    const double from_outline = std::fabs(std::max(std::fabs(p.y), std::fabs(p.z)) - 0.5);
    if (d < 0 && d > -2 * h && norm(Vec3d{p.x - 1, from_outline, 0}) > 6 * h) {
      ASSERT_NEAR(value, d, 0.8661 * h) << p.x << ' ' << p.y << ' ' << p.z;
    }
  }
  // In the middle of the box's face inside the bar, the nearest surface is the bar's foot, half a metre away. Pieces of
  // the face up to four cells from there may be left, and the coarse values inside err by half a brick's diagonal.
  EXPECT_LT(static_cast<double>(field.distance({1, 0, 0})), -0.5 + 9 * h);
}

TEST(BuildField, DropsWhatIsEnclosed) {
  for (const double flipped : {0.0, 1.0}) {
    TriangleMesh mesh = make_sphere(1, 3);
    const TriangleMesh truth = mesh;
    TriangleMesh inner = make_sphere(0.5, 2);
    flip_some(inner, flipped, 1);
    append(mesh, inner);
    FieldReport report;
    const Field field = build(mesh, 40, &report);
    EXPECT_EQ(report.enclosed, inner.triangles.size());
    expect_truth(field, truth, 150);
    // A coarse value inside is within half a brick's diagonal of the truth.
    EXPECT_LT(field.distance({0, 0, 0.5F}), -0.5F + 7 * field.spacing());
  }
}

// An inner room that faces into itself, so that nothing winds around it, is inside all the same, as in the paper.
TEST(BuildField, FillsRoomsThatNothingCanEnter) {
  TriangleMesh mesh = make_box({2, 2, 2});
  const TriangleMesh truth = mesh;
  TriangleMesh inner = make_box({1, 1, 1});
  flip_some(inner, 1, 1);
  append(mesh, inner);
  const Field field = build(mesh, 48);
  expect_truth(field, truth, 300);
  EXPECT_LT(field.distance({0.5F, 0, 0}), -0.5F + 7 * field.spacing());
}

// A sphere without the cap of 40 degrees around its pole. A point's winding number is one half where it sees the rim as
// a half space, which is the rim's own plane: the hole is closed by a flat disc.
TEST(BuildField, ClosesAWideHole) {
  for (const double flipped : {0.0, 0.5}) {
    TriangleMesh mesh = make_sphere(1, 3);
    const double rim = 0.7660444;  // cos 40 degrees
    std::erase_if(mesh.triangles, [&](const Triangle& t) {
      return (mesh.vertices[t[0]] + mesh.vertices[t[1]] + mesh.vertices[t[2]]).z / 3 > rim;
    });
    flip_some(mesh, flipped, 5);
    FieldReport report;
    const Field field = build(mesh, 48, &report);
    EXPECT_GT(report.caps, 0U);
    const double h = static_cast<double>(field.spacing());
    // The jagged rim of triangles of edge 0.14, the winding number's error and its change of 0.78 a metre at the centre
    // blur the disc by less than two and a half cells, and so does the coarseness of the sphere.
    const double blur = 2.5 * h;
    Random random(6);
    for (int i = 0; i < 20000; ++i) {
      const Vec3d p = random.vector(0, 1.3);
      // Inside, the distance to where a ball and a half space meet is the smaller of the two.
      const double d = std::max(norm(p) - 1, p.z - rim);
      const double value = static_cast<double>(field.distance(Vec3f(p)));
      if (std::fabs(d) > blur + h) {
        ASSERT_EQ(value < 0, d < 0) << p.x << " " << p.y << " " << p.z;
      }
      if (d < 0 && d > -2 * h) {
        ASSERT_NEAR(value, d, blur + 0.87 * h);
      }
    }
    double low = 0, high = 1;  // where along the axis it changes sign
    while (high - low > 1e-6)
      (field.distance(Vec3f(Vec3d{0, 0, (low + high) / 2})) < 0 ? low : high) = (low + high) / 2;
    EXPECT_NEAR(low, rim, 1.5 * h);
  }
}

// The lower half of a sphere, open at the top, its rim within half an edge (0.07) of the plane z = 0.
TriangleMesh make_bowl(double radius) {
  TriangleMesh mesh = make_sphere(radius, 3);
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    return mesh.vertices[t[0]].z + mesh.vertices[t[1]].z + mesh.vertices[t[2]].z > 1e-9;
  });
  return mesh;
}

TriangleMesh make_random_soup(int triangles, std::uint64_t seed) {
  Random random(seed);
  TriangleMesh mesh;
  for (int i = 0; i < triangles; ++i) {
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    for (int k = 0; k < 3; ++k)
      mesh.vertices.push_back({random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)});
    mesh.triangles.push_back({first, first + 1, first + 2});
  }
  return mesh;
}

// A distance never changes faster than one moves, and a sign that changed away from any surface would. Looks at
// neighbouring samples within the fine bricks; those on their faces may be coarse ones.
void expect_signs_change_only_at_a_surface(const Field& field) {
  constexpr std::array<std::size_t, 3> step{1, 9, 81};
  const double cell = static_cast<double>(field.spacing() / field.data().quantum);
  std::size_t changes = 0;
  for (const std::uint32_t slot : field.data().brick_index) {
    if (slot == FieldData::k_coarse) continue;
    const auto samples = field.data().samples.subspan(std::size_t{slot} * 729, 729);
    for (std::int32_t z = 1; z < 8; ++z)
      for (std::int32_t y = 1; y < 8; ++y)
        for (std::int32_t x = 1; x < 8; ++x)
          for (std::size_t axis = 0; axis < 3; ++axis) {
            const Index3 at{x, y, z};
            if (at[axis] == 7) continue;
            const std::size_t i = flat_index(at, {9, 9, 9});
            const int here = samples[i], there = samples[i + step[axis]];
            changes += (here < 0) != (there < 0);
            ASSERT_LE(std::abs(here - there), cell + 2);
          }
  }
  EXPECT_GT(changes, 100U);
}

// Wherever a triangle of the input is, there is the solid or its surface, and outside nothing is farther away than the
// nearest triangle. What is enclosed is dropped in pieces of four cells, so a few points may miss up to a piece.
void expect_all_of_it_is_felt(const Field& field, const TriangleMesh& mesh) {
  const double h = static_cast<double>(field.spacing());
  const Box3d bounds = mesh.bounds();
  const ClosestTriangle closest(mesh);
  Random random(12);
  constexpr int k_points = 20000;
  int missed = 0;
  for (int i = 0; i < k_points; ++i) {
    const auto [a, b, c] = mesh.corners(random.below(mesh.triangles.size()));
    const double u = std::sqrt(random.uniform()), v = random.uniform();
    const Vec3d on = a * (1 - u) + (b * (1 - v) + c * v) * u;
    const Vec3d p = i % 2 == 0 ? on : on + random.vector(0, 4 * h);
    const double value = static_cast<double>(field.distance(Vec3f(p)));
    const double too_far = value - std::sqrt(closest.closest(p).distance_squared);
    missed += too_far > 0.8661 * h;
    ASSERT_LE(too_far, 4.8661 * h);
    // More than the thickness of a sheet away from the box around everything there is nothing.
    if (norm(max(max(bounds.low - p, p - bounds.high), Vec3d{})) > 1.8661 * h) {
      ASSERT_GT(value, 0) << p.x << ' ' << p.y << ' ' << p.z;
    }
  }
  EXPECT_LT(missed, k_points / 200);
}

// Open layers that face alike wind around points far out of them: with two the winding number is one in the opening,
// with three one and a half. The closing must stay within the rims' plane, which is where the box around them ends.
TEST(BuildField, TakesOpenBowlsWithinEachOther) {
  for (const int count : {2, 3}) {
    TriangleMesh mesh;
    for (int i = 0; i < count; ++i) append(mesh, make_bowl(1 - 0.15 * i));
    const Field field = build(mesh, 64);
    const double h = static_cast<double>(field.spacing());
    const TriangleMesh outer = make_bowl(1);
    const double smallest = 1 - 0.15 * (count - 1);
    Random random(13);
    for (int i = 0; i < 20000; ++i) {
      const Vec3d p = random.vector(0, 1.4);
      const double value = static_cast<double>(field.distance(Vec3f(p)));
      const double blur = 0.07 + h;  // of the jagged rims
      if (std::max(norm(p) - 1, p.z) > blur) {
        ASSERT_GT(value, 0) << p.x << ' ' << p.y << ' ' << p.z;
      }
      if (std::max(norm(p) - smallest, p.z) < -blur) {
        ASSERT_LT(value, 0) << p.x << ' ' << p.y << ' ' << p.z;
      }
      // Below, away from the rim, the outer bowl alone is the surface.
      if (p.z < -0.3 && std::fabs(norm(p) - 1) < 2 * h) {
        ASSERT_NEAR(std::fabs(value), brute_force(outer, p), 0.8661 * h);
      }
    }
    expect_signs_change_only_at_a_surface(field);
    expect_all_of_it_is_felt(field, mesh);
  }
}

TEST(BuildField, TakesRandomTriangles) {
  const TriangleMesh mesh = make_random_soup(200, 1);
  const Field field = build(mesh, 48);
  expect_signs_change_only_at_a_surface(field);
  expect_all_of_it_is_felt(field, mesh);
}

// A triangle as large as the lattice would be thousands of pieces. However many of them there are, the pieces are no
// more than the triangles and a fixed number.
TEST(BuildField, CutsHostileSoupIntoBoundedPieces) {
  for (const int triangles : {20, 2000, 50'000}) {
    TriangleMesh mesh = make_random_soup(triangles, 2);
    for (Vec3d& v : mesh.vertices) v *= 512;  // cells
    const double length = piece_length(mesh, 4);
    std::size_t pieces = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
      pieces += count_pieces(mesh.corners(t), length, std::numeric_limits<std::size_t>::max());
    EXPECT_LE(pieces, mesh.triangles.size() + k_most_pieces);
    EXPECT_GT(pieces, mesh.triangles.size() + k_most_pieces / 8);  // and no coarser than it must be
  }
  // What a part usually is stays as fine as ever.
  TriangleMesh sphere = make_sphere(128, 5);
  EXPECT_EQ(piece_length(sphere, 4), 4);
}

// The bound is stated in assemble.h; both builders keep it, before they take the memory.
TEST(BuildField, RefusesWhatWouldTakeTooMuchMemory) {
  // Eighty squares, twelve cells apart: every brick of a lattice of 1024 cells is near one.
  TriangleMesh mesh;
  for (int i = 0; i <= 80; ++i) {
    const double z = -1 + i / 40.0;
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    for (const Vec3d& v : {Vec3d{-1, -1, z}, Vec3d{1, -1, z}, Vec3d{1, 1, z}, Vec3d{-1, 1, z}})
      mesh.vertices.push_back(v);
    mesh.triangles.push_back({first, first + 1, first + 2});
    mesh.triangles.push_back({first, first + 2, first + 3});
  }
  const auto refused = [](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      return std::string(error.what()).find("more than four gigabytes") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused([&] { build(mesh, 1024); }));
  FieldSettings settings;
  settings.resolution = 1024;
  // Never farther than 12 cells of 2/1024 from zero, also outside the box, where it would be refused for that.
  const auto layers = [](const Vec3d& p) { return std::fabs(p.z * 40 - std::floor(p.z * 40) - 0.5) / 40 - 0.25 / 40; };
  EXPECT_TRUE(refused([&] { build_field(layers, mesh.bounds(), settings); }));
}

TEST(BuildField, TakesOpenSheetsThatCross) {
  TriangleMesh mesh = make_bowl(1);
  TriangleMesh other = make_bowl(1);
  move(other, {0.5, 0.2, -0.1});
  append(mesh, other);
  // A stack of squares that all face the same way, through both.
  for (int i = 0; i < 4; ++i) {
    const double z = -0.2 * i;
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    for (const Vec3d& v : {Vec3d{-1, -1, z}, Vec3d{1, -1, z}, Vec3d{1, 1, z}, Vec3d{-1, 1, z}})
      mesh.vertices.push_back(v);
    mesh.triangles.push_back({first, first + 1, first + 2});
    mesh.triangles.push_back({first, first + 2, first + 3});
  }
  const Field field = build(mesh, 64);
  expect_signs_change_only_at_a_surface(field);
  expect_all_of_it_is_felt(field, mesh);
  EXPECT_LT(field.distance({0.2F, 0.1F, -0.5F}), 0);  // within both bowls
}

// Three in ten triangles missing: holes of one or two cells, some of which the flood enters and some not.
TEST(BuildField, ClosesManySmallHoles) {
  TriangleMesh mesh = make_torus(0.7, 0.25, 320, 160);
  Random random(5);
  std::erase_if(mesh.triangles, [&](const Triangle&) { return random.uniform() < 0.3; });
  const Field field = build(mesh, 96);
  expect_signs_change_only_at_a_surface(field);
  expect_all_of_it_is_felt(field, mesh);
}

TEST(BuildField, ThickensOpenSheets) {
  TriangleMesh mesh;
  mesh.vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  for (const bool one_triangle : {false, true}) {
    if (one_triangle) mesh.triangles.pop_back();
    FieldReport report;
    const Field field = build(mesh, 32, &report);
    EXPECT_EQ(report.sheets, mesh.triangles.size());
    const double h = static_cast<double>(field.spacing());
    Random random(7);
    for (int i = 0; i < 3000; ++i) {
      const Vec3d p{random.uniform(-1.2, 1.2), random.uniform(-1.2, 1.2), random.uniform(-3, 3) * h};
      const double d = brute_force(mesh, p) - h;
      if (std::fabs(d) < 2 * h) {
        ASSERT_NEAR(static_cast<double>(field.distance(Vec3f(p))), d, 0.8661 * h);
      }
    }
  }
}

TEST(BuildField, GivesAFinOnASolidThicknessAndLeavesTheSolid) {
  TriangleMesh mesh = make_box({2, 2, 1});
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  for (const Vec3d& v : {Vec3d{-0.5, 0, 0}, Vec3d{0.5, 0, 0}, Vec3d{0.5, 0, 1}, Vec3d{-0.5, 0, 1}})
    mesh.vertices.push_back(v);
  mesh.triangles.push_back({first, first + 1, first + 2});
  mesh.triangles.push_back({first, first + 2, first + 3});
  FieldReport report;
  const Field field = build(mesh, 64, &report);
  const float h = field.spacing();
  EXPECT_GT(report.sheets, 0U);
  EXPECT_EQ(report.caps, 0U);
  EXPECT_NEAR(field.distance({0, 0, 0.75F}), -h, 0.87F * h);
  EXPECT_NEAR(field.distance({0, 2 * h, 0.75F}), h, 0.87F * h);
  EXPECT_NEAR(field.distance({0.7F, 0.7F, 0.5F + h}), h, 0.87F * h);
  EXPECT_LT(field.distance({0, 0, 0.2F}), -0.25F + 7 * h);
}

TEST(BuildField, IgnoresRepeatedTrianglesAndThoseWithoutArea) {
  const TriangleMesh truth = make_sphere(1, 2);
  TriangleMesh mesh = truth;
  append(mesh, truth);  // other corners, same places
  mesh.triangles.push_back({0, 0, 1});
  mesh.triangles.push_back({3, 3, 3});
  expect_truth(build(mesh, 24), truth, 300);
}

TEST(BuildField, DoesNotDependOnScale) {
  TriangleMesh mesh = make_torus(0.7, 0.25, 16, 8);
  const Field reference = build(mesh, 16);
  for (const double scale : {0x1p-24, 0x1p24}) {
    TriangleMesh scaled = mesh;
    for (Vec3d& v : scaled.vertices) v *= scale;
    const Field field = build(scaled, 16);
    EXPECT_TRUE(std::ranges::equal(field.data().samples, reference.data().samples));
    EXPECT_TRUE(std::ranges::equal(field.data().brick_index, reference.data().brick_index));
  }
}

TEST(BuildField, GivesAClosedIsosurface) {
  TriangleMesh mesh = make_box({1, 1, 1});
  TriangleMesh other = make_sphere(0.6, 2);
  move(other, {0.4, 0.3, 0.2});
  flip_some(other, 0.5, 3);
  append(mesh, other);
  const TriangleMesh surface = extract_isosurface(build(mesh, 32), 0);
  Vec3d area;  // of a closed surface the area vectors cancel
  double volume = 0;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const auto [a, b, c] = surface.corners(t);
    area += cross(b - a, c - a);
    volume += dot(a, cross(b, c)) / 6;
  }
  EXPECT_LT(norm(area), 1e-9);
  EXPECT_GT(volume, 1.0);                 // more than the box
  EXPECT_LT(volume, 1.0 + 0.904 * 0.95);  // and less than both
}

std::uint64_t hash_of(const Field& field) {
  Hasher hasher;
  hasher.add_bytes(std::as_bytes(field.data().brick_index));
  hasher.add_bytes(std::as_bytes(field.data().samples));
  hasher.add_bytes(std::as_bytes(field.data().coarse));
  hasher.add(field.data().lipschitz);
  return hasher.digest();
}

TEST(BuildField, IsTheSameOnOneCoreAndOnAll) {
  TriangleMesh mesh = make_sphere(1, 3);
  std::erase_if(mesh.triangles, [&](const Triangle& t) { return mesh.vertices[t[0]].z > 0.7; });
  TriangleMesh bar = make_box({3, 0.4, 0.4});
  append(mesh, bar);
  const std::uint64_t all = hash_of(build(mesh, 32));
  std::uint64_t one = 0;
  std::thread([&] {
    // The number of threads is what this thread may run on.
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
    sched_setaffinity(0, sizeof set, &set);
    one = hash_of(build(mesh, 32));
  }).join();
  EXPECT_EQ(one, all);
}

TEST(BuildField, StopsWhenAsked) {
  struct Stop final : Progress {
    int left;
    explicit Stop(int calls) : left(calls) {}
    void update(std::string_view stage, double fraction) override {
      EXPECT_FALSE(stage.empty());
      EXPECT_GE(fraction, 0);
      EXPECT_LE(fraction, 1);
      if (--left <= 0) throw Cancelled();
    }
  };
  FieldSettings settings;
  settings.resolution = 24;
  for (const int calls : {1, 5, 20}) {
    Stop stop(calls);
    EXPECT_THROW(build_field(make_sphere(1, 2), settings, stop), Cancelled);
  }
}

// All boxes of slivers around one corner meet, so that a search among them looks at an eighth of all.
TEST(BuildField, RefusesSliversThatWouldTakeHours) {
  const TriangleMesh fan = fan_of_slivers(200'000);
  const std::int64_t start = processor_ns();
  try {
    build(fan, 1024);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::too_large);
    EXPECT_NE(std::string(error.what()).find("long thin triangles"), std::string::npos) << error.what();
  }
  EXPECT_LT(static_cast<double>(processor_ns() - start) * 1e-9, 30);  // of the processor; it takes less than one
}

// Whatever its resolution: the advice is another than for one that is too fine.
TEST(BuildField, RefusesMoreTrianglesThanItHasMemoryFor) {
  TriangleMesh mesh = make_box({1, 1, 1});
  mesh.triangles.resize((std::size_t{4} << 30U) / 1024 + 1, {0, 1, 2});  // four gigabytes, a kilobyte for each
  try {
    build(mesh, 8);
    ADD_FAILURE();
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_EQ(error.code(), ErrorCode::too_large);
    EXPECT_NE(said.find("Simplify it"), std::string::npos) << said;
    EXPECT_EQ(said.find("lower resolution"), std::string::npos) << said;
  }
}

TEST(BuildField, RefusesWhatHasNoSurface) {
  TriangleMesh mesh;
  EXPECT_THROW(build(mesh, 32), Error);
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  mesh.triangles = {{0, 1, 2}};
  EXPECT_THROW(build(mesh, 32), Error);
  mesh.triangles = {{0, 1, 3}};
  EXPECT_THROW(build(mesh, 32), Error);
  mesh.vertices[2].y = std::nan("");
  mesh.triangles = {{0, 1, 2}};
  EXPECT_THROW(build(mesh, 32), Error);
  TriangleMesh away = make_box({1e-3, 1e-3, 1e-3});
  move(away, {1e5, 0, 0});
  EXPECT_THROW(build(away, 32), Error);
  EXPECT_THROW(build(make_box({1, 1, 1}), 7), Error);
  EXPECT_THROW(build(make_box({1, 1, 1}), 1025), Error);
}

// Models from the Stanford repository, in the folder that COTOUCH_MODELS names.
class BuildFieldSlow : public testing::Test {
 protected:
  static TriangleMesh load(const char* name) {
    const char* folder = std::getenv("COTOUCH_MODELS");
    if (!folder) return {};
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    return std::filesystem::exists(path) ? load_mesh(path).mesh : TriangleMesh{};
  }
};

TEST_F(BuildFieldSlow, SignsTheBunnyAlsoWithoutItsBase) {
  const TriangleMesh whole = load("bunny.obj");
  if (whole.triangles.empty()) GTEST_SKIP() << "COTOUCH_MODELS names no folder with bunny.obj";
  // Without the lowest tenth: a hole as wide as the animal.
  TriangleMesh open = whole;
  const Box3d bounds = whole.bounds();
  const double cut = bounds.low.y + 0.1 * bounds.size().y;
  std::erase_if(open.triangles, [&](const Triangle& t) {
    return std::min({open.vertices[t[0]].y, open.vertices[t[1]].y, open.vertices[t[2]].y}) < cut;
  });
  FieldReport report;
  const Field field = build(open, 96, &report);
  EXPECT_GT(report.caps, 0U);
  const double h = static_cast<double>(field.spacing());
  Random random(8);
  int inside = 0;
  for (int i = 0; i < 4000; ++i) {
    const Vec3d p{random.uniform(bounds.low.x, bounds.high.x), random.uniform(cut, bounds.high.y),
                  random.uniform(bounds.low.z, bounds.high.z)};
    const double d = signed_brute_force(whole, p);
    // The hole's rim is not flat, so its closing may bulge; well above it the whole bunny is the truth.
    if (std::fabs(d) < h || p.y < cut + 0.1 * bounds.size().y) continue;
    inside += d < 0;
    ASSERT_EQ(field.distance(Vec3f(p)) < 0, d < 0) << p.x << " " << p.y << " " << p.z;
  }
  EXPECT_GT(inside, 300);
}

TEST_F(BuildFieldSlow, SignsTheDragon) {
  const TriangleMesh mesh = load("dragon.ply");
  if (mesh.triangles.empty()) GTEST_SKIP() << "COTOUCH_MODELS names no folder with dragon.ply";
  const Field field = build(mesh, 128);
  const double h = static_cast<double>(field.spacing());
  const Box3d bounds = mesh.bounds();
  const ClosestTriangle closest(mesh);
  Random random(9);
  for (int i = 0; i < testing_support::thorough(120, 600); ++i) {
    const Vec3d p{random.uniform(bounds.low.x, bounds.high.x), random.uniform(bounds.low.y, bounds.high.y),
                  random.uniform(bounds.low.z, bounds.high.z)};
    if (closest.closest(p, 2 * h)) continue;
    ASSERT_EQ(field.distance(Vec3f(p)) < 0, exact_winding_number(mesh, p) > 0.5) << p.x << " " << p.y << " " << p.z;
  }
}

}  // namespace
}  // namespace cotouch::this_file
