#include <cotouch/base/random.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace cotouch::this_file {
namespace {

TEST(Random, IsTheSequenceOfItsAuthors) {
  // The first values of SplitMix64 for this seed, as published with other implementations.
  Random random(1234567);
  for (const std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                       4593380528125082431ULL, 16408922859458223821ULL})
    EXPECT_EQ(random.bits(), expected);
}

TEST(Random, FillsItsIntervalEvenly) {
  Random random(1);
  std::array<int, 16> bins{};
  double sum = 0, squares = 0;
  constexpr int k_draws = 160'000;
  for (int i = 0; i < k_draws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++bins[static_cast<std::size_t>(u * 16)];
    sum += u;
    squares += u * u;
  }
  // Five standard deviations of each statistic: a fixed seed, so this passes always or never.
  EXPECT_NEAR(sum / k_draws, 0.5, 5 * std::sqrt(1.0 / 12 / k_draws));
  EXPECT_NEAR(squares / k_draws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / k_draws));
  for (const int count : bins) EXPECT_NEAR(count, k_draws / 16.0, 5 * std::sqrt(k_draws / 16.0));
}

TEST(Random, DirectionsHaveLengthOneAndNoPreference) {
  Random random(2);
  constexpr int k_draws = 20'000;
  Vec3d mean;
  Mat3 second;
  for (int i = 0; i < k_draws; ++i) {
    const Vec3d d = random.direction();
    ASSERT_NEAR(norm(d), 1, 1e-15 * 4);
    mean += d * (1.0 / k_draws);
    second = second + Mat3::outer(d, d) * (1.0 / k_draws);
  }
  // Each component has variance 1/3, so its mean one of 1/(3 n); that of a product is at most 1/5.
  EXPECT_LT(norm(mean), 5 * std::sqrt(1.0 / k_draws));
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t col = 0; col < 3; ++col)
      EXPECT_NEAR(second(row, col), row == col ? 1.0 / 3 : 0.0, 5 * std::sqrt(0.2 / k_draws));
}

TEST(Random, WholeNumbersStayBelowTheirCount) {
  Random random(3);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) {
    const std::uint64_t n = random.below(7);
    ASSERT_LT(n, 7U);
    ++seen[n];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000.0));
}

}  // namespace
}  // namespace cotouch::this_file
