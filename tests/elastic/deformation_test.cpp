#include <cotouch/base/random.h>
#include <cotouch/elastic/deformation.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <algorithm>
#include <cmath>

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

Vec3f shell_point(const Part& part, Deformation& shape, std::uint32_t point) {
  Vec3f at;
  shape.shell_points(part.shell.data().positions.data(), &point, 1, &at);
  return at;
}

TEST(Deformation, BallsOfTheTreeHoldEveryPointBelowThemHoweverThePartIsBent) {
  Random random(1);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *held_bar(law);
    const ShellData& shell = part.shell.data();
    Deformation shape(*part.elastic);
    for (const double size : {0.0, 0.01, 0.1, 0.5, 2.0}) {
      shape.set(random_bend(*part.elastic, size, random).data());
      std::vector<Vec3d> at;
      for (std::uint32_t i = 0; i < part.shell.point_count(); ++i) at.push_back(Vec3d(shell_point(part, shape, i)));
      for (std::uint32_t l = 0; l + 1 < part.shell.levels(); ++l)
        for (std::uint32_t node = shell.level_begin[l]; node + 1 < shell.level_begin[l + 1]; ++node) {
          const std::uint32_t center = shell.nodes[node].point;
          const auto radius = static_cast<double>(shell.nodes[node].radius + shape.shell_growth(node, center));
          // All leaves below: one range of each deeper level.
          std::uint32_t begin = node, end = node + 1;
          for (std::uint32_t k = l; k + 1 < part.shell.levels(); ++k) {
            begin = shell.nodes[begin].first_child;
            end = shell.nodes[end].first_child;
          }
          for (std::uint32_t leaf = begin; leaf < end; ++leaf)
            ASSERT_LE(norm(at[shell.nodes[leaf].point] - at[center]), radius + 1e-7)
                << "level " << l << " bend " << size;
        }
    }
  }
}

TEST(Deformation, BoundsAreNotUseless) {
  // A bar that is bent by a tenth of its length: balls of the second level grow by less than their own radius.
  for (const ElasticLaw law : k_laws) {
    const Part& part = *held_bar(law);
    Deformation shape(*part.elastic);
    std::vector<double> q(part.elastic->size());
    q[0] = 1;
    q[0] = 0.02 / part.elastic->largest_move(q.data());
    shape.set(q.data());
    const ShellData& shell = part.shell.data();
    for (std::uint32_t node = shell.level_begin[1]; node + 1 < shell.level_begin[2]; ++node)
      EXPECT_LT(shape.shell_growth(node, shell.nodes[node].point), shell.nodes[node].radius + 1e-5F);
  }
}

TEST(Deformation, NothingMovesFartherThanItsBound) {
  Random random(3);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *loose_bar(law);
    Deformation shape(*part.elastic);
    for (int trial = 0; trial < 20; ++trial) {
      const std::vector<double> q = random_bend(*part.elastic, random.uniform(0, 0.5), random);
      shape.set(q.data());
      double farthest = 0;
      for (std::uint32_t i = 0; i < part.shell.point_count(); ++i)
        farthest = std::max(farthest, norm(Vec3d(shell_point(part, shape, i)) - Vec3d(part.shell.data().positions[i])));
      EXPECT_LE(farthest, shape.largest_move() + 1e-7);
      EXPECT_GT(farthest, 0.05 * shape.largest_move());
    }
  }
}

TEST(Deformation, GradientsAreThoseOfFiniteDifferences) {
  Random random(4);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *held_bar(law);
    Deformation shape(*part.elastic);
    for (int trial = 0; trial < 10; ++trial) {
      std::vector<double> q = random_bend(*part.elastic, 0.1, random);
      const EmbeddedPoint& point = part.elastic->data().shell[random.below(part.shell.point_count())];
      const Vec3d direction = random.direction(), axis = random.direction();
      shape.set(q.data());
      std::vector<double> along(q.size()), around(q.size());
      shape.add_gradient(point, direction, {}, along.data());
      shape.add_gradient(point, {}, axis, around.data());
      for (std::size_t j = 0; j < q.size(); ++j) {
        std::vector<double> unit(q.size());
        unit[j] = 1;
        // Positions are single precision: a step of a millimetre is known to about 1e-5 of itself.
        const double step = 1e-3 / part.elastic->largest_move(unit.data()), kept = q[j];
        q[j] = kept + step;
        shape.set(q.data());
        const Vec3d ahead = shape.displacement_at(point);
        const Quat turned = shape.turn_at(point);
        q[j] = kept - step;
        shape.set(q.data());
        const double slope = dot(ahead - shape.displacement_at(point), direction) / (2 * step);
        const double turn = dot(rotation_vector(turned * shape.turn_at(point).conjugate()), axis) / (2 * step);
        q[j] = kept;
        const double scale = 1e-3 / step;
        EXPECT_NEAR(along[j], slope, 2e-3 * scale) << "coordinate " << j;
        EXPECT_NEAR(around[j], turn, 2e-3 * scale / 0.01) << "coordinate " << j;
      }
    }
  }
}

TEST(Deformation, ManyForcesTogetherDoWhatTheyDoOneByOne) {
  Random random(6);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *held_bar(law);
    Deformation shape(*part.elastic);
    shape.set(random_bend(*part.elastic, 0.1, random).data());
    for (const int count : {1, 2, 5, 40}) {  // so that nodes are no multiple of those taken at once, too
      std::vector<double> one_by_one(part.elastic->size()), together(part.elastic->size());
      for (int i = 0; i < count; ++i) {
        const EmbeddedPoint& point = part.elastic->data().shell[random.below(100)];  // neighbours share nodes
        const Vec3d force = random.direction();
        shape.add_gradient(point, force, {}, one_by_one.data());
        shape.push(point, force);
      }
      shape.add_pushes(together.data());
      double largest = 0;
      for (const double force : one_by_one) largest = std::max(largest, std::fabs(force));
      for (std::size_t j = 0; j < together.size(); ++j) EXPECT_NEAR(together[j], one_by_one[j], 1e-12 * largest);
    }
  }
}

TEST(Deformation, GivesTheSameBitsWhateverWasAskedBefore) {
  Random random(5);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *held_bar(law);
    Deformation fresh(*part.elastic), used(*part.elastic);
    for (int trial = 0; trial < 5; ++trial) {
      const std::vector<double> q = random_bend(*part.elastic, 0.1, random);
      for (std::uint32_t i = 0; i < part.shell.point_count(); ++i) shell_point(part, used, i);
      fresh = Deformation(*part.elastic);
      fresh.set(q.data());
      used.set(q.data());
      for (std::uint32_t i = part.shell.point_count(); i-- > 0;)
        ASSERT_EQ(shell_point(part, fresh, i), shell_point(part, used, i));
    }
  }
}

}  // namespace
}  // namespace cotouch::this_file
