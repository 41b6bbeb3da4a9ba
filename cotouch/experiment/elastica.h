// A thin cantilever that a force bends far: Euler's elastica, what bars are compared with.
//
// With the angle t(s) along the bar, a dead load across its rest direction at the tip, and everything in units of the
// bar's length: t'' = -p cos t, t(0) = 0, t'(1) = 0, where p = force * length^2 / (Young's modulus * second moment).
#pragma once

#include <array>
#include <cmath>
#include <vector>

namespace cotouch {

struct ElasticaPoint {
  double along = 0, across = 0;  // position, in lengths
  double angle = 0;              // radians
};

// From the clamped end to the tip, evenly along the bar.
inline std::vector<ElasticaPoint> elastica(double p) {
  constexpr int k_steps = 400;
  std::vector<ElasticaPoint> line(k_steps + 1);
  // Runge and Kutta from the clamped end, given the curvature there. Returns the curvature at the tip.
  const auto shoot = [&](double curvature) {
    using State = std::array<double, 4>;  // angle, curvature, along, across
    State y{0, curvature, 0, 0};
    const auto slope = [p](const State& s) { return State{s[1], -p * std::cos(s[0]), std::cos(s[0]), std::sin(s[0])}; };
    const auto moved = [](const State& s, double h, const State& d) {
      State r;
      for (std::size_t i = 0; i < 4; ++i) r[i] = s[i] + h * d[i];
      return r;
    };
    constexpr double h = 1.0 / k_steps;
    for (std::size_t i = 1; i < line.size(); ++i) {
      const State a = slope(y), b = slope(moved(y, h / 2, a)), c = slope(moved(y, h / 2, b)), d = slope(moved(y, h, c));
      for (std::size_t k = 0; k < 4; ++k) y[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
      line[i] = {y[2], y[3], y[0]};
    }
    return y[1];
  };
  // The curvature at the tip grows with that at the clamped end, which is at most p.
  double low = 0, high = p;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (shoot(middle) < 0 ? low : high) = middle;
  }
  shoot((low + high) / 2);
  return line;
}

inline ElasticaPoint elastica_tip(double p) {
  return elastica(p).back();
}

}  // namespace cotouch
