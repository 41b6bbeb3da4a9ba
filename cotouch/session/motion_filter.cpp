#include <cotouch/session/motion_filter.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_surprise = 25;      // an innovation five times as large as expected is a turn or a stop
constexpr double k_raise = 0.2;        // how fast q grows with the excess of an innovation over what was expected
constexpr double k_most_excess = 8;    // in one tick
constexpr double k_fall = 0.15;        // share that q loses in a tick without surprises
constexpr double k_drive_range = 30;   // q is at most this many times what it starts from
constexpr double k_smoothing = 30;     // of r, for a filter of constant acceleration
constexpr double k_long_jitter = 12;   // ticks of jitter that double r again
constexpr double k_memory = 1 - 1e-3;  // of the fits, for each motion that they learn from
constexpr double k_caution = 5;        // motions of the size of the noise by which fits are drawn to their start
constexpr double k_large_miss = 40;    // in noise: what missed by more counts less
constexpr double k_slowest = 0.25;     // noise a tick: the fastest of the slowest class of speeds
constexpr double k_class_ratio = 4;    // of speeds between two classes
constexpr double k_stretch = 1.2;
constexpr std::size_t k_recent = 4;  // ticks in which the fastest step is looked for

constexpr double horizon_ticks(std::size_t i) {
  return static_cast<double>(std::size_t{1} << i);
}

}  // namespace

MotionFilter::MotionFilter(const Settings& settings) noexcept
    : settings_(settings), drive_(settings.drive), order_(settings.acceleration ? 3 : 2) {
  for (auto& fits : fits_)
    for (std::size_t i = 0; i < k_horizons; ++i) solve(fits[i], i);
  stop();
}

void MotionFilter::stop() noexcept {
  now_.parts = {};
  now_.step = {};
  fastest_ = 0;
  lengths_ = {};
  restart({});
  now_.speed = 0;
  past_[seen_ % k_history] = now_;
}

void MotionFilter::begin() noexcept {
  seen_ = 0;
  stop();
}

void MotionFilter::restart(const Vec3d& step) noexcept {
  const double r = variance_of_noise();
  const double widest = k_drive_range * settings_.drive;
  now_.parts = {Vec3d{}, step, Vec3d{}};
  covariance_ = {};
  covariance_[0][0] = r;
  covariance_[0][1] = covariance_[1][0] = r;
  covariance_[1][1] = 2 * r + widest * widest;
  if (order_ == 3) covariance_[2][2] = widest * widest;
}

double MotionFilter::variance_of_noise() const noexcept {
  const double r = settings_.noise * settings_.noise;
  return settings_.acceleration ? r * k_smoothing * (1 + jitter_ / k_long_jitter) : r;
}

void MotionFilter::propagate() noexcept {
  // x += v + a/2, v += a
  auto& x = now_.parts;
  x[0] += x[1] + x[2] * 0.5;
  x[1] += x[2];
  auto& p = covariance_;
  // F P F' with F = [1 1 1/2; 0 1 1; 0 0 1]
  for (std::size_t j = 0; j < 3; ++j) {
    p[0][j] += p[1][j] + 0.5 * p[2][j];
    p[1][j] += p[2][j];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    p[i][0] += p[i][1] + 0.5 * p[i][2];
    p[i][1] += p[i][2];
  }
  const double q = drive_ * drive_;
  if (order_ == 2) {
    p[0][0] += q / 3;
    p[0][1] += q / 2;
    p[1][0] += q / 2;
    p[1][1] += q;
  } else {
    p[0][0] += q / 20;
    p[0][1] += q / 8;
    p[1][0] += q / 8;
    p[0][2] += q / 6;
    p[2][0] += q / 6;
    p[1][1] += q / 3;
    p[1][2] += q / 2;
    p[2][1] += q / 2;
    p[2][2] += q;
  }
}

void MotionFilter::correct(const Vec3d& innovation, double variance) noexcept {
  auto& p = covariance_;
  std::array<double, k_parts> gain{};
  for (std::size_t i = 0; i < order_; ++i) gain[i] = p[i][0] / variance;
  const std::array<double, k_parts> first = p[0];
  for (std::size_t i = 0; i < order_; ++i) now_.parts[i] += innovation * gain[i];
  for (std::size_t i = 0; i < order_; ++i)
    for (std::size_t j = 0; j < order_; ++j) p[i][j] -= gain[i] * first[j];
  for (std::size_t i = 0; i < order_; ++i)
    for (std::size_t j = 0; j < i; ++j) p[i][j] = p[j][i] = 0.5 * (p[i][j] + p[j][i]);
}

