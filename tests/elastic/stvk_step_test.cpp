#include <cotouch/base/realtime.h>
#include <cotouch/elastic/stvk_step.h>
#include <elastic/stvk_fields.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace cotouch::this_file {
namespace {

using namespace test;

StvkPolynomials reduce(const Material& material, std::uint32_t size) {
  const TetMesh mesh = small_box();
  NoProgress quiet;
  return reduce_stvk(mesh, material, smooth_shapes(mesh, size), quiet);
}

struct Moving {
  Moving(const StvkPolynomials& body_, const StvkStep& settings_)
      : body(body_), settings(settings_), q(body.size()), v(body.size()), load(body.size()) {}

  bool step() { return step_stvk(body, settings, load, q, v, scratch); }
  double potential() const {
    Field3 force(body.size()), tangent(packed_size(body.size()));
    return body.evaluate(q, force, tangent);
  }
  double energy() const { return potential() + dot(v, v) / 2; }

  StvkPolynomials body;
  StvkStep settings;
  Field3 q, v, load;
  StvkScratch scratch;
};

// The square of the frequency of a body with one shape.
double stiffness(const StvkPolynomials& body) {
  Field3 force(1), tangent(1);
  body.evaluate(Field3{0}, force, tangent);
  return tangent[0];
}

// What a step multiplies motions like exp(t z / h) by.
std::complex<double> growth(std::complex<double> z) {
  const double g = 1 - std::sqrt(0.5);
  return (1.0 + (1 - 2 * g) * z) / ((1.0 - g * z) * (1.0 - g * z));
}

TEST(StvkStep, SmallVibrationIsThatOfTheRule) {
  const StvkPolynomials body = reduce(k_rubber, 1);
  const double omega = std::sqrt(stiffness(body));
  for (const double angle : {0.1, 1.0, 10.0}) {  // in a step
    Moving moving(body, {.time_step = angle / omega});
    moving.q[0] = 1e-9;
    std::complex<double> turned = 1;
    for (int i = 1; i <= 100; ++i) {
      ASSERT_TRUE(moving.step());
      turned *= growth({0, angle});
      EXPECT_NEAR(moving.q[0], 1e-9 * turned.real(), 1e-16) << angle;
      EXPECT_NEAR(moving.v[0], 1e-9 * omega * -turned.imag(), 1e-16 * omega) << angle;
    }
  }
}

TEST(StvkStep, SlowVibrationKeepsItsPeriodAndAmplitude) {
  const StvkPolynomials body = reduce(k_rubber, 1);
  const double period = 2 * std::numbers::pi / std::sqrt(stiffness(body));
  Moving moving(body, {.time_step = period / 100});
  moving.q[0] = 1e-9;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(moving.step());  // ten periods
  EXPECT_NEAR(moving.q[0], 1e-9, 0.006e-9);                   // 1000 times 0.0037 (2 pi / 100)^4 = 0.0058
  EXPECT_NEAR(moving.v[0] * period, 0, 0.1e-9);
}

TEST(StvkStep, DampingShrinksSmallVibrationsAsComputed) {
  const StvkPolynomials body = reduce(k_rubber, 1);
  const double omega_squared = stiffness(body), omega = std::sqrt(omega_squared);
  for (const double b : {0.1 / omega, 30 / omega}) {
    const StvkStep settings{.time_step = 0.7 / omega, .mass_damping = 0.2 * omega, .stiffness_damping = b};
    // Two motions span an area that shrinks in each step by the determinant of the step.
    Moving first(body, settings), second(body, settings);
    first.q[0] = 1e-9;
    second.v[0] = 1e-9 * omega;
    const double damping = 0.2 * omega + b * omega_squared;
    const std::complex<double> root = std::sqrt(std::complex<double>(damping * damping - 4 * omega_squared));
    const double determinant =
        (growth(0.35 / omega * (-damping + root)) * growth(0.35 / omega * (-damping - root))).real();
    double area = 1e-18 * omega;
    for (int i = 1; i <= 5; ++i) {
      ASSERT_TRUE(first.step());
      ASSERT_TRUE(second.step());
      area *= determinant;
      EXPECT_NEAR(first.q[0] * second.v[0] - first.v[0] * second.q[0], area, 1e-7 * std::abs(area)) << i;
    }
  }
}

TEST(StvkStep, HalfTheStepMakesAQuarterOfTheError) {
  const StvkPolynomials body = reduce(k_rubber, 6);
  const auto after = [&](int steps) {
    Moving moving(body, {.time_step = 0.01 / steps, .mass_damping = 5});
    moving.q = random_field(6, 0.1, 1);
    moving.v = random_field(6, 5, 2);
    moving.load = random_field(6, 200, 3);
    for (int i = 0; i < steps; ++i) EXPECT_TRUE(moving.step());
    return moving.q;
  };
  const Field3 exact = after(8000);
  const double coarse = largest(sum(after(200), -1, exact)), fine = largest(sum(after(400), -1, exact));
  EXPECT_GT(coarse, 1e-9);
  EXPECT_NEAR(coarse / fine, 4, 0.2);
}

TEST(StvkStep, LoadedBodyComesToRestInBalance) {
  Moving moving(reduce(k_rubber, 6), {.time_step = 1e-3, .mass_damping = 20, .stiffness_damping = 0.01});
  moving.load = random_field(6, 5000, 3);
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(moving.step());
  Field3 force(6), tangent(packed_size(6));
  moving.body.evaluate(moving.q, force, tangent);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(force[i], moving.load[i], 1e-8);
  EXPECT_LT(largest(moving.v), 1e-9);
  // It is a large deformation: Hooke's law would be wrong.
  Field3 linear = moving.load;
  moving.body.evaluate(Field3(6), force, tangent);
  ASSERT_TRUE(factor_packed(tangent, 6, 0));
  solve_packed(tangent, 6, linear);
  EXPECT_GT(largest(sum(linear, -1, moving.q)), 0.1 * largest(moving.q));
}

TEST(StvkStep, EnergyGrowsAtMostByWhatItsExpansionLeavesOut) {
  Moving moving(reduce(k_rubber, 6), {.time_step = 1e-3});
  moving.q = random_field(6, 0.1, 1);
  moving.v = random_field(6, 5, 2);
  int stiff = 0;
  for (int i = 0; i < 300; ++i) {
    const Field3 q = moving.q;
    Field3 force(6), tangent(packed_size(6));
    const double before = moving.energy(), potential = moving.body.evaluate(q, force, tangent);
    ASSERT_TRUE(moving.step());
    const Field3 change = sum(moving.q, -1, q);
    double left_out = moving.potential() - potential - dot(force, change);
    std::size_t at = 0;
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = a; b < 6; ++b) left_out -= tangent[at++] * change[a] * change[b] * (a == b ? 0.5 : 1.0);
    if (!factor_packed(tangent, 6, 0)) continue;
    ++stiff;
    EXPECT_LT(moving.energy() - before, left_out + 1e-11 * before);
  }
  EXPECT_GT(stiff, 200);
}

