#include <cotouch/base/random.h>
#include <cotouch/mesh/report.h>
#include <cotouch/shapes/shapes.h>
#include <mesh/mesh_checks.h>

#include <gtest/gtest.h>

#include <algorithm>

#include "support/questions.h"
#include "support/slivers.h"

namespace cotouch::this_file {
namespace {

// Every triangle with corners of its own, as STL files have them.
TriangleMesh unwelded(const TriangleMesh& mesh) {
  TriangleMesh out;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto first = static_cast<std::uint32_t>(out.vertices.size());
    for (const Vec3d& v : mesh.corners(t)) out.vertices.push_back(v);
    out.triangles.push_back({first, first + 1, first + 2});
  }
  return out;
}

TEST(MeshReport, WeldingMakesASoupClosedAgain) {
  const TriangleMesh sphere = make_sphere(0.05, 2);
  TriangleMesh soup = unwelded(sphere);
  const MeshReport report = clean_mesh(soup);
  EXPECT_TRUE(is_closed_and_consistent(soup));
  EXPECT_TRUE(report.closed());
  EXPECT_EQ(report.vertices, sphere.vertices.size());
  EXPECT_EQ(report.welded, 3 * sphere.triangles.size() - sphere.vertices.size());
  EXPECT_EQ(report.components, 1u);
  EXPECT_EQ(report.crossings.crossing, 0u);
}

TEST(MeshReport, ZeroAndMinusZeroAreTheSamePlace) {
  TriangleMesh mesh;
  mesh.vertices = {{0.0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-0.0, 0, 0}, {0, 1, 0}, {-1, 0, 0}};
  mesh.triangles = {{0, 1, 2}, {3, 4, 5}};
  EXPECT_EQ(clean_mesh(mesh).open_edges, 4u);
}

TEST(MeshReport, PlacesThatOnlyRoundingTellsApartAreTheSame) {
  // Every vertex of every triangle moved by a little of the diagonal, each by another little.
  const TriangleMesh sphere = make_sphere(0.05, 2);
  const double diagonal = norm(sphere.bounds().size());
  for (const double little : {1e-17, 4e-11}) {
    TriangleMesh soup = unwelded(sphere);
    Random random(1);
    for (Vec3d& v : soup.vertices)
      for (std::size_t i = 0; i < 3; ++i) v[i] += little * diagonal * (random.uniform() - 0.5);
    const MeshReport report = clean_mesh(soup);
    EXPECT_TRUE(report.closed()) << little;
    EXPECT_EQ(report.vertices, sphere.vertices.size()) << little;
  }
  // A slit of 3e-9 of the diagonal stays open, also where a vertex used by nothing lies far away.
  TriangleMesh slit;
  slit.vertices = {{0, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {8e-9, 0, 0}, {8e-9, 1, 0}, {1, 0, 0}, {1e6, 0, 0}};
  slit.triangles = {{0, 1, 2}, {3, 5, 4}};
  EXPECT_EQ(clean_mesh(slit).open_edges, 6u);
}

TEST(MeshReport, MeasuresVolumeWhereThereIsAnInside) {
  TriangleMesh box = make_box({0.1, 0.2, 0.3});
  EXPECT_NEAR(clean_mesh(box).volume.value(), 0.006, 1e-15);
  for (Triangle& t : box.triangles) std::swap(t[0], t[1]);  // inside out
  EXPECT_NEAR(clean_mesh(box).volume.value(), 0.006, 1e-15);
  box.triangles.pop_back();
  EXPECT_FALSE(clean_mesh(box).volume.has_value());
}

TEST(MeshReport, UsesUnitsThatFit) {
  const auto measures = [](const Vec3d& size) {
    TriangleMesh box = make_box(size);
    return clean_mesh(box).lines()[1];
  };
  EXPECT_EQ(measures({0.1, 0.2, 0.3}), "size 100 mm x 200 mm x 300 mm, surface 0.22 m2, volume 6000 cm3");
  EXPECT_EQ(measures({10, 20, 30}), "size 10 m x 20 m x 30 m, surface 2200 m2, volume 6000 m3");
  EXPECT_EQ(measures({1000, 2000, 3000}), "size 1 km x 2 km x 3 km, surface 22 km2, volume 6 km3");
  EXPECT_EQ(measures({1e-5, 0.002, 0.003}), "size 10 um x 2 mm x 3 mm, surface 0.121 cm2, volume 0.06 mm3");
}

TEST(MeshReport, FindsWhatWasBroken) {
  TriangleMesh mesh = make_box({1, 1, 1});
  const MeshReport whole = clean_mesh(mesh);
  EXPECT_TRUE(whole.closed());
  EXPECT_NEAR(whole.area, 6, 1e-14);

  TriangleMesh open = mesh;
  open.triangles.pop_back();
  EXPECT_EQ(clean_mesh(open).open_edges, 3u);

  TriangleMesh flipped = mesh;
  std::swap(flipped.triangles[5][0], flipped.triangles[5][1]);
  EXPECT_EQ(clean_mesh(flipped).inconsistent_edges, 3u);

  // A fin on an edge: that edge has three triangles, the fin's other two are open.
  TriangleMesh fin = mesh;
  fin.vertices.push_back({-2, -2, 0});
  fin.triangles.push_back({0, 4, 8});
  EXPECT_EQ(clean_mesh(fin).nonmanifold_edges, 1u);
  EXPECT_EQ(clean_mesh(fin).open_edges, 2u);

  TriangleMesh two = mesh;
  TriangleMesh other = make_box({1, 1, 1});
  for (Vec3d& v : other.vertices) v.x += 5;
  append(two, other);
  EXPECT_EQ(clean_mesh(two).components, 2u);
}

TEST(MeshReport, CountsOpeningsByTheirRims) {
  TriangleMesh box = make_box({1, 1, 1});
  EXPECT_EQ(clean_mesh(box).openings, 0u);
  // A ring without two triangles far apart, and a triangle beside it.
  TriangleMesh open = make_torus(1, 0.3, 12, 8);
  open.triangles.erase(open.triangles.begin() + 100);
  open.triangles.erase(open.triangles.begin());
  const auto first = static_cast<std::uint32_t>(open.vertices.size());
  open.vertices.insert(open.vertices.end(), {{5, 0, 0}, {6, 0, 0}, {5, 1, 0}});
  open.triangles.push_back({first, first + 1, first + 2});
  const MeshReport report = clean_mesh(open);
  EXPECT_EQ(report.open_edges, 9u);
  EXPECT_EQ(report.openings, 3u);
}

TEST(MeshReport, DropsTrianglesWithoutAreaAndRepeatedOnes) {
  TriangleMesh mesh = make_box({1, 1, 1});
  const std::size_t before = mesh.triangles.size();
  const auto [a, b, c] = mesh.triangles[3];
  mesh.triangles.push_back({b, c, a});
  mesh.triangles.push_back({b, a, c});
  mesh.triangles.push_back({a, a, c});
  mesh.vertices.push_back((mesh.vertices[a] + mesh.vertices[b]) * 0.5);
  mesh.triangles.push_back({a, b, static_cast<std::uint32_t>(mesh.vertices.size() - 1)});
  mesh.vertices.push_back({9, 9, 9});  // used by nothing
  const MeshReport report = clean_mesh(mesh);
  EXPECT_EQ(report.duplicates, 2u);
  EXPECT_EQ(report.without_area, 2u);
  EXPECT_EQ(mesh.triangles.size(), before);
  EXPECT_EQ(mesh.vertices.size(), 8u);
  EXPECT_TRUE(report.closed());
  EXPECT_EQ(report.triangles_read, before + 4);
}

TEST(MeshReport, SeesCrossingPiecesAndOnlyThose) {
  TriangleMesh mesh = make_box({1, 1, 1});
  TriangleMesh other = make_box({0.5, 0.5, 4});
  append(mesh, other);
  const SelfIntersections crossings = find_self_intersections(mesh);
  EXPECT_EQ(crossings.tested, 24u);
  // The pole's eight long triangles cross the box's top and bottom, each of whose two triangles is crossed in turn.
  EXPECT_EQ(crossings.crossing, 12u);

  EXPECT_EQ(find_self_intersections(make_torus(0.06, 0.02, 30, 20)).crossing, 0u);
  EXPECT_EQ(find_self_intersections(TriangleMesh{}).tested, 0u);
  EXPECT_EQ(find_self_intersections(mesh, 5).tested, 5u);
  EXPECT_LE(find_self_intersections(mesh, 24, 10).tested, 24u);
}

// Their boxes all meet each other, and none of them crosses another.
TEST(MeshReport, LooksAtSliversAroundOneVertexNoLongerThanAllowed) {
  constexpr std::uint32_t k_slivers = 20'000;
  const TriangleMesh fan = fan_of_slivers(k_slivers);
  constexpr std::size_t k_most = 200'000;
  SelfIntersections found;
  const std::size_t asked = questions_of([&] { found = find_self_intersections(fan, k_slivers, k_most); });
  EXPECT_GT(found.tested, 0u);
  EXPECT_LT(found.tested, k_slivers);
  EXPECT_EQ(found.crossing, 0u);
  // It asks at each box. Of a tree there are fewer than two for each leaf, and each leaf has a triangle or more, which
  // is looked at as well: two looks of three are at boxes. Making the tree asks at each of its boxes, too.
  EXPECT_LE(asked, k_most / 3 * 2 + 2 * k_slivers);
}

// Nobody who has a mesh cleaned says how long it may take.
TEST(MeshReport, LooksAtFewerSliversThanThereAreUnlessItIsAllowedMore) {
  TriangleMesh fan = fan_of_slivers(50'000);
  const SelfIntersections found = clean_mesh(fan).crossings;
  EXPECT_GT(found.tested, 0u);
  EXPECT_LT(found.tested, 2'000u);  // each meets the boxes of all others: 10,000,000 looks are enough for 100 or so
  EXPECT_EQ(found.crossing, 0u);
}

TEST(MeshReport, ReadsLikeSentences) {
  TriangleMesh mesh = make_box({0.1, 0.2, 0.3});
  mesh.triangles.pop_back();
  const std::vector<std::string> lines = clean_mesh(mesh).lines();
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0], "11 triangles, 8 vertices, 1 piece");
  EXPECT_EQ(lines[1].substr(0, lines[1].find(',')), "size 100 mm x 200 mm x 300 mm");
  EXPECT_EQ(lines[2],
            "3 open edges around 1 opening: the surface has holes, which will be filled, or is a sheet, which will be "
            "thickened");
}

}  // namespace
}  // namespace cotouch::this_file
