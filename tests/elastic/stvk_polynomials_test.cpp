#include <cotouch/base/error.h>
#include <cotouch/elastic/packed_ldl.h>
#include <cotouch/elastic/stvk_polynomials.h>
#include <elastic/stvk_fields.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cotouch::this_file {
namespace {

using namespace test;

struct Answer {
  double energy = 0;
  Field3 force, tangent;
};

Answer evaluate(const StvkPolynomials& body, const Field3& q) {
  Answer answer{0, Field3(body.size()), Field3(packed_size(body.size()))};
  answer.energy = body.evaluate(q, answer.force, answer.tangent);
  return answer;
}

StvkPolynomials reduce(const TetMesh& mesh, const Shapes& shapes) {
  NoProgress quiet;
  return reduce_stvk(mesh, k_rubber, shapes, quiet);
}

// Every remainder of the number of shapes by two and four, and one alone.
class StvkPolynomialsOfSize : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, StvkPolynomialsOfSize, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 15, 20));

TEST_P(StvkPolynomialsOfSize, AnswersAsTheFullBodyDoes) {
  const TetMesh mesh = small_box();
  const StvkFull full(mesh, k_rubber);
  const Shapes shapes = smooth_shapes(mesh, GetParam());
  const StvkPolynomials reduced = reduce(mesh, shapes);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    // Up to 10 cm for each shape of a body of 20 cm: far beyond anything linear.
    const Field3 q = random_field(shapes.count, 1, seed), u = displacement(shapes, q);
    const Answer answer = evaluate(reduced, q);
    EXPECT_NEAR(answer.energy, full.energy(u), 1e-11 * full.energy(u));
    const Field3 expected = projection(shapes, force(full, u));
    const double scale = largest(expected);
    for (std::size_t a = 0; a < shapes.count; ++a) EXPECT_NEAR(answer.force[a], expected[a], 1e-11 * scale) << a;
    std::size_t at = 0;
    for (std::size_t a = 0; a < shapes.count; ++a) {
      const Field3 column =
          projection(shapes, tangent(full, u, Field3(shapes[a], shapes[a] + 3 * std::size_t{shapes.nodes})));
      for (std::size_t b = a; b < shapes.count; ++b) EXPECT_NEAR(answer.tangent[at++], column[b], 1e-11 * scale);
    }
  }
}

TEST(StvkPolynomials, TangentIsTheSlopeOfTheForceAndTheForceOfTheEnergy) {
  const TetMesh mesh = small_box();
  const StvkPolynomials body = reduce(mesh, smooth_shapes(mesh, 9));
  const Field3 q = random_field(9, 0.5, 1), direction = random_field(9, 1, 2);
  const auto along = [&](double h) { return evaluate(body, sum(q, h, direction)); };
  // Exact for polynomials of the fourth degree.
  const double h = 0.25;
  const Answer m2 = along(-2 * h), m1 = along(-h), p1 = along(h), p2 = along(2 * h), here = along(0);
  const auto slope = [&](double a, double b, double c, double d) { return (8 * (c - b) - (d - a)) / (12 * h); };
  EXPECT_NEAR(dot(here.force, direction), slope(m2.energy, m1.energy, p1.energy, p2.energy), 1e-11 * p2.energy);
  for (std::size_t i = 0; i < 9; ++i) {
    double product = 0;
    for (std::size_t j = 0; j < 9; ++j) {
      const std::size_t low = std::min(i, j), high = std::max(i, j);
      product += here.tangent[packed_size(9) - packed_size(9 - low) + high - low] * direction[j];
    }
    EXPECT_NEAR(product, slope(m2.force[i], m1.force[i], p1.force[i], p2.force[i]), 1e-11 * p2.energy);
  }
}

TEST(StvkPolynomials, TermsAreWhereTheOrderSays) {
  // The order of StvkData, written out.
  for (const std::uint32_t size : {1U, 2U, 3U, 4U, 7U, 8U, 10U}) {
    std::size_t index = 0;
    for (std::size_t group = 0; group <= size; group += 4)
      for (std::size_t b = group; b <= size; ++b)
        for (std::size_t c = b; c <= size; ++c)
          for (std::size_t d = c; d <= size; ++d)
            for (std::size_t a = group; a < group + 4; ++a, ++index)
              ASSERT_EQ(a <= b ? StvkPolynomials::coefficient_index(size, a, b, c, d) : index, index);
    EXPECT_EQ(StvkPolynomials::coefficient_count(size), index);
  }
}

TEST(StvkPolynomials, RefusesWhatIsNoBody) {
  const TetMesh mesh = small_box();
  const StvkPolynomials body = reduce(mesh, smooth_shapes(mesh, 3));
  const std::vector<double> good(body.data().coefficients.begin(), body.data().coefficients.end());
  const auto make = [](std::uint32_t size, const std::vector<double>& coefficients) {
    StvkPolynomials({size, coefficients}, nullptr);
  };
  EXPECT_NO_THROW(make(3, good));
  EXPECT_THROW(make(0, {}), Error);
  EXPECT_THROW(make(65, std::vector<double>(StvkPolynomials::coefficient_count(65))), Error);
  EXPECT_THROW(make(4, good), Error);
  std::vector<double> bad = good;
  bad.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(make(3, bad), Error);
  bad = good;
  bad[StvkPolynomials::coefficient_index(3, 0, 0, 0, 2)] = 1;  // a force at rest
  EXPECT_THROW(make(3, bad), Error);
  bad = good;
  bad[StvkPolynomials::coefficient_index(3, 0, 0, 1, 1) + 3] = 1;  // a = 3 > b = 0
  EXPECT_THROW(make(3, bad), Error);
  bad = good;
  bad[StvkPolynomials::coefficient_index(3, 0, 0, 2, 2)] *= -1;  // falls apart
  EXPECT_THROW(make(3, bad), Error);
}

TEST(StvkPolynomials, RefusesTooManyShapes) {
  const TetMesh mesh = small_box();
  NoProgress quiet;
  EXPECT_THROW(reduce_stvk(mesh, k_rubber, smooth_shapes(mesh, 65), quiet), Error);
  EXPECT_THROW(reduce_stvk(mesh, k_rubber, Shapes{static_cast<std::uint32_t>(mesh.nodes.size()), 0, {}}, quiet), Error);
}

}  // namespace
}  // namespace cotouch::this_file
