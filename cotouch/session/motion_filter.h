// A Kalman filter of a motion in three dimensions that is seen tick by tick, and how far its estimate may be trusted.
//
// The motion is given by its steps: s_t = x_t - x_(t-1), or the rotation vector between two rotations. Time counts in
// ticks. The filter keeps where it believes the motion is (relative to where it was seen), its velocity v and, if asked
// to, its acceleration a; white noise of strength q drives the highest of them. One covariance serves all three axes.
// What is seen has noise of variance r: rounding and the tremor of a hand, neither of which can be foretold. A filter
// of accelerations smooths more, and most if inputs arrive unevenly, because predictions then reach farther and noise
// costs more than delay.
//
// q follows the innovations, up within a few ticks and down again as fast. An innovation beyond what the filter thinks
// possible is a sudden turn or stop: it then starts again from the newest step.
//
// How far the past told the future is measured. For horizons h of 1, 2, 4, ... 32 ticks the displacement that came is
// compared with what was known h ticks earlier: the estimated offset e, the newest step h s, h v and h^2/2 a. The
// weights of these four that would have fitted best are the weights of the next prediction (least squares, fading
// within some ten seconds, drawn to a cautious start: v/(1 + h/32), a/(1 + h/4)). They are kept for five classes of
// speed, because a resting hand trembles and a fast one does not. Hands that stop and turn thus shrink the trend at
// long horizons, and one that goes straight on restores it: nothing is extrapolated that did not hold before.
//
// A prediction is never farther from the newest position than 1.2 times the fastest of the newest four steps
// for each tick, and after 32 ticks it goes no farther.
#pragma once

#include <cotouch/base/vec.h>

#include <array>
#include <cstddef>

namespace cotouch {

class MotionFilter {
 public:
  struct Settings {
    double noise = 0;  // standard deviation of what cannot be foretold
    double drive = 0;  // what q starts from and falls back to, as a standard deviation a tick
    bool acceleration = false;
  };

  explicit MotionFilter(const Settings& settings) noexcept;

  // Stands still from now on, as far as is known. What was learnt stays.
  void stop() noexcept;
  // The motion begins anew: nothing is learnt from what came before.
  void begin() noexcept;
  // The motion of one tick.
  void observe(const Vec3d& step) noexcept;
  // Displacement from the newest position, `ahead` ticks later.
  Vec3d predict(double ahead) const noexcept;

  // How unevenly steps become known, ticks.
  void set_jitter(double ticks) noexcept { jitter_ = ticks; }

 private:
  static constexpr std::size_t k_parts = 3;     // offset, velocity, acceleration
  static constexpr std::size_t k_terms = 4;     // offset, newest step, velocity, acceleration
  static constexpr std::size_t k_horizons = 6;  // 1, 2, 4, ... 32 ticks
  static constexpr std::size_t k_history = 64;  // a power of two above the longest horizon
  static constexpr std::size_t k_classes = 5;   // of speed

  struct Estimate {
    Vec3d total;  // sum of all steps so far
    Vec3d step;   // the newest
    std::array<Vec3d, k_parts> parts;
    std::size_t speed = 0;  // class of v
  };
  // Normal equations of the weights.
  struct Fit {
    std::array<std::array<double, k_terms>, k_terms> a{};
    std::array<double, k_terms> b{};
    std::array<double, k_terms> weight{};
  };

  double variance_of_noise() const noexcept;
  void propagate() noexcept;
  void restart(const Vec3d& step) noexcept;
  void correct(const Vec3d& innovation, double variance) noexcept;
  std::size_t speed_class(double speed) const noexcept;
  void learn() noexcept;
  void solve(Fit& fit, std::size_t horizon) const noexcept;
  static std::array<Vec3d, k_terms> terms(const Estimate& from, double ahead) noexcept;

  Settings settings_;
  double jitter_ = 0;
  double drive_;  // q
  std::size_t order_;
  Estimate now_;
  std::array<std::array<double, k_parts>, k_parts> covariance_{};
  std::array<Estimate, k_history> past_{};
  std::array<double, k_history> lengths_{};  // of steps
  double fastest_ = 0;
  std::size_t seen_ = 0;  // steps
  std::array<std::array<Fit, k_horizons>, k_classes> fits_{};
};

}  // namespace cotouch
