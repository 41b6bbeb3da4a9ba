#include <cotouch/experiment/statistics.h>

#include <cotouch/base/error.h>

#include <cmath>
#include <limits>
#include <string>

namespace cotouch {
namespace {

void need(std::size_t have, std::size_t wanted) {
  if (have < wanted)
    throw Error("Statistics of " + std::to_string(have) + " values were asked for; at least " + std::to_string(wanted) +
                " are needed. Run more trials.");
}

// The continued fraction of I_x(a, b), which converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double k_tiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < k_tiny ? k_tiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int i = 1; i < 1000; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

// P(|T| >= |t|).
double both_tails(double t, double freedom) {
  return std::isfinite(t) ? incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) : 0;
}

TestResult test_of_zero(std::span<const double> differences) {
  need(differences.size(), 2);
  const auto n = static_cast<double>(differences.size());
  const double middle = mean(differences), error = standard_deviation(differences) / std::sqrt(n);
  TestResult result;
  result.freedom = n - 1;
  if (error > 0)
    result.statistic = middle / error;
  else if (middle != 0)
    result.statistic = std::copysign(std::numeric_limits<double>::infinity(), middle);
  result.p = both_tails(result.statistic, result.freedom);
  return result;
}

TestResult squared(const TestResult& t) {
  return {t.statistic * t.statistic, 1, t.freedom, t.p};
}

}  // namespace

double mean(std::span<const double> values) {
  need(values.size(), 1);
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  need(values.size(), 2);
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

TestResult paired_t_test(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw Error("A paired test needs as many values of the one as of the other.");
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return test_of_zero(differences);
}

VarianceAnalysis analyse_variance(const Crossed& v) {
  const std::size_t n = v.a1b1.size();
  if (v.a2b1.size() != n || v.a1b2.size() != n || v.a2b2.size() != n)
    throw Error("An analysis of variance with repeated measures needs every subject in every condition.");
  std::vector<double> a, b, both;
  for (std::size_t i = 0; i < n; ++i) {
    a.push_back((v.a2b1[i] + v.a2b2[i]) - (v.a1b1[i] + v.a1b2[i]));
    b.push_back((v.a1b2[i] + v.a2b2[i]) - (v.a1b1[i] + v.a2b1[i]));
    both.push_back((v.a2b2[i] - v.a1b2[i]) - (v.a2b1[i] - v.a1b1[i]));
  }
  return {squared(test_of_zero(a)), squared(test_of_zero(b)), squared(test_of_zero(both))};
}

}  // namespace cotouch
