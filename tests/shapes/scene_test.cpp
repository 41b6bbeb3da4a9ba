#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/report.h>
#include <cotouch/mesh/winding.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>
#include <mesh/mesh_checks.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace cotouch::this_file {
namespace {

std::uint64_t hash_of(const TriangleMesh& mesh) {
  Hasher hasher;
  for (const Vec3d& v : mesh.vertices)
    for (std::size_t i = 0; i < 3; ++i) hasher.add(v[i]);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t index : t) hasher.add(index);
  return hasher.digest();
}

// The connected pieces of a mesh, by walking over shared vertices.
std::vector<TriangleMesh> pieces_of(const TriangleMesh& mesh) {
  std::vector<std::uint32_t> piece(mesh.vertices.size());
  for (std::uint32_t i = 0; i < piece.size(); ++i) piece[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Triangle& t : mesh.triangles) {
      const std::uint32_t low = std::min({piece[t[0]], piece[t[1]], piece[t[2]]});
      for (const std::uint32_t v : t) {
        changed |= piece[v] != low;
        piece[v] = low;
      }
    }
  }
  std::vector<TriangleMesh> out;
  std::vector<std::size_t> number(mesh.vertices.size(), SIZE_MAX);
  for (const Triangle& t : mesh.triangles) {
    std::size_t& n = number[piece[t[0]]];
    if (n == SIZE_MAX) {
      n = out.size();
      out.push_back({"", mesh.vertices, {}});
    }
    out[n].triangles.push_back(t);
  }
  return out;
}

void expect_sound(const TriangleMesh& mesh, std::size_t pieces) {
  SCOPED_TRACE(mesh.name);
  EXPECT_FALSE(mesh.name.empty());
  EXPECT_TRUE(is_closed_and_consistent(mesh));
  const std::vector<TriangleMesh> found = pieces_of(mesh);
  EXPECT_EQ(found.size(), pieces);
  for (const TriangleMesh& piece : found) {
    EXPECT_GT(signed_volume(piece), 0);
    TriangleMesh copy = piece;
    EXPECT_EQ(clean_mesh(copy).welded, 0u);  // pieces may touch each other
  }
  TriangleMesh copy = mesh;
  const MeshReport report = clean_mesh(copy);
  EXPECT_EQ(report.without_area, 0u);
  EXPECT_EQ(report.duplicates, 0u);
  if (pieces == 1) {
    EXPECT_EQ(report.crossings.crossing, 0u);
  }
  // Hand-sized.
  const Vec3d size = report.bounds.size();
  EXPECT_GT(std::min({size.x, size.y, size.z}), 0.01);
  EXPECT_LT(std::max({size.x, size.y, size.z}), 0.6);
}

double polygon(int n) {  // area of a regular n-gon in the unit circle
  return 0.5 * n * sin_cos(2 * k_pi / n).sin;
}

TEST(SceneShapes, AreClosedAndFaceOutward) {
  expect_sound(make_ball(), 1);
  expect_sound(make_socket(), 1);
  expect_sound(make_hose(), 1);
  HoseShape solid;
  solid.wall = 0;
  expect_sound(make_hose(solid), 1);
  expect_sound(make_gear(), 1);
  ThreadShape thread;
  thread.steps = 40;
  thread.rings_per_pitch = 12;
  expect_sound(make_threaded_peg(thread), 1);
  expect_sound(make_threaded_block(thread), 1);
  expect_sound(make_open_box(), 1);
  expect_sound(make_bracket(), 1);
  // Deck; four pillars, three arches, thirteen posts and a rail on each side.
  expect_sound(make_bridge(), 1 + 2 * (4 + 3 + 13 + 1));
  // Body, neck, tail, four legs, head, snout, two ears and the bumps.
  expect_sound(make_creature(), 11 + 7);
}

TEST(SceneShapes, BallFitsItsSocketWithTheClearanceAllAround) {
  BallJointShape shape;
  shape.clearance = 0.001;
  const TriangleMesh ball = make_ball(shape), socket = make_socket(shape);
  const ClosestTriangle to_socket(socket);
  const WindingNumber in_socket(socket);
  // Flat facets cut in by up to (1 - cos(pi/steps)) of the radius, twice: once around, once along.
  const double sag = 2 * (shape.radius + shape.clearance) * (1 - sin_cos(k_pi / shape.steps).cos);
  double nearest = 1;
  for (const Vec3d& v : ball.vertices) {
    nearest = std::min(nearest, std::sqrt(to_socket.closest(v).distance_squared));
    EXPECT_LT(std::fabs(in_socket.at(v)), 0.1);
  }
  EXPECT_NEAR(nearest, shape.clearance, sag);
  // With the rim above the equator the cup is narrower at the rim than the ball: it cannot fall out.
  double rim = 1;
  for (const Vec3d& v : socket.vertices)
    if (v.z > 0.4 * shape.radius) rim = std::min(rim, std::sqrt(v.x * v.x + v.y * v.y));
  EXPECT_LT(rim, shape.radius);
}