void MotionFilter::observe(const Vec3d& step) noexcept {
  propagate();
  const double r = variance_of_noise();
  const double variance = covariance_[0][0] + r;
  const Vec3d innovation = step - now_.parts[0];
  const double excess = norm_squared(innovation) / (3 * variance);
  if (excess > k_surprise)
    restart(step);
  else {
    correct(innovation, variance);
    now_.parts[0] -= step;  // relative to where it is now
  }
  const double low = settings_.drive, high = k_drive_range * settings_.drive;
  const double grown =
      excess > 1 ? drive_ * (1 + k_raise * std::min(excess - 1, k_most_excess)) : drive_ * (1 - k_fall * (1 - excess));
  drive_ = std::clamp(grown, low, high);

  now_.total += step;
  now_.step = step;
  ++seen_;
  learn();
  now_.speed = speed_class(norm(now_.parts[1]));
  past_[seen_ % k_history] = now_;
  lengths_[seen_ % k_history] = norm(step);
  fastest_ = 0;
  for (std::size_t i = 0; i < k_recent; ++i) fastest_ = std::max(fastest_, lengths_[(seen_ - i) % k_history]);
}

std::size_t MotionFilter::speed_class(double speed) const noexcept {
  double bound = settings_.noise * k_slowest;
  std::size_t out = 0;
  for (; out + 1 < k_classes && speed > bound; ++out) bound *= k_class_ratio;
  return out;
}

std::array<Vec3d, MotionFilter::k_terms> MotionFilter::terms(const Estimate& from, double ahead) noexcept {
  return {from.parts[0], from.step * ahead, from.parts[1] * ahead, from.parts[2] * (0.5 * ahead * ahead)};
}

// What came, against what the estimates of one to 32 ticks ago said.
void MotionFilter::learn() noexcept {
  for (std::size_t i = 0; i < k_horizons; ++i) {
    const std::size_t ticks = std::size_t{1} << i;
    if (seen_ < ticks) return;
    const Estimate& then = past_[(seen_ - ticks) % k_history];
    const std::array<Vec3d, k_terms> said = terms(then, horizon_ticks(i));
    const Vec3d came = now_.total - then.total;
    Fit& fit = fits_[then.speed][i];
    Vec3d missed = came;
    for (std::size_t k = 0; k < k_terms; ++k) missed -= said[k] * fit.weight[k];
    const double trust = 1 / (1 + norm(missed) / (k_large_miss * settings_.noise));
    for (std::size_t row = 0; row < k_terms; ++row) {
      for (std::size_t col = 0; col <= row; ++col)
        fit.a[row][col] = k_memory * fit.a[row][col] + trust * dot(said[row], said[col]);
      fit.b[row] = k_memory * fit.b[row] + trust * dot(said[row], came);
    }
    solve(fit, i);
  }
}

// Minimises sum |came - sum_k weight_k said_k|^2 + c sum_k (weight_k - start_k)^2 by Cholesky's decomposition.
void MotionFilter::solve(Fit& fit, std::size_t horizon) const noexcept {
  const double h = horizon_ticks(horizon);
  const std::array<double, k_terms> start{0.5, 0, 1 / (1 + h / 32), 1 / (1 + h / 4)};
  const double caution = k_caution * settings_.noise * settings_.noise;
  std::array<std::array<double, k_terms>, k_terms> l;
  std::array<double, k_terms> y;
  for (std::size_t i = 0; i < k_terms; ++i) {
    y[i] = fit.b[i] + caution * start[i];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = fit.a[i][j] + (i == j ? caution : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(std::max(sum, 1e-6 * caution)) : sum / l[j][j];
      if (j < i) y[i] -= l[i][j] * y[j];
    }
    y[i] /= l[i][i];
  }
  for (std::size_t i = k_terms; i-- > 0;) {
    for (std::size_t k = i + 1; k < k_terms; ++k) y[i] -= l[k][i] * y[k];
    y[i] /= l[i][i];
    fit.weight[i] = y[i];
  }
}

Vec3d MotionFilter::predict(double ahead) const noexcept {
  const double h = std::min(ahead, horizon_ticks(k_horizons - 1));
  std::size_t upper = 0;
  while (upper + 1 < k_horizons && horizon_ticks(upper) < h) ++upper;
  const std::size_t lower = upper == 0 ? 0 : upper - 1;
  const double span = horizon_ticks(upper) - horizon_ticks(lower);
  const double t = span > 0 ? (h - horizon_ticks(lower)) / span : 0;
  const auto& fits = fits_[now_.speed];
  const std::array<Vec3d, k_terms> said = terms(now_, h);
  Vec3d moved;
  for (std::size_t k = 0; k < k_terms; ++k)
    moved += said[k] * (fits[lower].weight[k] + t * (fits[upper].weight[k] - fits[lower].weight[k]));
  const double length = norm(moved), most = k_stretch * fastest_ * h;
  return length > most ? moved * (most / length) : moved;
}

}  // namespace cotouch
