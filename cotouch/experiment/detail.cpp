// Figure 14: a row of bumps slides under an edge, felt with ever finer shells.
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/plot.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cotouch {
namespace {

constexpr int k_bumps = 6;  // that pass

// A bump is felt where the force rises and falls by a tenth of the peak of the finest shell, about the smallest change
// of force a hand tells apart (7 to 10 %, by most studies).
constexpr double k_just_noticeable = 0.1;

// What is left of the force when everything much quicker than a bump is smoothed out: the mean over a quarter of the
// time one takes to pass. Single points that come and go are a texture on the bump, not bumps.
std::vector<double> smoothed(const std::vector<double>& force) {
  const auto half = static_cast<std::ptrdiff_t>(force.size() / (k_bumps * 4) / 2);
  const auto size = static_cast<std::ptrdiff_t>(force.size());
  std::vector<double> smooth(force.size());
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const auto begin = force.begin() + std::max<std::ptrdiff_t>(0, i - half);
    const auto end = force.begin() + std::min(size, i + half + 1);
    smooth[static_cast<std::size_t>(i)] = std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  }
  return smooth;
}

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
  const Shell& shell = scene.shell_part().shell;
  const std::uint32_t levels = shell.levels();
  std::vector<std::vector<double>> forces(levels);
  for (std::uint32_t level = 0; level < levels; ++level) {
    options.progress->update("Sliding over the bumps", level / static_cast<double>(levels));
    const auto wanted = static_cast<std::uint8_t>(level);
    for (const FeltCycle& cycle : feel(scene, {Detail::Rule::exactly, {}, {&wanted, 1}}))
      forces[level].push_back(norm(cycle.felt.force));
  }
  const auto peak_of = [](const std::vector<double>& force) { return *std::max_element(force.begin(), force.end()); };
  const double full_peak = peak_of(forces.back());

  Plot plot;
  plot.title = "Force in the hand over six bumps, as the shell gets finer";
  plot.x_label = "time (s)";
  plot.panel_height = 130;
  std::vector<double> time(forces.back().size());
  for (std::size_t i = 0; i < time.size(); ++i) time[i] = static_cast<double>(i) * 1e-3;
  for (std::uint32_t level = 0; level < levels; ++level) {
    const std::vector<double> smooth = smoothed(forces[level]);
    const bool finest = level + 1 == levels;
    report.add(fmt::format("level-{}/bumps-felt", level + 1), count_peaks(smooth, k_just_noticeable * full_peak),
               "bumps", finest ? std::optional<double>(k_bumps) : std::nullopt);
    if (finest)
      for (const double share : {0.02, 0.05, 0.2, 0.4})
        report.add(fmt::format("level-{}/bumps-felt-at-{:.0f}-percent", level + 1, share * 100),
                   count_peaks(smooth, share * full_peak), "bumps");
    report.add(fmt::format("level-{}/points", level + 1), shell.points_to_level(level), "points",
               finest ? std::optional<double>(256000) : std::nullopt);
    report.add(fmt::format("level-{}/peak-force", level + 1), peak_of(forces[level]), "N");
    PlotPanel panel;
    panel.y_label = fmt::format("{} points (N)", shell.points_to_level(level));
    panel.series.push_back({"felt", time, forces[level], PlotSeries::Style::line});
    panel.series.push_back({"smoothed", time, smooth, PlotSeries::Style::line});
    plot.panels.push_back(panel);
  }
  report.figures.push_back(options.folder / "detail.svg");
  write_svg(plot, report.figures.back());
  report.notes.push_back(scene.note);
  report.notes.push_back(fmt::format(
      "A bump counts where the force, smoothed over a quarter of the time a bump takes, rises and falls by {:.0f} % of "
      "the finest shell's peak. For that shell the count at other shares is given too.",
      k_just_noticeable * 100));
  return report;
}

}  // namespace cotouch
