#include <cotouch/mesh/subdivide.h>

#include <cotouch/base/realtime.h>
#include <cotouch/shapes/shapes.h>

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

namespace cotouch::this_file {
namespace {

// Every directed edge once, and its opposite once.
bool is_closed(const TriangleMesh& mesh) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t i = 0; i < 3; ++i) ++edges[{t[i], t[(i + 1) % 3]}];
  for (const auto& [edge, count] : edges)
    if (count != 1 || !edges.contains({edge.second, edge.first})) return false;
  return true;
}

TEST(Subdivide, LeavesTheSurfaceClosedAndItsVolumeAsItWas) {
  const TriangleMesh gear = make_gear();
  const TriangleMesh fine = with_short_edges(gear, 0.004, 1'000'000);
  EXPECT_GT(fine.triangles.size(), gear.triangles.size());
  EXPECT_TRUE(is_closed(fine));
  EXPECT_NEAR(signed_volume(fine), signed_volume(gear), 1e-12 * std::abs(signed_volume(gear)) + 1e-18);
  for (const Triangle& t : fine.triangles)
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_LE(norm(fine.vertices[t[(i + 1) % 3]] - fine.vertices[t[i]]), 0.004 * (1 + 1e-12));
}

// A table of the ends of edges as they are would have 85,229 places for these, and all of them in one: more than ten
// seconds of the processor.
TEST(Subdivide, OfEdgesWhoseEndsAllCollideIsMadeSoon) {
  constexpr std::uint64_t k_places = 85'229;
  constexpr std::uint32_t k_edges = 80'000;
  TriangleMesh mesh;
  mesh.vertices.assign(k_edges, {0, 0, 0});
  mesh.vertices.resize(k_edges + k_places, {1, 0, 0});
  mesh.vertices.push_back({0.5, 0.1, 0});
  const auto aside = static_cast<std::uint32_t>(mesh.vertices.size() - 1);
  for (std::uint64_t a = 0; a < k_edges; ++a) {
    const std::uint64_t rest = ((a << 32U) + k_edges) % k_places, b = k_edges + (k_places - rest) % k_places;
    ASSERT_EQ((a << 32U | b) % k_places, 0U);
    mesh.triangles.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), aside});
  }
  const std::int64_t start = processor_ns();
  EXPECT_EQ(with_short_edges(mesh, 0.7, 1'000'000).triangles.size(), 2 * k_edges);
  EXPECT_LT(static_cast<double>(processor_ns() - start) * 1e-9, 2);
}

TEST(Subdivide, KeepsToItsLimitAndLeavesShortEdgesAlone) {
  const TriangleMesh box = make_box({1, 1, 1});
  EXPECT_LE(with_short_edges(box, 0.001, 500).triangles.size(), 500U);
  EXPECT_EQ(with_short_edges(box, 2, 500).triangles, box.triangles);
  EXPECT_EQ(with_short_edges(box, 0.001, 5).triangles, box.triangles);
  EXPECT_TRUE(with_short_edges({}, 0.1, 5).triangles.empty());
}

}  // namespace
}  // namespace cotouch::this_file
