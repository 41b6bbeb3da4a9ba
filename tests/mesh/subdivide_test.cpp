#include <cotouch/mesh/subdivide.h>

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

TEST(Subdivide, KeepsToItsLimitAndLeavesShortEdgesAlone) {
  const TriangleMesh box = make_box({1, 1, 1});
  EXPECT_LE(with_short_edges(box, 0.001, 500).triangles.size(), 500U);
  EXPECT_EQ(with_short_edges(box, 2, 500).triangles, box.triangles);
  EXPECT_EQ(with_short_edges(box, 0.001, 5).triangles, box.triangles);
  EXPECT_TRUE(with_short_edges({}, 0.1, 5).triangles.empty());
}

}  // namespace
}  // namespace cotouch::this_file
