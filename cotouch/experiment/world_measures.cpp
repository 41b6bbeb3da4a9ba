#include <cotouch/experiment/world_measures.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_moving = 0.01;  // m/s

void run(const WorldModel& model, WorldState& state, StepScratch& scratch, double seconds) {
  const auto steps = std::lround(seconds / model.settings().tick);
  for (long i = 0; i < steps; ++i) step(model, state, {}, scratch);
}

// Where a pendulum's swing crosses its rest, by linear interpolation between steps.
class Crossings {
 public:
  void add(double time, double value) {
    if (any_ && value_ < 0 && value >= 0) times_.push_back(time_ + (time - time_) * -value_ / (value - value_));
    any_ = true;
    time_ = time;
    value_ = value;
  }
  double period() const {
    return times_.size() < 2 ? 0 : (times_.back() - times_.front()) / static_cast<double>(times_.size() - 1);
  }

 private:
  bool any_ = false;
  double time_ = 0, value_ = 0;
  std::vector<double> times_;
};

}  // namespace

double drift(const WorldModel& model, const WorldState& before, const WorldState& after) {
  double farthest = 0;
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    const Pose &a = before.bodies()[i].pose, &b = after.bodies()[i].pose;
    const double turn = norm(rotation_vector(b.rotation * a.rotation.conjugate()));
    farthest = std::max(farthest, norm(b.position - a.position) + turn * model.reach(static_cast<std::uint32_t>(i)));
  }
  return farthest;
}

AtRest watch_at_rest(const WorldModel& model, double settle, double seconds) {
  WorldState state(model);
  StepScratch scratch(model);
  run(model, state, scratch, settle);
  const WorldState settled = state;
  run(model, state, scratch, seconds);
  return {drift(model, settled, state), energy(model, state).kinetic, static_cast<double>(scratch.stats().deepest)};
}

Collisions watch_collisions(const WorldModel& model, double seconds) {
  WorldState state(model);
  StepScratch scratch(model);
  const Vec3d momentum_before = momentum(model, state);
  const double energy_before = energy(model, state).kinetic;
  run(model, state, scratch, seconds);
  Collisions seen;
  seen.momentum_error = norm(momentum(model, state) - momentum_before) / norm(momentum_before);
  seen.energy_left = energy(model, state).kinetic / energy_before;
  for (const BodyRecord& body : state.bodies()) seen.moving += norm(body.velocity) > k_moving ? 1U : 0U;
  return seen;
}

double swing_period(const WorldModel& model, double seconds) {
  WorldState state(model);
  StepScratch scratch(model);
  HandInput hand;
  hand.present = true;
  hand.action = HandInput::Action::grasp;
  hand.body = model.bodies().front().id;
  const double tick = model.settings().tick;
  Crossings crossings;
  for (long i = 0; i < std::lround(seconds / tick); ++i) {
    step(model, state, {&hand, 1}, scratch);
    hand.action = HandInput::Action::none;
    crossings.add(static_cast<double>(i) * tick, transform(state.bodies()[0].pose, model.bodies()[0].mass.center).x);
  }
  return crossings.period();
}

double worst_energy_error(const WorldModel& model, double seconds) {
  WorldState state(model);
  StepScratch scratch(model);
  const double before = energy(model, state).kinetic;
  double worst = 0;
  for (long i = 0; i < std::lround(seconds / model.settings().tick); ++i) {
    step(model, state, {}, scratch);
    worst = std::max(worst, std::fabs(energy(model, state).kinetic / before - 1));
  }
  return worst;
}

double largest_eigenvalue(const Mat3& m) {
  const double mean = (m(0, 0) + m(1, 1) + m(2, 2)) / 3;
  const Mat3 b = m - Mat3::identity() * mean;
  double square = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) square += b(i, j) * b(i, j);
  const double size = std::sqrt(square / 6);
  if (!(size > 0)) return mean;
  const double det = b(0, 0) * (b(1, 1) * b(2, 2) - b(1, 2) * b(2, 1)) -
                     b(0, 1) * (b(1, 0) * b(2, 2) - b(1, 2) * b(2, 0)) +
                     b(0, 2) * (b(1, 0) * b(2, 1) - b(1, 1) * b(2, 0));
  const double angle = std::acos(std::clamp(det / (2 * size * size * size), -1.0, 1.0)) / 3;
  return mean + 2 * size * std::cos(angle);
}

PressedShell::PressedShell(const Part& shell, const Part& field)
    : engine_(default_engine_kind().make(shell, field, {})), workspace_(engine_->make_workspace()) {
}

const PairContact& PressedShell::at(const Pose& shell) {
  engine_->evaluate({{shell}, {}}, Detail::everything(), *workspace_, nullptr, contact_);
  return contact_;
}

double PressedShell::touching_height(const Quat& turn, double low, double high) {
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (at({{0, 0, middle}, turn}).stats.in_contact > 0 ? low : high) = middle;
  }
  return low;
}

Mat3 PressedShell::stiffness(const Pose& pose, double step) {
  Mat3 slope;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Vec3d by;
    by[axis] = step;
    const Vec3d ahead = at({pose.position + by, pose.rotation}).on_shell.wrench.force;
    const Vec3d behind = at({pose.position - by, pose.rotation}).on_shell.wrench.force;
    const Vec3d change = (behind - ahead) / (2 * step);
    for (std::size_t row = 0; row < 3; ++row) slope(row, axis) = change[row];
  }
  return (slope + slope.transposed()) * 0.5;
}

void report_thin(std::span<const StabilityOutcome> outcomes, std::span<const double> cells, ExperimentReport& report) {
  double depth = 0, energy = 0, certain = 0;
  std::size_t unstable = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    depth = std::max(depth, outcomes[i].deepest / cells[i]);
    energy = std::max(energy, outcomes[i].touching_energy);
    certain = std::max(certain, outcomes[i].energy_created);
    unstable += outcomes[i].stable ? 0U : 1U;
  }
  report.add("thin/depth-cells", depth, "cells, the deepest of all");
  report.add("thin/energy-joule", energy, "J, created while touching");
  report.add("thin/energy-certain-joule", certain, "J, since last free");
  report.add("thin/unstable", static_cast<double>(unstable), fmt::format("of {} trials", outcomes.size()));
}

}  // namespace cotouch
