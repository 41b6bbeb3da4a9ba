#include <cotouch/net/draw.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace cotouch::this_file {
namespace {

constexpr int k_draws = 100'000;

// The largest distance between the drawn and the true distribution function (Kolmogorov and Smirnov); above
// 1.95 / sqrt(n) with probability 0.001. Seeds are fixed, so a test passes always or never.
double distance_to(const std::function<double(Random&)>& draw, const std::function<double(double)>& distribution) {
  Random random(7);
  std::vector<double> drawn;
  for (int i = 0; i < k_draws; ++i) drawn.push_back(draw(random));
  std::sort(drawn.begin(), drawn.end());
  double largest = 0;
  for (int i = 0; i < k_draws; ++i) {
    const double expected = distribution(drawn[static_cast<std::size_t>(i)]);
    largest = std::max({largest, expected - i / double{k_draws}, (i + 1) / double{k_draws} - expected});
  }
  return largest;
}
const double k_critical = 1.95 / std::sqrt(k_draws);

TEST(Draw, TheLogarithmIsThatOfTheLibraryToTheLastDigits) {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const double digits = random.uniform(0.5, 1);
    const double x = std::ldexp(digits, static_cast<int>(random.below(120)) - 60);
    ASSERT_NEAR(natural_log(x), std::log(x), 1e-15 * std::fabs(std::log(x)) + 1e-16) << x;
  }
  EXPECT_EQ(natural_log(1), 0);
  EXPECT_NEAR(natural_log(0x1p-53), -53 * std::log(2.0), 1e-14);
}

TEST(Draw, NormalNumbersHaveTheNormalDistribution) {
  EXPECT_LT(distance_to(draw_normal, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }), k_critical);
}

TEST(Draw, ExponentialNumbersHaveTheExponentialDistribution) {
  EXPECT_LT(distance_to(draw_exponential, [](double x) { return 1 - std::exp(-x); }), k_critical);
}

TEST(Draw, TheHeavyTailIsALomaxDistributionThatEnds) {
  constexpr double k_mean = 7.5, k_most = 251;
  // Solved by bisection, as an independent check of the formula for the scale.
  double low = 1e-3, high = 1e6;
  const auto mean_of = [&](double s) {
    // Numerical integral of 1 - F over [0, most].
    const double cut = std::pow(1 + k_most / s, -2);
    double sum = 0;
    constexpr int k_steps = 20'000;
    for (int i = 0; i < k_steps; ++i) {
      const double x = (i + 0.5) * k_most / k_steps;
      sum += (std::pow(1 + x / s, -2) - cut) / (1 - cut) * k_most / k_steps;
    }
    return sum;
  };
  while (high / low > 1 + 1e-10) (mean_of(std::sqrt(low * high)) < k_mean ? low : high) = std::sqrt(low * high);
  const double scale = low, cut = std::pow(1 + k_most / scale, -2);
  const auto distribution = [&](double x) { return (1 - std::pow(1 + x / scale, -2)) / (1 - cut); };
  EXPECT_LT(distance_to([](Random& random) { return draw_heavy_tail(random, k_mean, k_most); }, distribution),
            k_critical);
}

TEST(Draw, AHeavyTailWithoutMeanIsNothing) {
  Random random(1);
  EXPECT_EQ(draw_heavy_tail(random, 0, 1), 0);
  EXPECT_EQ(draw_heavy_tail(random, 0, 0), 0);
}

}  // namespace
}  // namespace cotouch::this_file
