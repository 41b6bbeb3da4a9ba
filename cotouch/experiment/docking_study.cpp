// Paper 004, part 1 of the study: LAN and WAN, with and without synchronisation. Figures 8 to 11, 13 and 14.
#include <cotouch/base/parallel.h>
#include <cotouch/base/trig.h>
#include <cotouch/experiment/docking_trial.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/experiment/statistics.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>

namespace cotouch {
namespace {

constexpr double k_degrees = 180 / k_pi;
constexpr double k_limit = 180;  // seconds; the study's worst condition took 157 on average

// Figure 13.
struct PaperRow {
  double position_mean, position_max;         // mm
  std::array<double, 3> turn_mean, turn_max;  // degrees, by axis
  double completion;                          // seconds

  double rotation_mean() const { return (turn_mean[0] + turn_mean[1] + turn_mean[2]) / 3; }
};
struct Condition {
  const char* name;
  const char* network;
  bool synchronised;
  PaperRow paper;
};
constexpr std::array<Condition, 4> k_conditions{{
    {"lan-sync", "lan", true, {0.197, 46.611, {0.040414, 0.038977, 0.036494}, {5.82, 7.02, 7.58}, 74.99655}},
    {"wan-sync", "transatlantic", true, {0.197, 37.485, {0.043591, 0.040279, 0.038253}, {4.33, 5.44, 6.23}, 72.2705}},
    {"lan-unsync", "lan", false, {3.789, 114.211, {0.669967, 0.681335, 0.599121}, {20.8, 20.8, 17.0}, 68.76667}},
    {"wan-unsync",
     "transatlantic",
     false,
     {5.506, 173.613, {1.057691, 1.129944, 1.036472}, {45.2, 48.9, 52.8}, 156.76}},
}};

using Trials = std::array<std::vector<DockingTrial>, 4>;
using Measure = std::function<double(const DockingTrial&)>;

std::vector<double> each(const std::vector<DockingTrial>& trials, const Measure& measure) {
  std::vector<double> out;
  for (const DockingTrial& trial : trials) out.push_back(measure(trial));
  return out;
}

double rotation_mean(const DockingTrial& trial) {
  return (trial.mean_turn(0) + trial.mean_turn(1) + trial.mean_turn(2)) / 3 * k_degrees;
}

Trials run_all(const ExperimentOptions& options, std::size_t count) {
  const auto model = docking_study_world(*options.progress);
  Trials trials;
  for (auto& of_condition : trials) of_condition.resize(count);
  std::mutex telling;
  std::size_t finished = 0;
  parallel_for(4 * count, 1, [&](std::size_t begin, std::size_t) {
    const std::size_t condition = begin % 4, subject = begin / 4;
    const Condition& c = k_conditions[condition];
    trials[condition][subject] =
        run_docking_trial(model, {*find_network(c.network), c.synchronised, Prediction::kalman_acceleration},
                          options.seed * 1000 + subject, k_limit);
    const std::lock_guard lock(telling);
    options.progress->update("Docking together", static_cast<double>(++finished) / static_cast<double>(4 * count));
  });
  return trials;
}

void add_rows(const Trials& trials, ExperimentReport& report) {
  for (std::size_t i = 0; i < 4; ++i) {
    const Condition& c = k_conditions[i];
    const auto add = [&](const char* quantity, double value, const char* unit, std::optional<double> paper = {}) {
      report.add(fmt::format("{}/{}", c.name, quantity), value, unit, paper);
    };
    const auto average = [&](const Measure& measure) { return mean(each(trials[i], measure)); };
    add("position-mean-mm", average([](const DockingTrial& t) { return t.mean_distance() * 1e3; }), "mm",
        c.paper.position_mean);
    add("position-max-mm", average([](const DockingTrial& t) { return t.largest_distance() * 1e3; }), "mm",
        c.paper.position_max);
    add("rotation-mean-deg", average(rotation_mean), "degrees, mean of the axes", c.paper.rotation_mean());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const char name = "xyz"[axis];
      add(fmt::format("{}-rotation-mean-deg", name).c_str(),
          average([&](const DockingTrial& t) { return t.mean_turn(axis) * k_degrees; }), "degrees",
          c.paper.turn_mean[axis]);
      add(fmt::format("{}-rotation-max-deg", name).c_str(),
          average([&](const DockingTrial& t) { return t.largest_turn(axis) * k_degrees; }), "degrees",
          c.paper.turn_max[axis]);
    }
    add("completion-s", average([](const DockingTrial& t) { return t.completion; }), "s until the first has finished",
        c.paper.completion);
    add("completed-share", average([](const DockingTrial& t) { return t.completed == 2 ? 1.0 : 0.0; }),
        "of trials finished by both");
    add("objective-mismatches", average([](const DockingTrial& t) { return static_cast<double>(t.mismatches); }),
        "a trial");
    add("own-inputs-late", average([](const DockingTrial& t) { return static_cast<double>(t.late_inputs); }),
        "a trial, not in the own view at the next tick");
  }
}

// Figure 14: factor a is latency, b synchronisation.
void add_analysis(const Trials& trials, ExperimentReport& report) {
  const auto analyse = [&](const char* name, const Measure& measure, std::optional<double> synchronisation,
                           std::optional<double> latency, std::optional<double> both) {
    const VarianceAnalysis found = analyse_variance(
        {each(trials[0], measure), each(trials[1], measure), each(trials[2], measure), each(trials[3], measure)});
    const auto add = [&](const char* effect, const TestResult& test, std::optional<double> paper) {
      report.add(fmt::format("anova/{}/{}-F", name, effect), test.statistic, fmt::format("F(1, {:.0f})", test.within),
                 paper);
      report.add(fmt::format("anova/{}/{}-p", name, effect), test.p, "probability");
    };
    add("synchronisation", found.b, synchronisation);
    add("latency", found.a, latency);
    add("interaction", found.interaction, both);
  };
  analyse("position-max", &DockingTrial::largest_distance, 98, {}, 7.65);
  analyse("position-mean", &DockingTrial::mean_distance, 781.9, {}, {});
  constexpr std::array<std::array<double, 2>, 3> k_synchronisation{{{10.37, 64.1}, {14.3, 72.83}, {12.57, 55.17}}};
  constexpr std::array<std::optional<double>, 3> k_latency_max{{7, std::nullopt, 7.31}},
      k_latency_mean{{6.81, std::nullopt, std::nullopt}}, k_both_max{{8.51, std::nullopt, 8.79}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    analyse(
        fmt::format("{}-rotation-max", "xyz"[axis]).c_str(),
        [&](const DockingTrial& t) { return t.largest_turn(axis); }, k_synchronisation[axis][0], k_latency_max[axis],
        k_both_max[axis]);
    analyse(fmt::format("{}-rotation-mean", "xyz"[axis]).c_str(),
            [&](const DockingTrial& t) { return t.mean_turn(axis); }, k_synchronisation[axis][1], k_latency_mean[axis],
            {});
  }
}

// A typical trial: the one with the median mean divergence.
const DockingTrial& typical(const std::vector<DockingTrial>& trials) {
  std::vector<const DockingTrial*> sorted;
  for (const DockingTrial& trial : trials) sorted.push_back(&trial);
  std::sort(sorted.begin(), sorted.end(),
            [](const DockingTrial* a, const DockingTrial* b) { return a->mean_distance() < b->mean_distance(); });
  return *sorted[sorted.size() / 2];
}

void draw_trial(const DockingTrial& trial, const char* words, int position_figure, double paper_mean,
                const ExperimentOptions& options, ExperimentReport& report) {
  Plot position;
  position.title = fmt::format("Figure {}: positional divergence between peers, {}", position_figure, words);
  position.x_label = "time (s)";
  PlotPanel panel;
  panel.y_label = "distance (mm)";
  PlotSeries distance{"ours, a typical trial", trial.seconds, {}, PlotSeries::Style::line};
  for (const double d : trial.distance) distance.y.push_back(d * 1e3);
  panel.series.push_back(std::move(distance));
  panel.thresholds.push_back({"paper's mean", paper_mean});
  position.panels.push_back(std::move(panel));
  Plot rotation;
  rotation.title = fmt::format("Figure {}: rotational divergence between peers, {}", position_figure + 1, words);
  rotation.x_label = "time (s)";
  PlotPanel angles;
  angles.y_label = "rotation (degrees)";
  for (std::size_t axis = 0; axis < 3; ++axis) {
    PlotSeries series{fmt::format("{} axis", "xyz"[axis]), trial.seconds, {}, PlotSeries::Style::line};
    for (const Vec3d& turn : trial.turn) series.y.push_back(turn[axis] * k_degrees);
    angles.series.push_back(std::move(series));
  }
  rotation.panels.push_back(std::move(angles));
  for (const auto& [plot, figure] : {std::pair{&position, position_figure}, {&rotation, position_figure + 1}}) {
    report.figures.push_back(options.folder / fmt::format("docking-figure-{}.svg", figure));
    write_svg(*plot, report.figures.back());
  }
}

void draw_means(const Trials& trials, const ExperimentOptions& options, ExperimentReport& report) {
  Plot plot;
  plot.title = "Figure 13: means of the four conditions";
  plot.x_label = "1 LAN synchronised, 2 WAN synchronised, 3 LAN unsynchronised, 4 WAN unsynchronised";
  const auto add = [&](const char* label, bool logarithmic, const Measure& measure,
                       const std::function<double(const PaperRow&)>& paper) {
    PlotPanel panel;
    panel.y_label = label;
    panel.logarithmic = logarithmic;
    PlotSeries ours{"ours", {}, {}, PlotSeries::Style::line_and_points},
        theirs{"paper", {}, {}, PlotSeries::Style::line_and_points};
    for (std::size_t i = 0; i < 4; ++i) {
      ours.x.push_back(static_cast<double>(i + 1));
      ours.y.push_back(mean(each(trials[i], measure)));
      theirs.x.push_back(static_cast<double>(i + 1));
      theirs.y.push_back(paper(k_conditions[i].paper));
    }
    panel.series = {std::move(ours), std::move(theirs)};
    plot.panels.push_back(std::move(panel));
  };
  add(
      "position, mean (mm)", true, [](const DockingTrial& t) { return t.mean_distance() * 1e3; },
      [](const PaperRow& row) { return row.position_mean; });
  add(
      "position, max (mm)", true, [](const DockingTrial& t) { return t.largest_distance() * 1e3; },
      [](const PaperRow& row) { return row.position_max; });
  add("rotation, mean (degrees)", true, rotation_mean, [](const PaperRow& row) { return row.rotation_mean(); });
  add(
      "completion (s)", false, [](const DockingTrial& t) { return t.completion; },
      [](const PaperRow& row) { return row.completion; });
  report.figures.push_back(options.folder / "docking-figure-13.svg");
  write_svg(plot, report.figures.back());
}

}  // namespace

