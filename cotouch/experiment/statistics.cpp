#include <cotouch/experiment/statistics.h>

#include <cotouch/base/error.h>

#include <boost/math/special_functions/beta.hpp>

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

// P(|T| >= |t|).
double both_tails(double t, double freedom) {
  return std::isfinite(t) ? boost::math::ibeta(freedom / 2, 0.5, freedom / (freedom + t * t)) : 0;
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
