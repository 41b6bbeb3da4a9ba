// Contact of bodies that bend: the tree against all points, forces against the potential.
#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/contact/exhaustive/exhaustive.h>
#include <cotouch/contact/nested/nested.h>
#include <cotouch/elastic/deformed_field.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <cmath>
#include <tuple>
#include <vector>

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

constexpr double k_stiffness = 30'000;

// A bent bar whose end lies on the middle of another, which is rigid or bends as well.
struct Crossing {
  Crossing(ElasticLaw law, bool field_bends)
      : part(*held_bar(law)),
        engine(part.shell, part.field, {k_stiffness}),
        shape(*part.elastic),
        field_shape(*part.elastic),
        field(*part.elastic, part.field),
        bends(field_bends) {
    scratch.reserve(part.shell.point_count());
    sums.reset(part.elastic->size(), bends ? part.elastic->size() : 0);
  }

  BodyState shell_state(double height) {
    return {{{-0.03, 0.01, height}, quat_from_rotation_vector({0.02, 0, k_pi / 2})}, 0, &shape};
  }
  BodyState field_state() {
    BodyState state;
    if (bends) {
      state.deformation = &field_shape;
      state.deformed_field = &field;
    }
    return state;
  }
  void set(const std::vector<double>& q, const std::vector<double>& field_q) {
    shape.set(q.data());
    field_shape.set(field_q.data());
    field.set(field_shape);
  }
  PairContact evaluate(double height) {
    PairContact contact;
    engine.evaluate({shell_state(height), field_state()}, Detail::everything(), scratch, nullptr, contact, &sums);
    return contact;
  }
  PairContact evaluate_exhaustively(double height) {
    PairContact contact;
    const ExhaustiveContact every(part.shell, part.field, engine.settings());
    every.evaluate({shell_state(height), field_state()}, Detail::everything(), scratch, nullptr, contact, &sums);
    return contact;
  }
  static double potential(const PairContact& contact) {
    return k_stiffness / 2 * std::sqrt(std::sqrt(contact.sums.depth8));
  }

  const Part& part;
  NestedContact engine;
  Deformation shape, field_shape;
  DeformedField field;
  bool bends;
  NestedWorkspace scratch;
  ElasticSums sums;
};

TEST(ElasticContact, TheTreeFindsExactlyWhatTestingEveryPointFinds) {
  Random random(1);
  int touching = 0;
  // What the proxies of a bent field know of its stretch is no bound, but a good one as far as parts are bent.
  for (const auto& [law, size, field_size] : {std::tuple{ElasticLaw::warped, 0.0, 0.0},
                                              {ElasticLaw::warped, 0.02, 0.0},
                                              {ElasticLaw::warped, 0.2, 0.0},
                                              {ElasticLaw::warped, 1.0, 0.0},
                                              {ElasticLaw::warped, 0.02, 0.02},
                                              {ElasticLaw::stvk, 0.0, 0.0},
                                              {ElasticLaw::stvk, 0.02, 0.0},
                                              {ElasticLaw::stvk, 0.2, 0.0},
                                              {ElasticLaw::stvk, 1.0, 0.0},
                                              {ElasticLaw::stvk, 0.02, 0.02},
                                              {ElasticLaw::stvk, 0.0, 0.04}})
    for (int trial = 0; trial < 5; ++trial) {
      Crossing pair(law, field_size > 0);
      const std::vector<double> bend = random_bend(*pair.part.elastic, size, random);
      pair.set(bend, random_bend(*pair.part.elastic, field_size, random));
      const double height = random.uniform(0.015, 0.022);
      const PairContact walked = pair.evaluate(height);
      const std::vector<ContactPoint> found(pair.scratch.touching().begin(), pair.scratch.touching().end());
      const ElasticSums walked_sums = pair.sums;
      const PairContact all = pair.evaluate_exhaustively(height);
      EXPECT_EQ(walked_sums.push, pair.sums.push);
      EXPECT_EQ(walked_sums.spread, pair.sums.spread);
      ASSERT_EQ(found.size(), pair.scratch.touching().size()) << "bend " << size;
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].point, pair.scratch.touching()[i].point);
        EXPECT_EQ(found[i].distance, pair.scratch.touching()[i].distance);
      }
      EXPECT_EQ(walked.on_shell.wrench, all.on_shell.wrench);
      touching += found.empty() ? 0 : 1;
    }
  EXPECT_GT(touching, 15);
}

// A central difference of the potential, small against the depth, along one coordinate of one body.
double slope_of_potential(Crossing& pair, std::vector<double> q, std::vector<double> field_q, bool of_field,
                          std::size_t j, double height) {
  std::vector<double> unit(q.size());
  unit[j] = 1;
  const double step = 2e-6 / pair.part.elastic->largest_move(unit.data());
  double& moved = of_field ? field_q[j] : q[j];
  const double kept = moved;
  moved = kept + step;
  pair.set(q, field_q);
  const double ahead = Crossing::potential(pair.evaluate(height));
  moved = kept - step;
  pair.set(q, field_q);
  return (ahead - Crossing::potential(pair.evaluate(height))) / (2 * step);
}

TEST(ElasticContact, ForcesOnCoordinatesAreTheDerivativeOfThePotential) {
  Random random(2);
  for (const ElasticLaw law : k_laws)
    for (const bool field_bends : {false, true}) {
      Crossing pair(law, field_bends);
      const std::size_t size = pair.part.elastic->size();
      int compared = 0;
      for (int trial = 0; trial < 3; ++trial) {
        const std::vector<double> q = random_bend(*pair.part.elastic, 0.02, random);
        const std::vector<double> field_q = random_bend(*pair.part.elastic, field_bends ? 0.02 : 0, random);
        // Down until it is a third of a millimetre deep.
        double height = 0.05;
        PairContact contact;
        for (; height > 0 && contact.stats.deepest < 3e-4F; height -= 1e-4) {
          pair.set(q, field_q);
          contact = pair.evaluate(height);
        }
        height += 1e-4;
        ASSERT_GT(contact.stats.in_contact, 0U);
        const ElasticSums sums = pair.sums;
        const double scale = contact.on_shell.scale;
        ASSERT_EQ(sums.size(), field_bends ? 2 * size : size);
        double largest = 0;
        for (const double push : sums.push) largest = std::max(largest, std::fabs(push * scale));
        for (std::size_t j = 0; j < sums.size(); ++j) {
          // The force is minus the derivative. Depths are single precision: a step of 2 um is known to a percent.
          const double slope = slope_of_potential(pair, q, field_q, j >= size, j % size, height);
          EXPECT_NEAR(sums.push[j] * scale, -slope, 0.03 * largest) << "coordinate " << j;
          ++compared;
        }
      }
      EXPECT_GT(compared, 40);
    }
}

}  // namespace
}  // namespace cotouch::this_file
