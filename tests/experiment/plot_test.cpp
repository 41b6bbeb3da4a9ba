#include <cotouch/experiment/plot.h>

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

namespace cotouch::this_file {
namespace {

// Tags nest, attributes are quoted, and text holds neither a bare '<' nor a bare '&'. Enough of XML for what we write.
::testing::AssertionResult is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size();) {
    if (xml[i] == '&') {
      const std::size_t end = xml.find(';', i);
      if (end == std::string::npos || end - i > 6) return ::testing::AssertionFailure() << "bare & at " << i;
      i = end + 1;
    } else if (xml[i] == '<') {
      const bool closing = xml[i + 1] == '/';
      std::size_t at = i + (closing ? 2 : 1);
      std::string name;
      while (at < xml.size() && (std::isalnum(static_cast<unsigned char>(xml[at])) != 0)) name += xml[at++];
      bool quoted = false;
      while (at < xml.size() && (quoted || xml[at] != '>')) {
        if (xml[at] == '"') quoted = !quoted;
        if (xml[at] == '<') return ::testing::AssertionFailure() << "< inside a tag at " << at;
        ++at;
      }
      if (name.empty() || at >= xml.size()) return ::testing::AssertionFailure() << "broken tag at " << i;
      if (closing) {
        if (open.empty() || open.back() != name) return ::testing::AssertionFailure() << "unexpected </" << name << ">";
        open.pop_back();
      } else if (xml[at - 1] != '/') {
        open.push_back(name);
      }
      i = at + 1;
    } else {
      ++i;
    }
  }
  if (!open.empty()) return ::testing::AssertionFailure() << "<" << open.back() << "> is never closed";
  return ::testing::AssertionSuccess();
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Plot one_panel(PlotSeries series) {
  Plot plot;
  plot.title = "t";
  plot.panels.resize(1);
  plot.panels[0].series = {std::move(series)};
  return plot;
}

}  // namespace

TEST(Plot, IsWellFormedWhateverItsTextsHold) {
  Plot plot = one_panel({"a < b & \"c\" \x01", {0, 1, 2}, {1, 4, 9}, PlotSeries::Style::line_and_points});
  plot.title = "<script>&\"";
  plot.x_label = "time (s) > 0";
  plot.panels[0].y_label = "force <N>";
  plot.panels[0].thresholds = {{"limit & more", 5}};
  const std::string svg = to_svg(plot);
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot; "), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
}

TEST(Plot, HasAxesEvenWithoutData) {
  EXPECT_TRUE(is_well_formed(to_svg(Plot{})));
  const std::string svg = to_svg(one_panel({}));
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(occurrences(svg, "class=\"axis\""), 2U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plot, PanelsShareOneXAxis) {
  Plot plot = one_panel({"", {0, 10}, {0, 1}});
  plot.panels.push_back(plot.panels[0]);
  plot.panels[1].series[0].x = {5, 20};
  // 0, 2.5 ... : about eight ticks of a 1-2-5 step over 0..20 are 0, 2, 4 ... 20, labelled once, below the last panel.
  const std::string svg = to_svg(plot);
  EXPECT_EQ(occurrences(svg, ">20</text>"), 1U);
  EXPECT_EQ(occurrences(svg, ">18</text>"), 1U);
  EXPECT_EQ(occurrences(svg, "<polyline"), 2U);
}

TEST(Plot, AValueThatIsNotFiniteInterruptsTheLine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = to_svg(one_panel({"", {0, 1, 2, 3, 4}, {0, 1, nan, 3, 4}}));
  EXPECT_EQ(occurrences(svg, "<polyline"), 2U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plot, ALogarithmicAxisPutsDecadesAtEqualDistances) {
  Plot plot = one_panel({"", {1, 10, 100}, {1, 1, 1}, PlotSeries::Style::points});
  plot.logarithmic_x = true;
  const std::string svg = to_svg(plot);
  std::vector<double> x;
  const std::regex circle("<circle cx=\"([0-9.]+)\"");
  for (std::sregex_iterator it(svg.begin(), svg.end(), circle), end; it != end; ++it) x.push_back(std::stod((*it)[1]));
  ASSERT_EQ(x.size(), 3U);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.11);  // written with one decimal
}

TEST(Plot, ThinsLongLinesButKeepsTheirPeaks) {
  PlotSeries series;
  for (int i = 0; i < 100000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54321 ? 7.0 : 0.5 * std::sin(i * 0.1));
  }
  Plot plot = one_panel(series);
  plot.panels[0].y_min = -1;
  plot.panels[0].y_max = 7;
  const std::string svg = to_svg(plot);
  EXPECT_LT(svg.size(), 60000U);
  // The peak touches the panel's top, 48 pixels from the picture's.
  EXPECT_NE(svg.find(",48.0 "), std::string::npos);
}

}  // namespace cotouch::this_file
