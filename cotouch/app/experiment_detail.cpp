// Figure 14: a row of bumps slides under an edge, felt with ever finer shells.
#include <cotouch/app/experiment_inputs.h>
#include <cotouch/app/plot.h>

#include <fmt/format.h>

#include <algorithm>

namespace cotouch {
namespace {

// What a peak must rise and fall by to count as a bump, newtons.
constexpr double k_prominence = 0.25;

// Peaks that rise above the valleys on both sides by at least `prominence`.
int count_peaks(const std::vector<double>& signal, double prominence) {
  int peaks = 0;
  bool rising = true;
  double low = signal.empty() ? 0 : signal.front(), high = low;
  for (const double value : signal) {
    if (rising) {
      high = std::max(high, value);
      if (value < high - prominence) {
        ++peaks;
        rising = false;
        low = value;
      }
    } else {
      low = std::min(low, value);
      if (value > low + prominence) {
        rising = true;
        high = value;
      }
    }
  }
  return peaks;
}

}  // namespace

ExperimentReport run_detail(const ExperimentOptions& options) {
  ExperimentReport report;
  const ContactCase scene = bump_slide_case(options);
  HeldObjectSettings settings;
  settings.moving = scene.moving;

  Plot plot;
  plot.title = "Force in the hand over six bumps, as the shell gets finer";
  plot.x_label = "time (s)";
  for (std::uint32_t level = 0; level < scene.shell.levels(); ++level) {
    options.progress->update("Sliding over the bumps", level / static_cast<double>(scene.shell.levels()));
    NestedContact engine(scene.shell, scene.field, {}, WorkBudget::unlimited(), level);
    std::vector<double> time, force;
    for (const FeltCycle& cycle : feel(scene, engine, settings)) {
      time.push_back(static_cast<double>(time.size()) * 1e-3);
      force.push_back(norm(cycle.felt.force));
    }
    const double peak = *std::max_element(force.begin(), force.end());
    const bool finest = level + 1 == scene.shell.levels();
    // Chosen by looking at these curves: below the rise of the weakest bump, above the flutter of the finest shell.
    report.add(fmt::format("level-{}/bumps-felt", level + 1), count_peaks(force, k_prominence), "bumps",
               finest ? std::optional<double>(6) : std::nullopt);
    report.add(fmt::format("level-{}/points", level + 1), scene.shell.points_to_level(level), "points",
               finest ? std::optional<double>(256000) : std::nullopt);
    report.add(fmt::format("level-{}/peak-force", level + 1), peak, "N");
    PlotPanel panel;
    panel.y_label = fmt::format("{} points (N)", scene.shell.points_to_level(level));
    panel.series.push_back({"", time, force, PlotSeries::Style::line});
    plot.panels.push_back(panel);
  }
  plot.panel_height = 130;
  report.figures.push_back(options.folder / "detail.svg");
  write_svg(plot, report.figures.back());
  report.notes.push_back(scene.note);
  report.notes.push_back(
      fmt::format("A bump counts where the force rises and falls by {} N. That was set after seeing the curves, and "
                  "the count depends "
                  "on it (finest shell: 7 at 0.2 N); the figure is the evidence, not the number.",
                  k_prominence));
  return report;
}

}  // namespace cotouch
