// Figures 11 and 16: the same hand motion felt with and without graceful degradation.
#include <cotouch/contact/cost.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/plot.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

struct Curves {
  std::vector<double> time, force, visited, level, micros;
};

Curves curves_of(const std::vector<FeltCycle>& cycles) {
  Curves curves;
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    curves.time.push_back(static_cast<double>(i) * 1e-3);
    curves.force.push_back(norm(cycles[i].felt.force));
    curves.visited.push_back(cycles[i].stats.visited);
    curves.level.push_back(cycles[i].stats.level + 1.0);
    curves.micros.push_back(cycles[i].cycle_us);
  }
  return curves;
}

double force_difference(const std::vector<FeltCycle>& some, const std::vector<FeltCycle>& all) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    difference += norm_squared(some[i].felt.force - all[i].felt.force);
    size += norm_squared(all[i].felt.force);
  }
  return size > 0 ? std::sqrt(difference / size) : 0;
}

void compare(const ContactCase& scene, std::uint32_t warm, const char* figure, const ExperimentOptions& options,
             ExperimentReport& report) {
  options.progress->update("Feeling " + scene.name, 0);
  const std::vector<FeltCycle> with = feel(scene, WorkBudget::of(warm));
  const std::vector<FeltCycle> without = feel(scene);
  const Curves red = curves_of(with), black = curves_of(without);

  // What a millisecond affords here, beside what it did for the paper.
  const WorkBudget affordable = calibrate_budget(scene.engine(), 1000);
  const std::vector<FeltCycle> today = feel(scene, affordable);

  int level_changes = 0;
  for (std::size_t i = 1; i < with.size(); ++i) level_changes += with[i].stats.level != with[i - 1].stats.level;
  const auto most = [](const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); };
  const auto least = [](const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); };
  const auto name = [&](const char* quantity) { return scene.name + "/" + quantity; };
  report.add(name("warm-threshold"), warm, "nodes", warm);
  report.add(name("visited-most-degraded"), most(red.visited), "nodes");
  report.add(name("visited-most-full"), most(black.visited), "nodes");
  report.add(name("level-least-degraded"), least(red.level), "tree level, first = 1");
  report.add(name("cycle-p99-degraded-us"), percentile(red.micros, 0.99), "us");
  report.add(name("cycle-p99-full-us"), percentile(black.micros, 0.99), "us");
  report.add(name("force-difference"), force_difference(with, without), "rms share of the full force");
  report.add(name("calibrated-threshold"), affordable.warm, "nodes in 1 ms here");
  report.add(name("force-difference-calibrated"), force_difference(today, without), "rms share of the full force");
  report.add(name("level-changes-per-second"), level_changes / (static_cast<double>(with.size()) * 1e-3), "1/s", 3);
  report.notes.push_back(fmt::format("{} ({}): {}", scene.name, figure, scene.note));

  const auto panel = [&](const char* label, std::vector<double> Curves::*curve) {
    PlotPanel p;
    p.y_label = label;
    p.series.push_back({"all levels", black.time, black.*curve, PlotSeries::Style::line});
    p.series.push_back({"degrading", red.time, red.*curve, PlotSeries::Style::line});
    return p;
  };
  Plot plot;
  plot.title = fmt::format("Graceful degradation, {} (warm threshold {} nodes)", scene.name, warm);
  plot.x_label = "time (s)";
  plot.panels = {panel("force (N)", &Curves::force), panel("visited nodes", &Curves::visited),
                 panel("tree level", &Curves::level), panel("cycle (us)", &Curves::micros)};
  plot.panels[1].thresholds.push_back({"warm threshold", static_cast<double>(warm)});
  plot.panels[1].logarithmic = true;
  plot.panels[3].logarithmic = true;
  report.figures.push_back(options.folder / fmt::format("degradation-{}.svg", scene.name));
  write_svg(plot, report.figures.back());
}

}  // namespace

ExperimentReport run_degradation(const ExperimentOptions& options) {
  ExperimentReport report;
  compare(bridge_creature_case(options), 600, "Figure 11", options, report);
  compare(dragon_hole_case(options), 2000, "Figure 16", options, report);
  report.notes.push_back(
      "The thresholds drawn are the paper's, for machines of its time; the rows with 'calibrated' use what a "
      "millisecond affords on this one. Paper: level changes at most about 2-3 times a second.");
  return report;
}

}  // namespace cotouch
