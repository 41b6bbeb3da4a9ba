#include <cotouch/base/random.h>
#include <cotouch/elastic/deformed_field.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <cmath>
#include <limits>

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

// A box that deforms in six affine ways: stretches along the axes, and shears that turn it as well.
std::shared_ptr<const ElasticModel> affine_box(const Part& part) {
  TetMesh mesh = tet_box({0.2, 0.02, 0.02}, {10, 2, 2});
  for (Vec3d& node : mesh.nodes) node -= {0.1, 0.01, 0.01};
  ElasticShapes shapes;
  shapes.anchored = true;
  shapes.shapes.nodes = static_cast<std::uint32_t>(mesh.nodes.size());
  shapes.shapes.count = 6;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = i; k < 3; ++k)
      for (const Vec3d& node : mesh.nodes) {
        Vec3d u;
        u[i] = node[k];
        shapes.shapes.values.insert(shapes.shapes.values.end(), {u.x, u.y, u.z});
      }
  ElasticSettings settings;
  settings.law = ElasticLaw::stvk;
  NoProgress quiet;
  return std::make_shared<const ElasticModel>(
      tie_to_shapes({part.mesh, part.field, part.shell}, mesh, shapes, settings, quiet));
}

Mat3 gradient_of(const std::vector<double>& q) {
  Mat3 f = Mat3::identity();
  std::size_t j = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = i; k < 3; ++k) f(i, k) += q[j++];
  return f;
}

float distance_at(const DeformedField& field, const Vec3d& at) {
  const Vec3f place(at);
  float distance = 0;
  field.distances(&place, 1, DeformedField::k_ask_all, &distance);
  return distance;
}

TEST(DeformedField, IsExactIfTheDeformationIsAffine) {
  const Part& part = *held_bar(ElasticLaw::stvk);
  const auto model = affine_box(part);
  Deformation shape(*model);
  DeformedField field(*model, part.field);
  Random random(1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> q(6);
    for (double& v : q) v = random.uniform(-0.3, 0.3);
    shape.set(q.data());
    field.set(shape);
    const Mat3 f = gradient_of(q);
    for (int i = 0; i < 50; ++i) {
      const Vec3d rest{random.uniform(-0.11, 0.11), random.uniform(-0.02, 0.02), random.uniform(-0.02, 0.02)};
      // Single precision, and a distance changes by as much as its place.
      EXPECT_NEAR(distance_at(field, f * rest), part.field.distance(Vec3f(rest)), 1e-6F);
    }
  }
}

TEST(DeformedField, IsTheFieldAtRestIfNothingIsBent) {
  for (const ElasticLaw law : k_laws) {
    const Part& part = *loose_bar(law);
    Deformation shape(*part.elastic);
    DeformedField field(*part.elastic, part.field);
    shape.set(std::vector<double>(part.elastic->size()).data());
    field.set(shape);
    Random random(2);
    for (int i = 0; i < 200; ++i) {
      const Vec3d at{random.uniform(-0.11, 0.11), random.uniform(-0.02, 0.02), random.uniform(-0.02, 0.02)};
      EXPECT_NEAR(distance_at(field, at), part.field.distance(Vec3f(at)), 1e-6F);
    }
  }
}

TEST(DeformedField, KnowsWhereTheBentSurfaceIs) {
  for (const ElasticLaw law : k_laws) {
    const Part& part = *held_bar(law);
    Deformation shape(*part.elastic);
    DeformedField field(*part.elastic, part.field);
    std::vector<double> q(part.elastic->size());
    q[0] = 1;
    q[0] = 0.04 / part.elastic->largest_move(q.data());
    shape.set(q.data());
    field.set(shape);
    double worst = 0, at_rest = 0;
    for (std::uint32_t i = 0; i < part.shell.point_count(); ++i) {
      Vec3f at;
      shape.shell_points(part.shell.data().positions.data(), &i, 1, &at);
      const auto expected = static_cast<double>(part.field.distance(part.shell.data().positions[i]));
      worst = std::max(worst, std::fabs(static_cast<double>(distance_at(field, Vec3d(at))) - expected));
      at_rest = std::max(at_rest, std::fabs(static_cast<double>(part.field.distance(at)) - expected));
    }
    // Half a cell, where the field at rest would be wrong by the whole deflection.
    EXPECT_LT(worst, 0.5 * static_cast<double>(part.field.spacing()));
    EXPECT_GT(at_rest, 0.01);
  }
}

