#include <cotouch/base/random.h>
#include <cotouch/shell/tree.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cotouch::this_file {
namespace {

// Random points of the unit sphere: the tree's rules hold for any points, even ones or not.
NestedPoints random_points(const std::vector<std::uint32_t>& level_points, std::uint64_t seed) {
  Random random(seed);
  NestedPoints points;
  points.level_points = level_points;
  for (std::uint32_t i = 0; i < level_points.back(); ++i) {
    const Vec3d direction = random.direction();
    points.positions.push_back(Vec3f(direction));
    points.inward_normals.push_back(-Vec3f(direction));
  }
  return points;
}

TEST(Tree, GivesEveryNewNodeTheNearestParentAndEveryNodeItsCopy) {
  const Shell shell = build_tree(random_points({20, 80, 320, 1280}, 1));
  ASSERT_EQ(shell.levels(), 4U);
  for (std::uint32_t l = 0; l + 1 < shell.levels(); ++l) {
    const auto parents = shell.level(l);
    const ShellData& data = shell.data();
    for (std::uint32_t p = 0; p < parents.size(); ++p) {
      const std::uint32_t end = (&parents[p] + 1)->first_child;  // the next node's, or the sentinel's
      ASSERT_LT(parents[p].first_child, end);
      ASSERT_EQ(data.nodes[parents[p].first_child].point, parents[p].point);
      for (std::uint32_t child = parents[p].first_child; child < end; ++child) {
        std::uint32_t nearest = 0;
        double best = std::numeric_limits<double>::infinity();
        for (std::uint32_t q = 0; q < parents.size(); ++q) {
          const double squared = norm_squared(Vec3d(parents[q].position) - Vec3d(data.nodes[child].position));
          if (squared < best) {
            best = squared;
            nearest = q;
          }
        }
        ASSERT_EQ(nearest, p) << "level " << l << " child " << child;
      }
    }
  }
}

TEST(Tree, NumbersPointsInTheOrderOfFirstAppearance) {
  const Shell shell = build_tree(random_points({16, 64, 256}, 2));
  std::uint32_t seen = 0;
  for (std::uint32_t l = 0; l < shell.levels(); ++l) {
    const std::uint32_t known = seen;
    for (const ShellNode& node : shell.level(l))
      if (node.point >= known) {
        ASSERT_EQ(node.point, seen++);
      }
    ASSERT_EQ(seen, shell.points_to_level(l));
  }
  EXPECT_EQ(seen, shell.point_count());
}

TEST(Tree, KeepsEveryPointWithItsNormal) {
  const NestedPoints points = random_points({16, 64, 256}, 3);
  const Shell shell = build_tree(points);
  // On the unit sphere the normal names the point.
  Vec3d sum, expected;
  for (std::uint32_t i = 0; i < shell.point_count(); ++i) {
    ASSERT_EQ(shell.data().inward_normals[i], -shell.data().positions[i]);
    sum += Vec3d(shell.data().positions[i]);
    expected += Vec3d(points.positions[i]);
  }
  EXPECT_NEAR(norm(sum - expected), 0, 1e-12);
}

// Collects the deepest nodes below a node by following links only.
void collect(const ShellData& data, std::uint32_t level, std::uint32_t node, std::vector<Vec3f>& below) {
  if (level + 2 == data.level_begin.size()) {
    below.push_back(data.nodes[node].position);
    return;
  }
  for (std::uint32_t c = data.nodes[node].first_child; c < data.nodes[node + 1].first_child; ++c)
    collect(data, level + 1, c, below);
}

TEST(Tree, RadiusHoldsEverythingBelowEvenInSinglePrecision) {
  NestedPoints points = random_points({20, 80, 320, 1280}, 4);
  // Away from the origin, where single precision is coarse.
  for (Vec3f& p : points.positions) p = p * 0.01F + Vec3f{3, -7, 11};
  const Shell shell = build_tree(points);
  const ShellData& data = shell.data();
  for (std::uint32_t l = 0; l < shell.levels(); ++l)
    for (std::uint32_t i = data.level_begin[l]; i + 1 < data.level_begin[l + 1]; ++i) {
      std::vector<Vec3f> below;
      collect(data, l, i, below);
      float farthest = 0;
      for (const Vec3f& p : below) farthest = std::max(farthest, norm(p - data.nodes[i].position));
      ASSERT_LE(farthest, data.nodes[i].radius);
      // And no larger than it must be: a loose ball costs time in every traversal.
      ASSERT_LE(data.nodes[i].radius, farthest * (1 + 2e-6F));
    }
}

TEST(Tree, ReachHoldsEveryPoint) {
  const Shell shell = build_tree(random_points({16, 64}, 5));
  for (const Vec3f& p : shell.data().positions) EXPECT_LE(norm(Vec3d(p)), static_cast<double>(shell.reach()));
  EXPECT_NEAR(static_cast<double>(shell.reach()), 1, 1e-6);
}

TEST(Tree, TakesASinglePointAndCoincidentPoints) {
  EXPECT_EQ(build_tree(random_points({1}, 6)).point_count(), 1U);
  NestedPoints same = random_points({16, 64}, 7);
  for (Vec3f& p : same.positions) p = {1, 2, 3};
  EXPECT_EQ(build_tree(same).point_count(), 64U);
}

}  // namespace
}  // namespace cotouch::this_file
