// A body that bends in linear modes, is warped (warp.h), and is held at any number of points (Tang et al., paper 000,
// section 4).
//
// The coordinates are mass-orthonormal and their stiffness diagonal, so with Rayleigh's damping C = a + b K
//   q'' + C q' + K q = load + J' f,
// where every held point adds three rows to J, the exact derivative of its warped displacement u(q), and its force on
// the body to f: a Lagrange multiplier, newtons. Newmark's rule with beta = 1/4 and gamma = 1/2, in the mean velocity w
// of the step h (stvk_step.h has the same):
//   q+ = q + h w,   A w = v + h/2 (load - K q + J' f),   A = 1 + h/2 C + h^2/4 K   (diagonal).
// Held points are to be at their targets c at the end of the step, u(q) + h J w = c. Without their forces w would be
// w~, so (the paper's (4), with the predicted displacement u + h J w~ for its J q~)
//   G f = c - u(q) - h J w~,   G = h^2/2 J A^-1 J'.
// At rest that leaves K q = J' f: f is the static reaction to a held displacement.
//
// G is singular if points are held twice, or in ways in which the body does not bend. Then f is the shortest of all
// that bring the points as near to their targets as possible, by least squares: two hands at one point share its force,
// and if they disagree it goes half way. What is more than a million times stiffer than the softest held direction
// counts as singular.
//
// The constraint's linear form is good for small ways only. If a target is farther away than a hand goes in a step, all
// of them are approached in several: c - u is made smaller by one factor for all, which leaves the place of rest the
// same.
//
// Newmark's rule alone would have v+ = 2 w - v: a point that is stopped by its constraint would have its velocity
// reversed in every step, and the force with it, for ever. Held directions take the mean velocity instead,
//   v+ = 2 w - v - P (w - v),   P = J' (J J')^+ J,
// which takes energy off and never adds any if the points are held still.
#pragma once

#include <cotouch/base/pose.h>
#include <cotouch/elastic/deformation.h>
#include <cotouch/elastic/elastic_model.h>
#include <cotouch/elastic/semidefinite.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cotouch {

// A point that is to be somewhere.
struct HeldPoint {
  EmbeddedPoint point;
  Vec3d displacement;  // from its place at rest, metres
};

class ModalBody {
 public:
  struct Settings {
    double time_step = 1e-3;        // h, s
    std::uint32_t most_holds = 16;  // at once
    double fastest = 2;             // m/s: no target farther away than this is approached faster
  };

  // Keeps a reference to the model. Throws Error if its law is not `warped` or a setting makes no sense.
  ModalBody(const ElasticModel& model, const Settings& settings);

  std::span<const double> q() const noexcept { return q_; }  // sqrt(kg) m
  std::span<const double> v() const noexcept { return v_; }  // sqrt(kg) m/s
  // Numbers that are not finite count as zero.
  void set(std::span<const double> q, std::span<const double> v) noexcept;

  // The shape at q: tells where points are and turns forces at points into loads (Deformation::add_gradient).
  Deformation& shape() noexcept { return shape_; }

  // One step. `load`: the force on each coordinate, N / sqrt(kg). `forces`: what each held point's constraint does to
  // the body, newtons; the hand there feels the opposite. Returns false and changes nothing (forces are zero) if there
  // are more than `most_holds`, or if loads or targets make the motion too violent to be computed (not finite).
  // Does not allocate.
  bool step(std::span<const double> load, std::span<const HeldPoint> holds, std::span<Vec3d> forces) noexcept;

  double energy() const noexcept;  // kinetic and elastic, J

 private:
  void add_rows_of(std::span<const HeldPoint> holds) noexcept;

  const ElasticModel* model_;
  Settings settings_;
  Deformation shape_;
  std::vector<double> q_, v_;
  std::vector<double> inverse_;  // 1 / A
  std::vector<double> mean_;     // w
  std::vector<double> rows_;     // J
  std::vector<double> small_;    // G, then J J'
  std::vector<double> forces_, slip_;
  SemidefiniteSolver solver_;
};

}  // namespace cotouch
