// How prepared parts swing by themselves, as reports tell it.
#include <cotouch/elastic/model_modes.h>

#include <cotouch/base/trig.h>

#include <gtest/gtest.h>

#include <cmath>

#include "support/elastic_parts.h"

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

TEST(ModelModes, AWarpedPartsAreItsStiffnesses) {
  const ElasticModel& model = *held_bar(ElasticLaw::warped)->elastic;
  const std::vector<ModelMode> modes = modes_of(model);
  ASSERT_EQ(modes.size(), model.size());
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const double frequency = std::sqrt(model.data().stiffness[i]) / (2 * k_pi);
    EXPECT_NEAR(modes[i].frequency, frequency, 1e-6 * frequency) << i;
  }
}

// Both laws are the same for small motion, and half of a stvk part's shapes are the same modes.
TEST(ModelModes, BothLawsSwingAtTheSameFrequencies) {
  const std::vector<ModelMode> warped = modes_of(*held_bar(ElasticLaw::warped)->elastic);
  const std::vector<ModelMode> stvk = modes_of(*held_bar(ElasticLaw::stvk)->elastic);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(stvk[i].frequency, warped[i].frequency, 0.01 * warped[i].frequency) << i;
}

// Euler-Bernoulli: f = 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)), of a square section I / A = h^2 / 12. Linear
// tetrahedra are too stiff in bending, and cut the bar's edges off.
TEST(ModelModes, ACantileverSwingsAsTheorySays) {
  const Material rubber = material_named("rubber");
  const double length = 0.19, height = 0.02;
  const double theory =
      1.8751 * 1.8751 / (2 * k_pi * length * length) * std::sqrt(rubber.young * height * height / 12 / rubber.density);
  const double found = modes_of(*held_bar(ElasticLaw::warped)->elastic)[0].frequency;
  EXPECT_GT(found, 0.9 * theory);
  EXPECT_LT(found, 1.25 * theory);
}

TEST(ModelModes, CountsTheNodesThatAreHeld) {
  const ElasticModel& held = *held_bar(ElasticLaw::stvk)->elastic;
  std::size_t expected = 0;
  for (const Vec3f& node : held.data().nodes) expected += node.x < -0.09F ? 1U : 0U;
  EXPECT_GT(expected, 0U);
  EXPECT_EQ(anchored_count(held), expected);
  EXPECT_EQ(anchored_count(*loose_bar(ElasticLaw::stvk)->elastic), 0U);
}

}  // namespace
}  // namespace cotouch::this_file