TEST(DeformedField, GradientsAreThoseOfFiniteDifferences) {
  Random random(3);
  for (const ElasticLaw law : k_laws) {
    const Part& part = *held_bar(law);
    Deformation shape(*part.elastic);
    DeformedField field(*part.elastic, part.field);
    int compared = 0;
    for (int trial = 0; trial < 60; ++trial) {
      std::vector<double> q(part.elastic->size());
      for (std::size_t j = 0; j < q.size(); ++j) {
        std::vector<double> unit(q.size());
        unit[j] = 1;
        q[j] = random.uniform(-1, 1) * 0.01 / static_cast<double>(1 + j) / part.elastic->largest_move(unit.data());
      }
      shape.set(q.data());
      field.set(shape);
      const std::uint32_t i = static_cast<std::uint32_t>(random.below(part.shell.point_count()));
      Vec3f at;
      shape.shell_points(part.shell.data().positions.data(), &i, 1, &at);
      std::vector<double> by_coordinates(q.size());
      const Vec3d slope = field.gradient(at, shape, by_coordinates.data());
      // The field's own slope jumps between cells; only places where it does not, on a step of a fifth of a cell.
      const double step = 0.1 * static_cast<double>(part.field.spacing());
      const auto slope_along = [&](const Vec3d& d) {
        const auto f = [&](double s) { return static_cast<double>(distance_at(field, Vec3d(at) + d * s)); };
        const double ahead = (f(step) - f(0)) / step, behind = (f(0) - f(-step)) / step;
        return std::fabs(ahead - behind) < 0.02 ? (ahead + behind) / 2 : std::numeric_limits<double>::quiet_NaN();
      };
      for (std::size_t k = 0; k < 3; ++k) {
        Vec3d d;
        d[k] = 1;
        const double measured = slope_along(d);
        if (std::isnan(measured)) continue;
        EXPECT_NEAR(slope[k], measured, 0.04);
        ++compared;
      }
      for (std::size_t j = 0; j < q.size(); ++j) {
        std::vector<double> unit(q.size());
        unit[j] = 1;
        const double scale = part.elastic->largest_move(unit.data()), h = step / scale, kept = q[j];
        const auto f = [&](double s) {
          q[j] = kept + s * h;
          shape.set(q.data());
          field.set(shape);
          return static_cast<double>(distance_at(field, Vec3d(at)));
        };
        const double here = f(0), ahead = (f(1) - here) / h, behind = (here - f(-1)) / h;
        f(0);
        if (!(std::fabs(ahead - behind) < 0.02 * scale)) continue;
        EXPECT_NEAR(by_coordinates[j], (ahead + behind) / 2, 0.04 * scale) << "coordinate " << j;
        ++compared;
      }
    }
    EXPECT_GT(compared, 400);
  }
}

// Where several domains overlap the slope is that of the one whose distance counts. Bent far, because only then do they
// disagree.
TEST(DeformedField, SlopesAreThoseOfTheDomainThatCounts) {
  for (const ElasticLaw law : k_laws)
    for (const std::uint32_t domains : {1U, 3U}) {
      const auto part = make_bar({law, {"x<-0.09"}, 8, "rubber", {0.2, 0.02, 0.02}, domains});
      ASSERT_EQ(part->elastic->data().domains.size(), domains);
      Deformation shape(*part->elastic);
      DeformedField field(*part->elastic, part->field);
      std::vector<double> q(part->elastic->size()), unused(q.size());
      q[0] = 1;
      const double unit = part->elastic->largest_move(q.data());
      int compared = 0;
      for (const double size : {0.04, 0.1, 0.15}) {
        q[0] = size / unit;
        shape.set(q.data());
        field.set(shape);
        const double step = 0.1 * static_cast<double>(part->field.spacing());
        for (std::uint32_t i = 0; i < part->shell.point_count(); i += 13) {
          Vec3f at;
          shape.shell_points(part->shell.data().positions.data(), &i, 1, &at);
          const Vec3d slope = field.gradient(at, shape, unused.data());
          for (std::size_t k = 0; k < 3; ++k) {
            Vec3d d;
            d[k] = step;
            const auto f = [&](double s) { return static_cast<double>(distance_at(field, Vec3d(at) + d * s)); };
            const double ahead = (f(1) - f(0)) / step, behind = (f(0) - f(-1)) / step;
            if (!(std::fabs(ahead - behind) < 0.004)) continue;  // the field's own slope jumps between cells
            EXPECT_NEAR(slope[k], (ahead + behind) / 2, 0.008);
            ++compared;
          }
        }
      }
      EXPECT_GT(compared, 500);
    }
}

TEST(DeformedField, SeveralDomainsAgreeWithOneWhereNothingIsBent) {
  const auto part = make_bar({ElasticLaw::stvk, {"x<-0.09"}, 8, "rubber", {0.2, 0.02, 0.02}, 3});
  ASSERT_EQ(part->elastic->data().domains.size(), 3U);
  Deformation shape(*part->elastic);
  DeformedField field(*part->elastic, part->field);
  shape.set(std::vector<double>(part->elastic->size()).data());
  field.set(shape);
  Random random(4);
  const float cell = part->field.spacing();
  for (int i = 0; i < 500; ++i) {
    const Vec3d at{random.uniform(-0.1, 0.1), random.uniform(-0.012, 0.012), random.uniform(-0.012, 0.012)};
    const float whole = part->field.distance(Vec3f(at));
    // Near the surface and up to the overlap of the domains inside.
    if (whole < -3 * cell || whole > 3 * cell) continue;
    EXPECT_NEAR(distance_at(field, at), whole, 0.3F * cell);
  }
}

}  // namespace
}  // namespace cotouch::this_file