TEST(StvkStep, EnergyDoesNotGrowWithoutDamping) {
  Moving moving(reduce(k_rubber, 6), {.time_step = 1e-4});
  moving.q = random_field(6, 0.1, 1);
  moving.v = random_field(6, 5, 2);
  const double start = moving.energy();
  // v'Kv + f'f, of which h^2/6 comes and goes (stvk_step.h).
  const auto wave = [&] {
    Field3 force(6), tangent(packed_size(6));
    moving.body.evaluate(moving.q, force, tangent);
    double sum = dot(force, force);
    std::size_t at = 0;
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = a; b < 6; ++b) sum += tangent[at++] * moving.v[a] * moving.v[b] * (a == b ? 1 : 2);
    return sum;
  };
  double most = start, largest_wave = wave();
  const double start_without_wave = start - 1e-8 / 6 * wave();
  double most_late = 0, most_late_without_wave = 0;
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(moving.step());
    const double energy = moving.energy(), here = wave();
    most = std::max(most, energy);
    largest_wave = std::max(largest_wave, here);
    if (i >= 9000) {
      most_late = std::max(most_late, energy);
      most_late_without_wave = std::max(most_late_without_wave, energy - 1e-8 / 6 * here);
    }
  }
  EXPECT_LT(most - start, 1e-8 / 6 * largest_wave);
  EXPECT_LT(most_late, most);
  // What is left has no first-order reason to move at all.
  EXPECT_LT(most_late_without_wave - start_without_wave, 0.05 * (1e-8 / 6 * largest_wave));
}

