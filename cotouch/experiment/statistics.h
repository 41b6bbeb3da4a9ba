// Statistics of trials: mean, deviation, the paired t-test and the two-way analysis of variance with repeated
// measures, as paper 004 uses them (section 5, Figure 14); median and percentiles are in inputs.h. Probabilities are
// exact, by Boost's incomplete beta function.
#pragma once

#include <span>
#include <vector>

namespace cotouch {

// All of these throw Error if there are too few values to say anything (none; one, for deviations and tests).
double mean(std::span<const double> values);
double standard_deviation(std::span<const double> values);  // of a sample: n - 1

struct TestResult {
  double statistic = 0;            // t or F
  double freedom = 0, within = 0;  // degrees of freedom: t has one, F two
  double p = 1;                    // two-sided for t
};

// Of the differences a[i] - b[i]: t = mean / (deviation / sqrt n) with n - 1 degrees of freedom. Differences that are
// all the same have p = 0, or 1 if they are zero.
TestResult paired_t_test(std::span<const double> a, std::span<const double> b);

// Two factors of two levels each, every subject in all four conditions.
struct Crossed {
  // By subject, the four in the same order: a at its first and second level with b at its first, then with its second.
  std::vector<double> a1b1, a2b1, a1b2, a2b2;
};
struct VarianceAnalysis {
  TestResult a, b, interaction;  // each F(1, n - 1)
};
// With two levels the F of an effect is the square of the t of its contrast over the subjects: for factor a the
// differences (a2b1 + a2b2) - (a1b1 + a1b2), for b likewise, for the interaction (a2b2 - a1b2) - (a2b1 - a1b1).
VarianceAnalysis analyse_variance(const Crossed& values);

}  // namespace cotouch
