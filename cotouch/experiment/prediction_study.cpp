// Paper 004, part 2 of the study: does prediction of remote hands bring the views closer together? There it did not
// (0.01 mm worse, section 5.2).
#include <cotouch/base/parallel.h>
#include <cotouch/base/trig.h>
#include <cotouch/experiment/docking_trial.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/experiment/statistics.h>

#include <fmt/format.h>

#include <array>
#include <mutex>

namespace cotouch {
namespace {

constexpr double k_degrees = 180 / k_pi;
constexpr double k_limit = 30;  // seconds of each trial: taking hold, lifting and most of the way
constexpr std::array<const char*, 4> k_names{"hold", "linear", "kalman-velocity", "kalman-acceleration"};

struct Row {
  std::string name;
  NetworkProfile network;
};

// The study's network, and two on which packets arrive unevenly.
std::vector<Row> networks() {
  return {{"wan", *find_network("transatlantic")},
          {"jitter-30", network_with(0.117, 0.030, 0.01)},
          {"network-3", *find_network("network-3")}};
}

double p95(const DockingTrial& trial) {
  return percentile(trial.distance, 0.95);
}

}  // namespace

ExperimentReport run_prediction_study(const ExperimentOptions& options) {
  const std::size_t count = options.quick ? 2 : 16;
  const auto model = docking_study_world(*options.progress);
  const std::vector<Row> rows = networks();
  const std::size_t conditions = rows.size() * 4;
  std::vector<std::vector<DockingTrial>> trials(conditions, std::vector<DockingTrial>(count));
  std::mutex telling;
  std::size_t finished = 0;
  parallel_for(conditions * count, 1, [&](std::size_t begin, std::size_t) {
    const std::size_t condition = begin % conditions, subject = begin / conditions;
    const TrialCondition c{rows[condition / 4].network, true, static_cast<Prediction>(condition % 4)};
    trials[condition][subject] = run_docking_trial(model, c, options.seed * 1000 + subject, k_limit);
    const std::lock_guard lock(telling);
    options.progress->update("Predicting hands",
                             static_cast<double>(++finished) / static_cast<double>(conditions * count));
  });

  ExperimentReport report;
  Plot plot;
  plot.title = "Divergence of views by prediction";
  plot.x_label = "1 hold, 2 linear, 3 Kalman velocity, 4 Kalman acceleration";
  plot.panels.resize(2);
  plot.panels[0].y_label = "mean (mm)";
  plot.panels[1].y_label = "95 % (mm)";
  for (PlotPanel& panel : plot.panels) panel.logarithmic = true;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    PlotSeries means{rows[r].name, {}, {}, PlotSeries::Style::line_and_points}, tails = means;
    std::vector<double> held;
    for (std::size_t kind = 0; kind < 4; ++kind) {
      const std::vector<DockingTrial>& of_kind = trials[4 * r + kind];
      std::vector<double> distance, tail, turn, rollback;
      for (const DockingTrial& trial : of_kind) {
        distance.push_back(trial.mean_distance() * 1e3);
        tail.push_back(p95(trial) * 1e3);
        turn.push_back((trial.mean_turn(0) + trial.mean_turn(1) + trial.mean_turn(2)) / 3 * k_degrees);
        rollback.push_back(percentile(trial.rollbacks, 0.99));
      }
      const std::string row = fmt::format("{}-{}/", rows[r].name, k_names[kind]);
      // The study's predicted case was 0.01 mm worse than its synchronised one.
      const bool paper = r == 0 && kind == 0, filtered = r == 0 && kind >= 2;
      report.add(row + "position-mean-mm", mean(distance), "mm",
                 paper      ? std::optional(0.197)
                 : filtered ? std::optional(0.207)
                            : std::nullopt);
      report.add(row + "position-p95-mm", mean(tail), "mm");
      report.add(row + "rotation-mean-deg", mean(turn), "degrees, mean of the axes");
      report.add(row + "rollback-ticks-p99", mean(rollback), "ticks");
      means.x.push_back(static_cast<double>(kind + 1));
      means.y.push_back(mean(distance));
      tails.x.push_back(static_cast<double>(kind + 1));
      tails.y.push_back(mean(tail));
      if (kind == 0) {
        held = distance;
        continue;
      }
      const TestResult test = paired_t_test(distance, held);
      report.add(row + "against-hold-t", test.statistic,
                 fmt::format("t({:.0f}) of the mean, below zero is better", test.freedom));
      report.add(row + "against-hold-p", test.p, "probability, two-sided");
    }
    plot.panels[0].series.push_back(std::move(means));
    plot.panels[1].series.push_back(std::move(tails));
  }
  report.figures.push_back(options.folder / "prediction-divergence.svg");
  write_svg(plot, report.figures.back());
  report.notes.push_back(fmt::format(
      "{} pairs of simulated people, each pair with every predictor on every network, the first {:.0f} s of the "
      "docking "
      "task. wan: transatlantic; jitter-30: 117 ms with 30 ms of jitter and 1 % loss; network-3: that of paper 000.",
      count, k_limit));
  report.notes.push_back(
      "What people see and feel depends on the prediction, and what they do on what they see and feel: trembling hands "
      "that are extrapolated in a straight line shake the box, and the hands with it.");
  return report;
}

}  // namespace cotouch
