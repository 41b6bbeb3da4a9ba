#include <cotouch/base/file.h>
#include <cotouch/experiment/plot.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace cotouch {
namespace {

// Distinguishable with any colour vision, and dark enough for white and light enough for near-black paper.
constexpr std::array k_colors{"#2f81c4", "#e0701e", "#2f9e62", "#c2459b", "#8a6fd1", "#b58a00", "#5f8a99"};

constexpr const char* k_style = R"(<style>
.paper{fill:#ffffff}.text{fill:#24292f;font:12px sans-serif}.title{font:bold 14px sans-serif}
.axis{stroke:#57606a;fill:none}.grid{stroke:#d8dee4;fill:none}.limit{stroke:#cf222e;stroke-dasharray:6 4;fill:none}
.limit-text{fill:#cf222e;font:11px sans-serif}.curve{fill:none;stroke-width:1.6;stroke-linejoin:round}
@media (prefers-color-scheme:dark){.paper{fill:#0d1117}.text{fill:#e6edf3}.axis{stroke:#8b949e}.grid{stroke:#30363d}
.limit{stroke:#ff7b72}.limit-text{fill:#ff7b72}}
</style>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        // XML has no way to write the other control characters.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
    }
  }
  return out;
}

// Maps values to pixels, linearly or by their logarithm, and knows where its ticks go.
struct Axis {
  double low = 0, high = 1;  // of the value, or of its log10
  double from = 0, to = 1;   // pixels
  bool logarithmic = false;

  bool has(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  double pixel(double value) const {
    const double v = logarithmic ? std::log10(value) : value;
    return from + (to - from) * (v - low) / (high - low);
  }
};

struct Range {
  double low = HUGE_VAL, high = -HUGE_VAL;
  void add(double value, bool logarithmic) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
    const double v = logarithmic ? std::log10(value) : value;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  // Room for something to be seen even where all values are equal or there are none.
  void make_proper(bool logarithmic) {
    if (low > high) low = 0, high = 1;
    if (high - low <= 1e-12 * std::max(std::abs(low), std::abs(high)) || high == low) {
      const double half = logarithmic ? 0.5 : std::max(std::abs(low) * 0.1, 0.5);
      low -= half;
      high += half;
    }
  }
};

// A step of 1, 2 or 5 times a power of ten that gives about `wanted` ticks.
double nice_step(double span, int wanted) {
  const double rough = span / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

std::vector<double> ticks(const Axis& axis, int wanted) {
  std::vector<double> values;
  if (axis.logarithmic) {
    const bool few = axis.high - axis.low < 2.5;
    for (double decade = std::floor(axis.low); decade <= axis.high; ++decade)
      for (const double lead : {1.0, 2.0, 5.0}) {
        const double at = decade + std::log10(lead);
        if ((lead == 1 || few) && at >= axis.low - 1e-9 && at <= axis.high + 1e-9) values.push_back(std::pow(10.0, at));
      }
    return values;
  }
  const double step = nice_step(axis.high - axis.low, wanted);
  for (double i = std::ceil(axis.low / step - 1e-9); i * step <= axis.high + 1e-9 * step && values.size() < 50; ++i)
    values.push_back(i == 0 ? 0 : i * step);
  return values;
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size >= 1e6 || size < 1e-4)) return fmt::format("{:.3g}", value);
  return fmt::format("{:.6g}", value);
}

struct Point {
  double x, y;
};

// More points than pixels cost file size and show nothing: of each pixel column, what matters is where the line enters,
// leaves, and how far it reaches up and down.
void reduce(std::vector<Point>& points) {
  if (points.size() < 2000) return;
  std::vector<Point> kept;
  for (std::size_t begin = 0; begin < points.size();) {
    std::size_t end = begin, lowest = begin, highest = begin;
    for (; end < points.size() && std::floor(points[end].x) == std::floor(points[begin].x); ++end) {
      if (points[end].y < points[lowest].y) lowest = end;
      if (points[end].y > points[highest].y) highest = end;
    }
    std::array<std::size_t, 4> wanted{begin, lowest, highest, end - 1};
    std::sort(wanted.begin(), wanted.end());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (i == 0 || wanted[i] != wanted[i - 1]) kept.push_back(points[wanted[i]]);
    begin = end;
  }
  points = std::move(kept);
}

void draw_series(std::string& svg, const PlotSeries& series, const Axis& x, const Axis& y, const char* color) {
  std::vector<Point> run;
  const auto flush = [&] {
    if (series.style != PlotSeries::Style::points && run.size() > 1) {
      std::vector<Point> line = run;
      reduce(line);
      svg += fmt::format("<polyline class=\"curve\" stroke=\"{}\" points=\"", color);
      for (const Point& p : line) fmt::format_to(std::back_inserter(svg), "{:.1f},{:.1f} ", p.x, p.y);
      svg += "\"/>\n";
    }
    // A lone value between gaps would be invisible as a line.
    if (series.style != PlotSeries::Style::line || run.size() == 1)
      for (const Point& p : run)
        fmt::format_to(std::back_inserter(svg), "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"/>\n", p.x,
                       p.y, color);
    run.clear();
  };
  const std::size_t count = std::min(series.x.size(), series.y.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (x.has(series.x[i]) && y.has(series.y[i]))
      run.push_back({x.pixel(series.x[i]), y.pixel(series.y[i])});
    else
      flush();
  }
  flush();
}

void draw_text(std::string& svg, double x, double y, const char* anchor, const std::string& text,
               const char* kind = "text") {
  fmt::format_to(std::back_inserter(svg), "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                 kind, x, y, anchor, escaped(text));
}

void draw_line(std::string& svg, const char* kind, double x1, double y1, double x2, double y2) {
  fmt::format_to(std::back_inserter(svg),
                 "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1, y1, x2,
                 y2);
}

Axis y_axis(const PlotPanel& panel, double bottom, double top) {
  Range range;
  for (const PlotSeries& s : panel.series)
    for (const double v : s.y) range.add(v, panel.logarithmic);
  for (const PlotThreshold& t : panel.thresholds) range.add(t.y, panel.logarithmic);
  range.make_proper(panel.logarithmic);
  // A little air, but no line below zero where nothing is negative.
  const double air = 0.06 * (range.high - range.low);
  range.low = !panel.logarithmic && range.low >= 0 && range.low < 0.5 * range.high ? 0 : range.low - air;
  range.high += air;
  const auto given = [&](double v) { return panel.logarithmic ? std::log10(v) : v; };
  if (panel.y_min) range.low = given(*panel.y_min);
  if (panel.y_max) range.high = given(*panel.y_max);
  range.make_proper(panel.logarithmic);
  return {range.low, range.high, bottom, top, panel.logarithmic};
}

// Legend entries in a row above the panel.
void draw_legend(std::string& svg, const PlotPanel& panel, double x, double y) {
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const std::string& label = panel.series[i].label;
    if (label.empty()) continue;
    fmt::format_to(std::back_inserter(svg), "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"4\" fill=\"{}\"/>\n",
                   x, y - 6, k_colors[i % k_colors.size()]);
    draw_text(svg, x + 19, y, "start", label);
    x += 19 + 6.6 * static_cast<double>(label.size()) + 18;
  }
}

void draw_panel(std::string& svg, const PlotPanel& panel, std::size_t index, const Axis& x, double top, double bottom,
                bool labelled) {
  const Axis y = y_axis(panel, bottom, top);
  for (const double value : ticks(x, 8)) {
    const double at = x.pixel(value);
    draw_line(svg, "grid", at, top, at, bottom);
    if (labelled) draw_text(svg, at, bottom + 17, "middle", tick_text(value));
  }
  for (const double value : ticks(y, 5)) {
    const double at = y.pixel(value);
    draw_line(svg, "grid", x.from, at, x.to, at);
    draw_text(svg, x.from - 7, at + 4, "end", tick_text(value));
  }
  fmt::format_to(std::back_inserter(svg),
                 "<clipPath id=\"panel{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>"
                 "</clipPath>\n<g clip-path=\"url(#panel{})\">\n",
                 index, x.from, top, x.to - x.from, bottom - top, index);
  for (std::size_t i = 0; i < panel.series.size(); ++i)
    draw_series(svg, panel.series[i], x, y, k_colors[i % k_colors.size()]);
  for (const PlotThreshold& t : panel.thresholds)
    if (y.has(t.y)) draw_line(svg, "limit", x.from, y.pixel(t.y), x.to, y.pixel(t.y));
  svg += "</g>\n";
  for (const PlotThreshold& t : panel.thresholds)
    if (y.has(t.y)) draw_text(svg, x.to - 4, y.pixel(t.y) - 4, "end", t.label, "limit-text");
  draw_line(svg, "axis", x.from, bottom, x.to, bottom);
  draw_line(svg, "axis", x.from, top, x.from, bottom);
  const double middle = 0.5 * (top + bottom);
  fmt::format_to(
      std::back_inserter(svg),
      "<text class=\"text\" x=\"16\" y=\"{:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {:.1f})\">{}"
      "</text>\n",
      middle, middle, escaped(panel.y_label));
  draw_legend(svg, panel, x.from + 4, top - 6);
}

}  // namespace

std::string to_svg(const Plot& plot) {
  constexpr double k_left = 72, k_right = 18, k_title = 30, k_gap = 26, k_bottom = 44;
  const auto panels = static_cast<double>(plot.panels.size());
  const double height = k_title + panels * (plot.panel_height + k_gap) + k_bottom - k_gap + 18;

  Range range;
  for (const PlotPanel& panel : plot.panels)
    for (const PlotSeries& s : panel.series)
      for (const double v : s.x) range.add(v, plot.logarithmic_x);
  range.make_proper(plot.logarithmic_x);
  const Axis x{range.low, range.high, k_left, plot.width - k_right, plot.logarithmic_x};

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n{3}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
      plot.width, height, escaped(plot.title), k_style);
  draw_text(svg, k_left, 20, "start", plot.title, "text title");
  double top = k_title + 18;
  for (std::size_t i = 0; i < plot.panels.size(); ++i) {
    draw_panel(svg, plot.panels[i], i, x, top, top + plot.panel_height, i + 1 == plot.panels.size());
    top += plot.panel_height + k_gap;
  }
  draw_text(svg, 0.5 * (x.from + x.to), height - 8, "middle", plot.x_label);
  svg += "</svg>\n";
  return svg;
}

void write_svg(const Plot& plot, const std::filesystem::path& path) {
  write_file(path, to_svg(plot));
}

}  // namespace cotouch
