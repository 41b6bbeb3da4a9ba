#include <cotouch/experiment/beam_theory.h>

#include <gtest/gtest.h>

#include <cmath>

namespace cotouch::this_file {
namespace {

TEST(BeamTheory, ThinBeamsVibrateAsEulerAndBernoulliSay) {
  SquareBeam beam;
  beam.side = beam.length / 2000;
  // The roots of cos b cosh b = -1.
  constexpr double k_roots[] = {1.875104, 4.694091, 7.854757, 10.995541, 14.137168};
  const double unit =
      std::sqrt(beam.young * beam.inertia() / (beam.density * beam.area())) / (beam.length * beam.length);
  for (int n = 1; n <= 5; ++n) {
    const double root = k_roots[n - 1];
    EXPECT_NEAR(timoshenko_omega(beam, n) / (root * root * unit), 1, 1e-4) << n;
  }
}

TEST(BeamTheory, ThickBeamsVibrateMoreSlowlyTheMoreTheyBend) {
  SquareBeam thick;
  double last = 1;
  for (int n = 1; n <= 5; ++n) {
    SquareBeam thin = thick;
    thin.side = thick.side / 1000;
    // Both have frequencies proportional to their side.
    const double ratio = timoshenko_omega(thick, n) / (1000 * timoshenko_omega(thin, n));
    EXPECT_LT(ratio, last);
    last = ratio;
  }
  // To first order the share lost is (b / L)^2 (I / A) (1 + E / (k G)) / 2 for b / L of a long wave: about 9 % here.
  const double wave = 14.137 / thick.length, shear = (12 + 11 * 0.3) / (10 * 1.3) * 2 * 1.3;
  EXPECT_NEAR(1 - last, wave * wave * thick.side * thick.side / 12 * (1 + shear) / 2, 0.02);
}

}  // namespace
}  // namespace cotouch::this_file