TEST(SceneShapes, OpenBoxBracketAndHoseHaveTheirVolumes) {
  const BoxAndBracketShape shape;
  EXPECT_NEAR(signed_volume(make_open_box()), 0.12 * 0.08 * 0.06 - 0.112 * 0.072 * 0.056, 1e-15);
  EXPECT_NEAR(signed_volume(make_bracket()), 0.05 * (0.07 * 0.005 + 0.04 * 0.005), 1e-15);
  EXPECT_EQ(make_open_box().bounds().low.z, 0);
  EXPECT_EQ(make_bracket().bounds().size(), shape.bracket);
  // A straight hose is a prism over a polygonal ring.
  HoseShape hose;
  hose.sway = 0;
  const double ring = polygon(hose.steps) * (0.01 * 0.01 - 0.0075 * 0.0075);
  EXPECT_NEAR(signed_volume(make_hose(hose)), ring * hose.length, 1e-15);
}

TEST(SceneShapes, GearTeethHaveTheirProportions) {
  const GearShape shape;
  const TriangleMesh gear = make_gear(shape);
  const double pitch = 0.5 * shape.module * shape.teeth;
  double tip = 0, root = 1, bore = 1;
  for (const Vec3d& v : gear.vertices) {
    const double r = std::sqrt(v.x * v.x + v.y * v.y);
    tip = std::max(tip, r);
    bore = std::min(bore, r);
    if (r > 1.01 * shape.bore_radius) root = std::min(root, r);
  }
  EXPECT_NEAR(tip, pitch + shape.module, 1e-12);
  EXPECT_NEAR(root, pitch - 1.25 * shape.module, 1e-12);
  EXPECT_NEAR(bore, shape.bore_radius, 1e-12);

  // On the pitch circle a tooth takes half a pitch (pi times the module) less half the backlash: count points inside.
  const WindingNumber inside(gear);
  int in_tooth = 0;
  constexpr int k_points = 18'000;
  for (int i = 0; i < k_points; ++i) {
    const SinCos t = sin_cos(2 * k_pi * (i + 0.5) / k_points);
    if (inside.at({pitch * t.cos, pitch * t.sin, 0}) > 0.5) ++in_tooth;
  }
  const double share = 0.5 - 0.5 * shape.backlash / (k_pi * shape.module);
  // Flanks are polylines of eight pieces, and every tooth is counted to two points of the circle.
  EXPECT_NEAR(static_cast<double>(in_tooth) / k_points, share, 0.004);
  // The flat sides are not folded over: every triangle on them faces along z, up above and down below.
  for (std::size_t t = 0; t < gear.triangles.size(); ++t) {
    const auto [a, b, c] = gear.corners(t);
    if (a.z != b.z || b.z != c.z) continue;
    EXPECT_GT(cross(b - a, c - a).z * a.z, 0);
  }
  EXPECT_LT(std::fabs(inside.at({0, 0, 0})), 0.01);
}

TEST(SceneShapes, GearsOfTheSameModuleMesh) {
  const GearShape shape;
  const TriangleMesh gear = make_gear(shape);
  // A second gear at the distance of the pitch circles, turned by half a tooth: gap against tooth, nothing overlaps.
  const double distance = shape.module * shape.teeth;
  const SinCos turn = sin_cos(k_pi / shape.teeth);
  const WindingNumber inside(gear);
  for (const Vec3d& v : gear.vertices) {
    const Vec3d p{distance + v.x * turn.cos - v.y * turn.sin, v.x * turn.sin + v.y * turn.cos, 0};
    EXPECT_LT(std::fabs(inside.at(p)), 0.5);
  }
}

