#include <cotouch/base/random.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/elastic/surface_update.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <vector>

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

TEST(SurfaceUpdate, PutsEveryNodeWhereTheDeformationHasIt) {
  Random random(1);
  for (const ElasticLaw law : k_laws) {
    const ElasticModel& model = *held_bar(law)->elastic;
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t i = 1; i < model.data().nodes.size(); i += 3) nodes.push_back(i);
    SurfaceUpdate update(model, nodes);
    Deformation shape(model);
    // From nothing to turns by more than the series is good for.
    for (const double size : {0.0, 1e-4, 0.05, 0.3, 2.0, 10.0}) {
      std::vector<double> q(model.size());
      for (double& v : q) v = random.uniform(-1, 1);
      const double largest = model.largest_move(q.data());
      for (double& v : q) v *= size / largest;
      shape.set(q.data());
      const std::span<const Vec3f> places = update.at(q);
      ASSERT_EQ(places.size(), nodes.size());
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        const EmbeddedPoint node{{nodes[i], 0, 0, 0}, {1, 0, 0, 0}};
        const Vec3d expected = Vec3d(model.data().nodes[nodes[i]]) + shape.displacement_at(node);
        ASSERT_LT(norm(Vec3d(places[i]) - expected), 2e-6 * (0.1 + size)) << "bent by " << size;
      }
    }
  }
}

}  // namespace
}  // namespace cotouch::this_file
