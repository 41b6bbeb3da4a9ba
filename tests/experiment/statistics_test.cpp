#include <cotouch/base/error.h>
#include <cotouch/base/random.h>
#include <cotouch/base/trig.h>
#include <cotouch/experiment/statistics.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace cotouch::this_file {
namespace {

TEST(Statistics, MeanAndDeviationAreThoseOfASample) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_EQ(mean(values), 5);
  EXPECT_NEAR(standard_deviation(values), std::sqrt(32.0 / 7), 1e-15);  // squares add up to 32
}

TEST(Statistics, ThePairedTestHasItsClosedForms) {
  // Differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt 3. With two degrees of freedom p = 1 - t / sqrt(2 + t^2).
  const TestResult two = paired_t_test(std::vector<double>{2, 4, 6}, std::vector<double>{1, 2, 3});
  EXPECT_NEAR(two.statistic, 2 * std::sqrt(3.0), 1e-14);
  EXPECT_EQ(two.freedom, 2);
  EXPECT_NEAR(two.p, 1 - two.statistic / std::sqrt(2 + two.statistic * two.statistic), 1e-13);
  // Differences -1 and -4: t = -2.5 / 1.5. With one degree of freedom p = 1 - 2/pi atan |t|.
  const TestResult one = paired_t_test(std::vector<double>{0, 0}, std::vector<double>{1, 4});
  EXPECT_NEAR(one.statistic, -2.5 / 1.5, 1e-14);
  EXPECT_NEAR(one.p, 1 - 2 / k_pi * std::atan(2.5 / 1.5), 1e-13);
  // Far out, where 1 - t / sqrt(2 + t^2) would be nothing but rounding: 1 / t^2 - 3 / (2 t^4) + ...
  const double t = 1e6 * std::sqrt(3.0);  // differences 1e6 - 1, 1e6, 1e6 + 1
  const TestResult far = paired_t_test(std::vector<double>{1e6 - 1, 1e6, 1e6 + 1}, std::vector<double>(3, 0.0));
  EXPECT_NEAR(far.p, 1 / (t * t), 1e-11 / (t * t));
}

TEST(Statistics, StudentsSleepDataGiveThePublishedTest) {
  // Hours of sleep gained with two drugs (Student 1908); R's documentation of t.test: t = -4.0621, df = 9, p =
  // 0.002833.
  const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const TestResult test = paired_t_test(first, second);
  EXPECT_NEAR(test.statistic, -4.0621, 5e-5);
  EXPECT_EQ(test.freedom, 9);
  EXPECT_NEAR(test.p, 0.002833, 5e-7);
}

TEST(Statistics, EqualDifferencesAreCertain) {
  EXPECT_EQ(paired_t_test(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}).p, 1);
  EXPECT_EQ(paired_t_test(std::vector<double>{2, 3, 4}, std::vector<double>{1, 2, 3}).p, 0);
}

// The textbook's way, by sums of squares: SS of an effect over SS of its interaction with the subjects, both from the
// marginal means.
std::array<double, 3> f_by_sums_of_squares(const Crossed& values) {
  const std::size_t n = values.a1b1.size();
  const auto cell = [&](std::size_t s, int a, int b) {
    return a == 0 ? (b == 0 ? values.a1b1[s] : values.a1b2[s]) : (b == 0 ? values.a2b1[s] : values.a2b2[s]);
  };
  const auto average = [&](int a, int b, int subject) {  // -1: over all
    double sum = 0;
    int count = 0;
    for (std::size_t s = 0; s < n; ++s)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
          if ((a >= 0 && i != a) || (b >= 0 && j != b) || (subject >= 0 && static_cast<int>(s) != subject)) continue;
          sum += cell(s, i, j);
          ++count;
        }
    return sum / count;
  };
  const double all = average(-1, -1, -1);
  const int subjects = static_cast<int>(n);
  double ss_a = 0, ss_b = 0, ss_ab = 0, ss_as = 0, ss_bs = 0, ss_abs = 0;
  for (int i = 0; i < 2; ++i) {
    ss_a += 2 * subjects * std::pow(average(i, -1, -1) - all, 2);
    ss_b += 2 * subjects * std::pow(average(-1, i, -1) - all, 2);
    for (int j = 0; j < 2; ++j)
      ss_ab += subjects * std::pow(average(i, j, -1) - average(i, -1, -1) - average(-1, j, -1) + all, 2);
    for (int s = 0; s < subjects; ++s) {
      ss_as += 2 * std::pow(average(i, -1, s) - average(i, -1, -1) - average(-1, -1, s) + all, 2);
      ss_bs += 2 * std::pow(average(-1, i, s) - average(-1, i, -1) - average(-1, -1, s) + all, 2);
      for (int j = 0; j < 2; ++j)
        ss_abs += std::pow(average(i, j, s) - average(i, j, -1) - average(i, -1, s) - average(-1, j, s) +
                               average(i, -1, -1) + average(-1, j, -1) + average(-1, -1, s) - all,
                           2);
    }
  }
  return {ss_a / (ss_as / (subjects - 1)), ss_b / (ss_bs / (subjects - 1)), ss_ab / (ss_abs / (subjects - 1))};
}

