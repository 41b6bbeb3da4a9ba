#include <cotouch/elastic/coarse_shell.h>
#include <cotouch/elastic/deformation.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <algorithm>

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

std::vector<Vec3d> displacements(const Part& part, const std::vector<double>& q) {
  Deformation shape(*part.elastic);
  shape.set(q.data());
  std::vector<Vec3d> all;
  for (const EmbeddedPoint& point : part.elastic->data().shell) all.push_back(shape.displacement_at(point));
  return all;
}

TEST(CoarseShell, NoPointIsFartherFromItsPlaceThanTheBoundAndTheBoundIsClose) {
  Random random(5);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *loose_bar(law);
    const CoarseShell coarse(*part.elastic, part.shell);
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> q = random_bend(*part.elastic, random.uniform(0, 0.3), random);
      double farthest = 0;
      for (const Vec3d& moved : displacements(part, q)) farthest = std::max(farthest, norm(moved));
      const double bound = coarse.farthest(q.data());
      EXPECT_LE(farthest, bound + 1e-7);
      // Warped points are nearer than their modes have them.
      const double exact = law == ElasticLaw::stvk ? 1 : 0.5;
      EXPECT_LT(exact * bound, 2 * farthest);
    }
  }
}

// A move of any length, not only a small one: what a substep does. Bent as far as this, warped points move by more than
// the modes' displacement says, because they turn.
TEST(CoarseShell, NoPointMovesByMoreThanTheBoundAndTheBoundIsClose) {
  Random random(6);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *loose_bar(law);
    const CoarseShell coarse(*part.elastic, part.shell);
    for (const double size : {1e-4, 0.01, 0.1})
      for (int trial = 0; trial < 10; ++trial) {
        const std::vector<double> from = random_bend(*part.elastic, random.uniform(0, 2), random);
        const std::vector<double> move = random_bend(*part.elastic, size, random);
        std::vector<double> to = from;
        for (std::size_t j = 0; j < to.size(); ++j) to[j] += move[j];
        const std::vector<Vec3d> before = displacements(part, from), after = displacements(part, to);
        double longest = 0;
        for (std::size_t i = 0; i < before.size(); ++i) longest = std::max(longest, norm(after[i] - before[i]));
        const double bound = coarse.fastest(from.data(), move.data());
        EXPECT_LE(longest, bound + 1e-7);
        const double exact = law == ElasticLaw::stvk ? 1 : 0.1;
        EXPECT_LT(exact * bound, 2 * longest + 1e-7);
      }
  }
}

}  // namespace
}  // namespace cotouch::this_file
