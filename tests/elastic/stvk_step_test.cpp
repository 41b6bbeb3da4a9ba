#include <cotouch/base/realtime.h>
#include <cotouch/elastic/stvk_step.h>
#include <elastic/stvk_fields.h>

#include <gtest/gtest.h>

#include <cmath>

namespace cotouch {
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

TEST(StvkStep, SmallVibrationHasTheFrequencyOfTheRule) {
  const StvkPolynomials body = reduce(k_rubber, 1);
  const double omega = std::sqrt(stiffness(body));
  for (const double angle : {0.1, 1.0, 10.0}) {  // w h
    Moving moving(body, {.time_step = angle / omega});
    moving.q[0] = 1e-9;
    for (int i = 1; i <= 100; ++i) {
      ASSERT_TRUE(moving.step());
      EXPECT_NEAR(moving.q[0], 1e-9 * std::cos(2 * std::atan(angle / 2) * i), 1e-15) << angle;
    }
  }
  // As the step becomes short this is the true frequency.
  EXPECT_NEAR(2 * std::atan(0.01 / 2) / 0.01, 1, 1e-5);
}

TEST(StvkStep, DampingShrinksSmallVibrationsAsComputed) {
  const StvkPolynomials body = reduce(k_rubber, 1);
  const double omega_squared = stiffness(body);
  const StvkStep settings{.time_step = 2 / std::sqrt(omega_squared),
                          .mass_damping = 3,
                          .stiffness_damping = 0.1 / std::sqrt(omega_squared)};
  // Two motions span an area that shrinks in each step by the determinant of the step.
  Moving a(body, settings), b(body, settings);
  a.q[0] = 1e-9;
  b.v[0] = 1e-9 * std::sqrt(omega_squared);
  const double k = omega_squared * settings.time_step * settings.time_step / 4;
  const double damping = settings.time_step / 2 * (3 + settings.stiffness_damping * omega_squared);
  for (int i = 1; i <= 5; ++i) {
    const double before = a.q[0] * b.v[0] - a.v[0] * b.q[0];
    ASSERT_TRUE(a.step());
    ASSERT_TRUE(b.step());
    const double after = a.q[0] * b.v[0] - a.v[0] * b.q[0];
    EXPECT_NEAR(after / before, (1 - damping + k) / (1 + damping + k), 1e-9);
  }
}

TEST(StvkStep, LoadedBodyComesToRestInBalance) {
  for (const std::uint32_t newton_steps : {1U, 3U}) {
    Moving moving(reduce(k_rubber, 6), {.time_step = 1e-3, .mass_damping = 20, .stiffness_damping = 0.01});
    moving.settings.newton_steps = newton_steps;
    moving.load = random_field(6, 5000, 3);
    for (int i = 0; i < 4000; ++i) ASSERT_TRUE(moving.step());
    Field3 force(6), tangent(packed_size(6));
    moving.body.evaluate(moving.q, force, tangent);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(force[i], moving.load[i], 1e-9);
    EXPECT_LT(largest(moving.v), 1e-9);
    // It is a large deformation: Hooke's law would be wrong.
    Field3 linear = moving.load;
    moving.body.evaluate(Field3(6), force, tangent);
    factor_packed(tangent, 6, 1e-9);
    solve_packed(tangent, 6, linear);
    EXPECT_GT(largest(sum(linear, -1, moving.q)), 0.1 * largest(moving.q));
  }
}

TEST(StvkStep, ManyNewtonStepsFulfilTheRule) {
  Moving moving(reduce(k_rubber, 6), {.time_step = 5e-3, .mass_damping = 2, .stiffness_damping = 1e-3});
  moving.settings.newton_steps = 12;
  moving.q = random_field(6, 0.3, 1);
  moving.v = random_field(6, 10, 2);
  moving.load = random_field(6, 100, 3);
  const Field3 q = moving.q, v = moving.v;
  Field3 force(6), end_force(6), tangent(packed_size(6)), end_tangent(packed_size(6));
  moving.body.evaluate(q, force, tangent);
  ASSERT_TRUE(moving.step());
  moving.body.evaluate(moving.q, end_force, end_tangent);
  for (std::size_t i = 0; i < 6; ++i) {
    double damping = v[i] + moving.v[i];
    for (std::size_t j = 0; j < 6; ++j) {
      const std::size_t low = std::min(i, j), high = std::max(i, j);
      damping += 1e-3 * tangent[packed_size(6) - packed_size(6 - low) + high - low] * (v[j] + moving.v[j]) / 2;
    }
    const double push = moving.load[i] - damping - (force[i] + end_force[i]) / 2;
    EXPECT_NEAR(moving.v[i] - v[i], 5e-3 * push, 1e-11 * largest(moving.v));
    EXPECT_NEAR(moving.q[i] - q[i], 5e-3 * (v[i] + moving.v[i]) / 2, 1e-12);
  }
}

TEST(StvkStep, OneNewtonStepChangesTheEnergyByWhatTheTangentLeavesOut) {
  Moving moving(reduce(k_rubber, 6), {.time_step = 1e-3});
  moving.q = random_field(6, 0.1, 1);
  moving.v = random_field(6, 5, 2);
  for (int i = 0; i < 100; ++i) {
    const Field3 q = moving.q;
    Field3 force(6), tangent(packed_size(6));
    const double before = moving.energy(), potential = moving.body.evaluate(q, force, tangent);
    ASSERT_TRUE(moving.step());
    const Field3 change = sum(moving.q, -1, q);
    double expected = moving.potential() - potential - dot(force, change);
    std::size_t at = 0;
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = a; b < 6; ++b) expected -= tangent[at++] * change[a] * change[b] * (a == b ? 0.5 : 1.0);
    EXPECT_NEAR(moving.energy() - before, expected, 1e-11 * before);
  }
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

TEST(StvkStep, StiffSteelStaysCalmAtOneMillisecond) {
  const Material steel{.young = 2.1e11, .poisson = 0.3, .density = 7800};
  for (const double damping : {0.0, 1e-6, 1e-4}) {
    Moving moving(reduce(steel, 8), {.time_step = 1e-3, .stiffness_damping = damping});
    moving.v = random_field(8, 1, 2);  // a kick of some dm/s, 0.6 J
    const double start = moving.energy();
    for (int i = 0; i < 10000; ++i) {
      ASSERT_TRUE(moving.step());
      ASSERT_LT(moving.energy(), 1.001 * start) << damping << " " << i;
    }
    if (damping > 0) {
      EXPECT_LT(moving.energy(), 1e-9 * start);
    }
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
    if (factor_packed(tangent, 6, 1e-9) > 0) ++yielding;
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(moving.step());
      ASSERT_LT(moving.energy(), 1.02 * start) << trial << " " << i;
    }
  }
  EXPECT_GT(yielding, 10);
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
  moving.settings.newton_steps = 2;
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
}  // namespace cotouch
