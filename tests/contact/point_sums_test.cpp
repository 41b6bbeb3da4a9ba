// The sums over points, two at a time, against the sums of contact.h written out for one point after another.
#include <cotouch/contact/sampled/point_sums.h>

#include "contact/support.h"

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

void expect_near(const Mat3& a, const Mat3& b, double tolerance) {
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(a.m[i], b.m[i], tolerance) << i;
}

TEST(PointSums, AreWhatOnePointAfterAnotherAddsUpToForAnyCount) {
  Random random(41);
  const Mat3 turn = rotation_matrix(quat_from_rotation_vector({0.3, -1.1, 0.7}));
  for (const std::uint32_t count : {0U, 1U, 2U, 3U, 63U, 64U, 65U, 127U, 130U, 193U}) {
    SCOPED_TRACE(count);
    PointSums sums(turn);
    PointSums::Block block;
    PointSums::Totals expected{};
    std::uint32_t filled = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Vec3d p = random.vector(0, 2), g = random.direction();
      const double d = random.uniform(0.1, 1), d6 = d * d * d * d * d * d;
      const Vec3d r = turn * p, c = cross(r, g);
      expected.depth8 += d6 * d * d;
      expected.push += g * (d6 * d);
      expected.moment = expected.moment + Mat3::outer(r, g) * (d6 * d);
      expected.linear = expected.linear + Mat3::outer(g, g) * d6;
      expected.mixed = expected.mixed + Mat3::outer(g, c) * d6;
      expected.angular = expected.angular + Mat3::outer(c, c) * d6;
      block.x[filled] = p.x;
      block.y[filled] = p.y;
      block.z[filled] = p.z;
      block.gx[filled] = g.x;
      block.gy[filled] = g.y;
      block.gz[filled] = g.z;
      block.depth[filled] = d;
      if (++filled == PointSums::k_block || i + 1 == count) {
        sums.add(block, filled);
        filled = 0;
      }
    }
    const PointSums::Totals got = sums.totals();
    const double tolerance = 1e-13 * (1 + count);
    EXPECT_NEAR(got.depth8, expected.depth8, tolerance);
    EXPECT_LT(norm(got.push - expected.push), tolerance);
    expect_near(got.moment, expected.moment, tolerance);
    expect_near(got.linear, expected.linear, tolerance);
    expect_near(got.mixed, expected.mixed, tolerance);
    expect_near(got.angular, expected.angular, tolerance);
  }
}

}  // namespace
}  // namespace cotouch::this_file