TEST(StvkStep, VibrationsTooFastForTheStepDieOut) {
  const Material steel{.young = 2.1e11, .poisson = 0.3, .density = 7800};
  for (const double damping : {0.0, 1e-6, 1e-4, 1e-2}) {
    Moving moving(reduce(steel, 8), {.time_step = 1e-3, .stiffness_damping = damping});
    moving.v = random_field(8, 1, 2);  // a kick of some dm/s, 0.6 J
    const double start = moving.energy();
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(moving.step());
      ASSERT_LT(moving.energy(), 1.001 * start) << damping << " " << i;
    }
    EXPECT_LT(moving.energy(), 1e-6 * start) << damping;
  }
}

// Squeezed until it would snap through: the tangent is not positive definite.
TEST(StvkStep, YieldingBodyGainsNoEnergy) {
  Moving moving(reduce(k_rubber, 6), {.time_step = 2e-3, .mass_damping = 1, .stiffness_damping = 1e-3});
  Field3 force(6), tangent(packed_size(6));
  Random random(4);
  int yielding = 0;
  for (int trial = 0; trial < 100; ++trial) {
    moving.q = random_field(6, 0.2, random.bits());
    std::fill(moving.v.begin(), moving.v.end(), 0);
    const double start = moving.potential();
    moving.body.evaluate(moving.q, force, tangent);
    if (!factor_packed(tangent, 6, 0)) ++yielding;
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(moving.step());
      ASSERT_LT(moving.energy(), 1.02 * start) << trial << " " << i;
    }
  }
  EXPECT_GT(yielding, 10);
}

// Steps so long that mass does not make up for what the tangent lacks. Some bodies stay turned inside out, which costs
// energy too: St. Venant-Kirchhoff bodies do.
TEST(StvkStep, FlungAboutAtLongStepsItComesToRest) {
  Moving moving(reduce(k_rubber, 6), {.time_step = 0.05, .mass_damping = 1, .stiffness_damping = 1e-3});
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    moving.q = random_field(6, 0.5, random.bits());
    moving.v = random_field(6, 100, random.bits());
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(moving.step());
    Field3 force(6), tangent(packed_size(6));
    moving.body.evaluate(moving.q, force, tangent);
    EXPECT_LT(largest(moving.v), 1e-6) << trial;
    EXPECT_LT(largest(force), 1e-3) << trial;
  }
}

// Every pivot of the step's matrix is fine, but one of its eigenvalues is a millionth of the mass.
TEST(StvkStep, AlmostSingularSystemIsNotFollowed) {
  // W = k1 q1^2 / 2 + k2 q2^2 / 2 + c q1^2 q2, so that K = (k1, 2 c q1; 2 c q1, k2) where q2 = 0.
  const double s_squared = (1 - std::sqrt(0.5)) * (1 - std::sqrt(0.5)), q1 = 1e-3, beside = 1000;
  const double k1 = 1e-3, c = beside / s_squared / (2 * q1);
  const double k2 = (beside * beside / (1 + s_squared * k1) + 0.6 - 1) / s_squared;  // the second pivot is 0.6
  std::vector<double> coefficients(StvkPolynomials::coefficient_count(2));
  coefficients[StvkPolynomials::coefficient_index(2, 0, 0, 1, 1)] = k1 / 2;
  coefficients[StvkPolynomials::coefficient_index(2, 0, 0, 2, 2)] = k2 / 2;
  coefficients[StvkPolynomials::coefficient_index(2, 0, 1, 1, 2)] = c;
  Moving moving(StvkPolynomials({2, coefficients}, nullptr), {.time_step = 1});
  moving.q = {q1, 0};
  moving.v = {1, 0};
  ASSERT_TRUE(moving.step());
  EXPECT_LT(largest(moving.v), 50);  // the force is c q1^2 = 6
}

TEST(StvkStep, TooViolentMotionIsRefusedAndChangesNothing) {
  Moving moving(reduce(k_rubber, 3), {});
  moving.q = {1e150, 0, 0};
  const Field3 q = moving.q, v = moving.v;
  EXPECT_FALSE(moving.step());
  EXPECT_EQ(moving.q, q);
  EXPECT_EQ(moving.v, v);
}

TEST(StvkStep, DoesNotAllocate) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "the guard is not linked";
#endif
  Moving moving(reduce(k_rubber, 6), {});
  const std::uint64_t before = RealtimeSection::breaches();
  bool moved = false;
  {
    const RealtimeSection section;
    moved = moving.step();
  }
  EXPECT_TRUE(moved);
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

}  // namespace
}  // namespace cotouch::this_file