TEST(Statistics, TheAnalysisOfVarianceIsThatOfSumsOfSquares) {
  Random random(3);
  Crossed values;
  for (int s = 0; s < 16; ++s) {
    const double person = random.uniform();
    values.a1b1.push_back(person + random.uniform());
    values.a2b1.push_back(person + random.uniform() + 0.3);
    values.a1b2.push_back(person + random.uniform() + 0.1);
    values.a2b2.push_back(person + random.uniform() + 0.8);
  }
  const VarianceAnalysis found = analyse_variance(values);
  const std::array<double, 3> expected = f_by_sums_of_squares(values);
  EXPECT_NEAR(found.a.statistic, expected[0], 1e-10);
  EXPECT_NEAR(found.b.statistic, expected[1], 1e-10);
  EXPECT_NEAR(found.interaction.statistic, expected[2], 1e-10);
  for (const TestResult& effect : {found.a, found.b, found.interaction}) {
    EXPECT_EQ(effect.freedom, 1);
    EXPECT_EQ(effect.within, 15);
    // P(F > f) with 1 and 15 degrees of freedom, by the density of F integrated in u = sqrt f (a t density).
    const double end = std::sqrt(effect.statistic);
    double inside = 0;
    for (int i = 0; i < 100000; ++i) {
      const double u = (i + 0.5) * end / 100000;
      inside += std::pow(1 + u * u / 15, -8) * end / 100000;
    }
    const double whole = 0.5 * std::sqrt(15 * k_pi) * std::tgamma(7.5) / std::tgamma(8.0);
    EXPECT_NEAR(effect.p, 1 - inside / whole, 1e-8);
  }
}

TEST(Statistics, TablesOfFAreMet) {
  // F(1, 15) = 4.543 and 8.683 at 5 and 1 % (any table): t for differences built to have just these.
  for (const auto& [f, p] : {std::pair{4.543, 0.05}, {8.683, 0.01}}) {
    Crossed values;
    // Contrasts +1 and -1 about m, eight each: deviation sqrt(16 / 15), t = m sqrt 15.
    const double m = std::sqrt(f / 15);
    for (int s = 0; s < 16; ++s) {
      values.a1b1.push_back(0);
      values.a1b2.push_back(0);
      values.a2b1.push_back(m + (s % 2 == 0 ? 1 : -1));
      values.a2b2.push_back(0);
    }
    EXPECT_NEAR(analyse_variance(values).a.statistic, f, 1e-12);
    EXPECT_NEAR(analyse_variance(values).a.p, p, 2e-5);
  }
}

TEST(Statistics, TooFewValuesAreRefusedInWords) {
  EXPECT_THROW(mean({}), Error);
  EXPECT_THROW(standard_deviation(std::vector<double>{1}), Error);
  EXPECT_THROW(paired_t_test(std::vector<double>{1, 2}, std::vector<double>{1}), Error);
  EXPECT_THROW(analyse_variance({{1, 2}, {1, 2}, {1, 2}, {1}}), Error);
}

}  // namespace
}  // namespace cotouch::this_file