ExperimentReport run_docking_study(const ExperimentOptions& options) {
  const std::size_t count = options.quick ? 3 : 16;
  const Trials trials = run_all(options, count);
  ExperimentReport report;
  add_rows(trials, report);
  add_analysis(trials, report);
  draw_trial(typical(trials[3]), "unsynchronised WAN", 8, k_conditions[3].paper.position_mean, options, report);
  draw_trial(typical(trials[1]), "synchronised WAN", 10, k_conditions[1].paper.position_mean, options, report);
  draw_means(trials, options, report);
  report.notes.push_back(fmt::format(
      "{} pairs of simulated people, each pair once in every condition; an expert and a novice "
      "(experiment/participants.h has every parameter and its source). The box has neither weight nor friction, as in "
      "the study. Networks `lan` and `transatlantic`; remote hands predicted by the Kalman filter of constant "
      "acceleration.",
      count));
  report.notes.push_back(
      "Divergence is between the two subjective views of the same clock tick, from the first movement until half a "
      "second after the box has snapped in for both, or the trial is given up (180 s; 15 s after the first has "
      "finished). The largest values are those of the snap, as in the study. Rotation is per axis, as in Figure 13; "
      "the "
      "paper's text says 0.02 mm where its table says 0.197.");
  report.notes.push_back(
      "Unsynchronised, each machine steps a world of its own in which an input counts when it arrives, and nothing "
      "ever "
      "brings the two together. They diverge less than in the study, and fewer trials fail. One reason may be that "
      "hands "
      "hold the box by springs to where they are, which draws both views to the same place while both hold it; this "
      "was "
      "not tried without springs.");
  return report;
}

}  // namespace cotouch
