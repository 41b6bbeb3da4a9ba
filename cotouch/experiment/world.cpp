// A world of many bodies: does what rests stay at rest, is what physics conserves conserved, is contact as stiff and as
// shallow as promised, and what does a step cost?
#include <cotouch/base/realtime.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/world_measures.h>
#include <cotouch/experiment/world_scenes.h>

#include <cotouch/base/trig.h>
#include <cotouch/experiment/inputs.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace cotouch {
namespace {

constexpr double k_tick = 0.01;  // seconds, as in a shared world

void measure_stack(const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Stacking blocks", 0);
  const auto model = make_model(stack_world(*options.progress), {k_tick, 0, {}});
  const AtRest stack = watch_at_rest(*model, 5, options.quick ? 2 : 10);
  report.add("stack/drift-mm", stack.drift * 1e3, "mm");
  report.add("stack/energy-joule", stack.kinetic, "J");
  report.add("stack/deepest-mm", stack.deepest * 1e3, "mm");
  report.notes.push_back(
      fmt::format("stack: {} blocks on a plate, settled for 5 s, then watched for {} s at ticks of 10 ms; drift counts "
                  "turning with "
                  "each block's reach.",
                  model->bodies().size() - 1, options.quick ? 2 : 10));
}

void measure_billiard(const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Breaking a triangle of balls", 0);
  const auto model = make_model(billiard_world(*options.progress), {k_tick, 0, {}});
  const Collisions balls = watch_collisions(*model, options.quick ? 0.5 : 1);
  report.add("billiard/momentum-error", balls.momentum_error, "relative");
  report.add("billiard/energy-left", balls.energy_left, "share");
  report.add("billiard/moving", static_cast<double>(balls.moving), fmt::format("balls of {}", model->bodies().size()));
}

void measure_pendulum(const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Swinging a pendulum", 0);
  constexpr double k_amplitude = 0.1;  // radians
  const Pendulum pendulum = pendulum_world(k_amplitude, *options.progress);
  const auto model = make_model(pendulum.scene, {1e-3, 1, {}});
  const double period = swing_period(*model, options.quick ? 3 : 10);
  // The amplitude fades a little on the way, which matters by less than its own correction.
  const double correction = 1 + k_amplitude * k_amplitude / 16;
  const double theory = 2 * k_pi * std::sqrt(pendulum.inertia / pendulum.stiffness) * correction;
  report.add("pendulum/period-error-percent", std::fabs(period / theory - 1) * 100, "%");
  report.notes.push_back(
      fmt::format("pendulum: a bar with its mass hangs from a hand at its end, steps of 1 ms; theory 2 pi sqrt((I + m "
                  "l^2) / (m g l "
                  "+ k)) = {:.4f} s with the grasp's own angular stiffness k and the correction for {} rad.",
                  theory, k_amplitude));
}

void measure_spin(const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Tumbling", 0);
  const auto model = make_model(tumbling_world(*options.progress), {k_tick, 0, {}});
  report.add("spin/energy-error-percent", worst_energy_error(*model, 10) * 100, "%");
  report.notes.push_back("spin: three unequal moments, begun near the middle axis so that it tumbles; 10 s at 10 ms.");
}

void measure_docking(const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Docking", 0);
  const Docking docking = docking_world(*options.progress);
  const auto model = make_model(docking.scene, {k_tick, 2, WorkBudget::of(docking.nodes)});
  WorldState state(*model);
  StepScratch scratch(*model);
  // Two hands push the box in, and on against the stop, until it stands there.
  std::vector<HandInput> hands = docking.hands;
  const auto lead = [&](int steps, double speed) {
    for (int i = 0; i < steps; ++i) {
      for (HandInput& hand : hands) hand.pose.position.x -= speed * k_tick;
      step(*model, state, hands, scratch);
      for (HandInput& hand : hands) hand.action = HandInput::Action::none;
    }
  };
  lead(docking.steps, docking.speed);
  const std::vector<std::byte> snapshot(state.bytes().begin(), state.bytes().end());
  const std::vector<HandInput> hands_then = hands;
  std::vector<double> times;
  std::uint32_t touching = 0, visited = 0, substeps = 0;
  for (int i = 0; i < (options.quick ? 5 : 101); ++i) {
    state.restore(snapshot);
    hands = hands_then;
    const std::int64_t start = processor_ns();
    lead(64, 0.02);
    times.push_back(static_cast<double>(processor_ns() - start) * 1e-6);
    touching = scratch.stats().in_contact;
    visited = scratch.stats().visited;
    substeps = scratch.substeps();
  }
  report.add("docking/steps-64-ms", median(times), "ms");
  report.add("docking/steps-64-p99-ms", percentile(times, 0.99), "ms");
  report.notes.push_back(fmt::format(
      "docking: 64 steps of 10 ms after restore, two hands pushing the box into its rails; at the end {} points touch, "
      "{} nodes visited in each of {} substeps, at most {} nodes by the scene's budget. Processor time of one core.",
      touching, visited, substeps, docking.nodes));
}

void measure_blocks(const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Dropping blocks", 0);
  const auto model = make_model(many_blocks_world(options.quick ? 20 : 100, *options.progress), {k_tick, 0, {}});
  WorldState state(*model);
  StepScratch scratch(*model);
  std::vector<double> times;
  for (int i = 0; i < (options.quick ? 100 : 500); ++i) {
    const std::int64_t start = processor_ns();
    step(*model, state, {}, scratch);
    times.push_back(static_cast<double>(processor_ns() - start) * 1e-6);
  }
  const std::string row = fmt::format("blocks-{}/", model->bodies().size() - 1);
  const std::span<const double> falling = std::span(times).first(std::min<std::size_t>(100, times.size()));
  const double mean = std::accumulate(falling.begin(), falling.end(), 0.0) / static_cast<double>(falling.size());
  report.add(row + "coming-to-rest-ms", mean, "ms a step, mean of the first second");
  report.add(row + "real-time", std::all_of(times.begin(), times.end(), [](double t) { return t <= 10; }) ? 1 : 0,
             "1: every step within its 10 ms");
  report.add(row + "worst-ms", *std::max_element(times.begin(), times.end()), "ms, the longest step");
  report.add(row + "step-ms", median(times), "ms, median of 5 s");
  report.add(row + "energy-joule", energy(*model, state).kinetic, "J after the last step");
}

}  // namespace

void measure_bodies(const ExperimentOptions& options, ExperimentReport& report) {
  measure_stack(options, report);
  measure_billiard(options, report);
  measure_pendulum(options, report);
  measure_spin(options, report);
  measure_docking(options, report);
  measure_flat(options, report);
  measure_blocks(options, report);
}

ExperimentReport run_world(const ExperimentOptions& options) {
  ExperimentReport report;
  measure_bodies(options, report);
  measure_thin(options, report);
  return report;
}

}  // namespace cotouch