TEST(SceneShapes, PegFitsItsBlockAndOnlyByTurning) {
  ThreadShape shape;
  shape.steps = 48;
  shape.rings_per_pitch = 16;
  const TriangleMesh peg = make_threaded_peg(shape), block = make_threaded_block(shape);
  const WindingNumber in_block(block);
  // The peg moved up by `rise` and turned by `turn`: how many of its vertices are inside the block?
  const auto collisions = [&](double rise, double turn) {
    const SinCos t = sin_cos(turn);
    int count = 0;
    for (const Vec3d& v : peg.vertices)
      if (in_block.at({v.x * t.cos - v.y * t.sin, v.x * t.sin + v.y * t.cos, v.z + rise}) > 0.5) ++count;
    return count;
  };
  EXPECT_EQ(collisions(0, 0), 0);
  EXPECT_EQ(collisions(-0.25 * shape.pitch, -0.5 * k_pi), 0);  // right-handed: turning backwards lowers it
  EXPECT_GT(collisions(-0.5 * shape.pitch, 0), 100);
  EXPECT_GT(collisions(-0.25 * shape.pitch, 0.5 * k_pi), 100);
}

TEST(SceneShapes, CreatureHasSeparateBumpsOnItsBack) {
  const CreatureShape shape;
  const std::vector<Vec3d> tops = creature_bump_tops(shape);
  ASSERT_GE(tops.size(), 6u);
  const TriangleMesh creature = make_creature(shape);
  const WindingNumber inside(creature);
  for (std::size_t i = 0; i < tops.size(); ++i) {
    // Just below a top is inside, just above it is free; between two tops, a third of a bump down, is free too.
    EXPECT_GT(inside.at(tops[i] - Vec3d{0, 0, 0.0008}), 0.5);
    EXPECT_LT(inside.at(tops[i] + Vec3d{0, 0, 0.0003}), 0.5);
    if (i == 0) continue;
    EXPECT_NEAR(tops[i].x - tops[i - 1].x, shape.bump_spacing, 1e-12);
    const Vec3d between = (tops[i] + tops[i - 1]) * 0.5 - Vec3d{0, 0, 0.3 * shape.bump_radius};
    EXPECT_LT(inside.at(between), 0.5);
  }
  EXPECT_NEAR(creature.bounds().low.z, 0, 0.06 * shape.length);
  CreatureShape fine = shape;
  fine.edge = shape.edge / 2;
  // Four times as many for half the edge, less where the coarse one is at its least.
  const double ratio =
      static_cast<double>(make_creature(fine).triangles.size()) / static_cast<double>(creature.triangles.size());
  EXPECT_GT(ratio, 2.5);
  EXPECT_LT(ratio, 5);
}

TEST(Clutter, MeetsItsTriangleCount) {
  for (const std::size_t wanted : {3000u, 20'000u, 200'000u}) {
    ClutterShape shape;
    shape.triangles = wanted;
    const auto got = static_cast<double>(make_clutter(shape).triangles.size());
    EXPECT_NEAR(got / static_cast<double>(wanted), 1, 0.05) << wanted;
  }
}

TEST(Clutter, IsClosedPiecesInsideItsBox) {
  ClutterShape shape;
  shape.triangles = 6000;
  const TriangleMesh clutter = make_clutter(shape);
  EXPECT_TRUE(is_closed_and_consistent(clutter));
  const std::vector<TriangleMesh> pieces = pieces_of(clutter);
  EXPECT_GE(pieces.size(), 30u);
  for (const TriangleMesh& piece : pieces) EXPECT_GT(signed_volume(piece), 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(clutter.bounds().size()[i], 1.2 * shape.size[i]);
}

TEST(Clutter, TheSameSeedGivesTheSameBitsAndAnotherOneDoesNot) {
  ClutterShape shape;
  shape.triangles = 5000;
  std::set<std::uint64_t> hashes;
  for (const std::uint64_t seed : {1u, 1u, 2u, 3u}) {
    shape.seed = seed;
    hashes.insert(hash_of(make_clutter(shape)));
  }
  EXPECT_EQ(hashes.size(), 3u);
}

TEST(SceneShapes, RefuseSettingsThatDescribeNothing) {
  BallJointShape ball;
  ball.stem_radius = 1;
  EXPECT_THROW(make_ball(ball), Error);
  GearShape gear;
  gear.bore_radius = 1;
  EXPECT_THROW(make_gear(gear), Error);
  ThreadShape thread;
  thread.steps = 13;
  EXPECT_THROW(make_threaded_peg(thread), Error);
  CreatureShape creature;
  creature.bump_spacing = creature.bump_radius;
  EXPECT_THROW(make_creature(creature), Error);
  ClutterShape clutter;
  clutter.triangles = 5;
  EXPECT_THROW(make_clutter(clutter), Error);
}

}  // namespace
}  // namespace cotouch::this_file
