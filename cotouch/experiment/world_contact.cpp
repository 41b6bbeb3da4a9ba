// Two measurements of the experiment `world` that are about contact itself.
#include <cotouch/base/parallel.h>
#include <cotouch/base/random.h>
#include <cotouch/experiment/world_measures.h>
#include <cotouch/experiment/world_scenes.h>
#include <cotouch/part/cache.h>
#include <cotouch/shapes/blocks.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace cotouch {

void measure_flat(const ExperimentOptions& options, ExperimentReport& report) {
  options.progress->update("Pressing a flat face", 0);
  constexpr double k_side = 0.04, k_height = 0.02;
  PartSettings settings;
  settings.field.resolution = 128;
  settings.shell.points = 16384;
  settings.shell.seed = options.seed;
  const Part box = prepare_cached(make_block({k_side, k_side, k_height}, 0.001), settings, *options.progress);
  settings.shell.points = 1024;
  const Part plate = prepare_cached(make_plate(), settings, *options.progress);
  PressedShell flat(box, plate);
  const double k = flat.engine().settings().stiffness, promised = flat.engine().largest_stiffness();

  // Straight down: proportional to depth, with the stiffness of so many points.
  const double touch = flat.touching_height({}, k_height / 4, k_height);
  double error = 0;
  constexpr double k_deepest = 1e-4;
  const double full = flat.at({{0, 0, touch - k_deepest}, {}}).on_shell.wrench.force.z;
  const double points = flat.at({{0, 0, touch - k_deepest}, {}}).stats.in_contact;
  for (int i = 1; i <= 100; ++i) {
    const double share = i / 100.0;
    const double force = flat.at({{0, 0, touch - share * k_deepest}, {}}).on_shell.wrench.force.z;
    error = std::max(error, std::fabs(force / full - share));
  }

  // Any small tilt and depth. The smallest depth is a few roundings of the field's own numbers.
  Random random(options.seed);
  double largest = 0;
  for (int i = 0; i < (options.quick ? 50 : 1000); ++i) {
    const Vec3d axis = random.direction();
    const double tilt = random.uniform(), less = random.uniform();
    const Quat turn = quat_from_rotation_vector(axis * (0.05 * tilt * less));
    const double height = flat.touching_height(turn, k_height / 4, k_height);
    const double depth = 2e-6 + random.uniform() * random.uniform() * 5e-4;
    largest = std::max(largest, largest_eigenvalue(flat.stiffness({{0, 0, height - depth}, turn}, 1e-7)));
  }
  report.add("flat/stiffness-ratio", largest / promised, "largest found over promised");
  report.add("flat/stiffness-of-points", full / k_deepest / (k * std::sqrt(std::sqrt(points))), "over k n^(1/4)");
  report.add("flat/largest-of-points", largest / (k * std::sqrt(std::sqrt(points))), "over k n^(1/4)");
  report.add("flat/linear-error", error, "of the force at 0.1 mm");
  report.add("flat/promised-n-per-m", promised, "N/m");
  report.notes.push_back(fmt::format(
      "flat: a face of 40 x 40 mm, {:.0f} of {} points on it, on a plate; the largest eigenvalue of the force's change "
      "with straight motions, by differences, over random tilts up to 0.05 rad and depths up to 0.5 mm.",
      points, box.shell.point_count()));
}

void measure_thin(const ExperimentOptions& options, ExperimentReport& report) {
  const std::size_t count = options.quick ? 2 : 12;
  Random random(options.seed);
  std::vector<Scene> scenes;
  for (std::size_t i = 0; i < count; ++i) {
    options.progress->update("Preparing engine bays", static_cast<double>(i) / static_cast<double>(count));
    Scene scene = builtin_scene("engine-bay");
    PartSettings &bay = scene.bodies[0].parts[0].settings, &bracket = scene.bodies[1].parts[0].settings;
    bay.field.resolution = 88 + static_cast<int>(random.below(48));
    bay.shell.points = 16384U << random.below(options.quick ? 1 : 4);
    bay.shell.seed = random.below(1000);
    bracket.field.resolution = 64 + static_cast<int>(random.below(48));
    prepare(scene, *options.progress);
    scenes.push_back(std::move(scene));
  }

  // A hand without damping of its own, and one with.
  std::vector<StabilityOutcome> outcomes(count * 2);
  std::vector<double> cells(count * 2);
  std::mutex progress_mutex;
  std::size_t done = 0;
  parallel_for(outcomes.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Scene& scene = scenes[i / 2];
      StabilityTrial trial;
      trial.model = make_model(scene);
      const HandScript& script = scene.scripts.front();
      trial.body = script.body;
      trial.keys = script.keys;
      trial.speed = script.speed;
      trial.budget = WorkBudget::of(4000);
      trial.device.substeps = 10;
      const ContactEngine& engine = trial.model->engine(trial.model->pairs().front());
      if (i % 2 == 0) trial.arm.damping = trial.arm.angular_damping = 0;
      outcomes[i] = try_stability(trial);
      cells[i] = engine.extent().finest_feature;
      const std::scoped_lock lock(progress_mutex);
      options.progress->update("Feeling engine bays", static_cast<double>(++done) / static_cast<double>(count * 2));
    }
  });
  report_thin(outcomes, cells, report);
  report.notes.push_back(fmt::format(
      "thin: {} discretisations of engine-bay drawn by the seed, each felt by a hand without and one with damping; the "
      "worst of all. The encoder's rounding alone explains {:.2g} J.",
      count, outcomes.front().rounding_energy));
}

}  // namespace cotouch
