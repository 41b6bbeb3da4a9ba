// Line and point plots as SVG: several panels over one x axis, readable on light and dark pages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

struct PlotSeries {
  enum class Style { line, points, line_and_points };

  std::string label;  // empty: not in the legend
  std::vector<double> x, y;
  Style style = Style::line;
};

// A horizontal dashed line: a limit, a budget, the paper's figure.
struct PlotThreshold {
  std::string label;
  double y = 0;
};

struct PlotPanel {
  std::string y_label;  // with its unit: "force (N)"
  std::vector<PlotSeries> series;
  std::vector<PlotThreshold> thresholds;
  std::optional<double> y_min, y_max;  // where not given: what the data needs
  bool logarithmic = false;            // values <= 0 are left out
};

struct Plot {
  std::string title;
  std::string x_label;  // with its unit
  std::vector<PlotPanel> panels;
  bool logarithmic_x = false;
  int width = 760;         // pixels
  int panel_height = 200;  // pixels
};

// Values that are not finite interrupt a line. A plot without data still has its axes.
std::string to_svg(const Plot& plot);
void write_svg(const Plot& plot, const std::filesystem::path& path);

}  // namespace cotouch
