// How stiff may the coupling be? A simulated device and hand press into and slide along every built-in scene while the
// stiffness goes up until something starts to shake, and the last calm stiffness is held against Colgate's limit.
#include <cotouch/app/experiment.h>
#include <cotouch/app/plot.h>
#include <cotouch/base/parallel.h>
#include <cotouch/contact/cache.h>
#include <cotouch/contact/nested.h>
#include <cotouch/touch/stability.h>
#include <cotouch/world/scene.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

namespace cotouch {
namespace {

struct Hand {
  std::string name;
  ArmImpedance arm;
};

// An arm of this stiffness; rotation gets the same at a lever of 7 cm. A damping ratio of zero is the worst hand there
// is for a passive device: it gives back everything.
Hand make_hand(std::string name, double stiffness, double damping_ratio) {
  const DeviceDynamics device;
  ArmImpedance arm;
  arm.stiffness = stiffness;
  arm.angular_stiffness = stiffness * 0.005;
  arm.damping = 2 * damping_ratio * std::sqrt(stiffness * (arm.mass + device.mass));
  arm.angular_damping = 2 * damping_ratio * std::sqrt(arm.angular_stiffness * (arm.inertia + device.inertia));
  return {std::move(name), arm};
}

std::vector<Hand> hands(bool quick) {
  if (quick) return {make_hand("medium, undamped", 400, 0), make_hand("medium", 400, 0.2)};
  return {make_hand("light, undamped", 50, 0),  make_hand("medium, undamped", 400, 0),
          make_hand("firm, undamped", 1500, 0), make_hand("light", 50, 0.2),
          make_hand("medium", 400, 0.2),        make_hand("firm", 1500, 0.2)};
}

std::vector<double> shares(bool quick) {
  if (quick) return {0.5, 0.8, 1.0, 1.4, 2.0};
  return {0.25, 0.5, 0.65, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0, 2.3, 2.6, 3.0, 3.5, 4.0};
}

// The one environment the theory speaks about: a rigid wall at z = 0 that touches the object in its position. It shows
// that the judgement is neither blind nor too strict; no scene is as stiff.
class RigidWall final : public ContactEngine {
 public:
  void evaluate(const Pose& shell, const Pose&, Moving, ContactResult& result) noexcept override {
    result = {};
    if (shell.position.z >= 0) return;
    result.wrench.force.z = -k_stiffness * shell.position.z;
    result.gradient.force_linear(2, 2) = -k_stiffness;
    result.stats.in_contact = 1;
  }
  std::span<const ContactPoint> contacts() const noexcept override { return {}; }
  void reset() noexcept override {}

 private:
  static constexpr double k_stiffness = 1e7;  // N/m
};

// One scene's way up.
struct Ascent {
  std::string scene;
  std::vector<double> share, rest_speed, slide_speed;  // worst over hands, up to and including the first unstable one
  double largest_stable = 0;                           // share of the limit
  std::string ended_by;                                // the hand that shook, empty where none did
  double energy_created = 0;                           // at the default setting, worst over hands
  std::uint64_t touching = 0;                          // cycles with contact at the default setting
};

StabilityTrial trial_of(const SceneDescription& scene, const Hand& hand) {
  StabilityTrial trial;
  trial.keys = scene.hand;
  trial.speed = scene.hand_speed;
  trial.other = scene.static_pose;
  trial.arm = hand.arm;
  trial.object.moving = scene.moving;
  return trial;
}

// The work a cycle may take, in nodes, so that the whole sweep ends in minutes; a count, so that it is reproducible.
constexpr std::uint32_t k_nodes = 4000;

Ascent climb(const SceneDescription& scene, ContactEngine& engine, const ExperimentOptions& options,
             const std::function<void()>& done_one) {
  Ascent ascent;
  ascent.scene = scene.name;
  for (const Hand& hand : hands(options.quick)) {
    const StabilityOutcome outcome = try_stability(engine, trial_of(scene, hand));
    ascent.energy_created = std::max(ascent.energy_created, outcome.energy_created);
    ascent.touching = std::max(ascent.touching, outcome.touching);
  }
  for (const double share : shares(options.quick)) {
    double rest = 0, slide = 0;
    for (const Hand& hand : hands(options.quick)) {
      StabilityTrial trial = trial_of(scene, hand);
      trial.object.coupling.linear_stiffness = share * trial.device.passive_stiffness();
      trial.object.coupling.angular_stiffness = share * trial.device.passive_angular_stiffness();
      const StabilityOutcome outcome = try_stability(engine, trial);
      rest = std::max(rest, outcome.rest_speed);
      slide = std::max(slide, outcome.slide_speed);
      if (!outcome.stable && ascent.ended_by.empty()) ascent.ended_by = hand.name;
    }
    ascent.share.push_back(share);
    ascent.rest_speed.push_back(rest);
    ascent.slide_speed.push_back(slide);
    done_one();
    if (!ascent.ended_by.empty()) break;
    ascent.largest_stable = share;
  }
  return ascent;
}

Ascent climb_scene(const std::string& name, const ExperimentOptions& options, const std::function<void()>& done_one) {
  const SceneDescription scene = builtin_scene(name);
  NoProgress quiet;
  const Part shell_part = prepare_cached(scene.shell_mesh, scene.shell_settings, quiet);
  const Part field_part = prepare_cached(scene.field_mesh, scene.field_settings, quiet);
  NestedContact engine(shell_part.shell, field_part.field, {}, WorkBudget::of(k_nodes));
  return climb(scene, engine, options, done_one);
}

Ascent climb_wall(const ExperimentOptions& options) {
  SceneDescription scene;
  scene.name = "rigid-wall";
  scene.moving = Moving::shell;
  scene.hand = {{{0, 0, 0.005}, {}}, {{0, 0, -0.01}, {}}, {{0.05, 0, -0.01}, {}}, {{0.05, 0, 0.005}, {}}};
  RigidWall wall;
  return climb(scene, wall, options, [] {});
}

std::filesystem::path draw(const std::vector<Ascent>& ascents, const ExperimentOptions& options) {
  Plot plot;
  plot.title = "Motion of the handle while the hand rests in contact";
  plot.x_label = "coupling stiffness over Colgate's limit";
  plot.panels.resize(2);
  PlotPanel& rest = plot.panels[0];
  PlotPanel& slide = plot.panels[1];
  rest.y_label = "at rest (mm/s)";
  rest.thresholds.push_back({"calm", StabilityTrial{}.calm_speed * 1e3});
  slide.y_label = "above 10 Hz, moving (mm/s)";
  for (const Ascent& ascent : ascents)
    for (PlotPanel* panel : {&rest, &slide}) {
      PlotSeries series{ascent.scene, ascent.share, panel == &rest ? ascent.rest_speed : ascent.slide_speed,
                        PlotSeries::Style::line_and_points};
      for (double& speed : series.y) speed *= 1e3;
      panel->series.push_back(std::move(series));
    }
  const std::filesystem::path file = options.folder / "stability.svg";
  write_svg(plot, file);
  return file;
}

}  // namespace

ExperimentReport run_stability(const ExperimentOptions& options) {
  const std::vector<std::string> names = builtin_scene_names();
  // Parts first: preparing them uses all cores by itself and has its own progress.
  for (const std::string& name : names) {
    const SceneDescription scene = builtin_scene(name);
    prepare_cached(scene.shell_mesh, scene.shell_settings, *options.progress);
    prepare_cached(scene.field_mesh, scene.field_settings, *options.progress);
  }

  std::vector<Ascent> ascents(names.size());
  std::mutex progress_mutex;
  std::size_t done = 0;
  const std::size_t steps = names.size() * shares(options.quick).size();
  parallel_for(names.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      ascents[i] = climb_scene(names[i], options, [&] {
        const std::scoped_lock lock(progress_mutex);
        ++done;
        options.progress->update("Pressing and sliding", static_cast<double>(done) / static_cast<double>(steps));
      });
  });

  const StabilityTrial standard;
  const DeviceDynamics& device = standard.device;
  const double theory = device.passive_stiffness();
  double share = shares(options.quick).back(), energy = 0;
  ExperimentReport report;
  for (const Ascent& ascent : ascents) {
    share = std::min(share, ascent.largest_stable);
    energy = std::max(energy, ascent.energy_created);
    report.add(ascent.scene + "/max-stable-n-per-m", ascent.largest_stable * theory, "N/m");
    if (ascent.touching == 0) report.notes.push_back("The hand never touched anything in " + ascent.scene + ".");
  }
  const ContactSettings contact;
  const double felt = 1 / (1 / (share * theory) + 1 / (contact.stiffness * contact.scaling_threshold));
  report.add("stability/max-stable-n-per-m", share * theory, "N/m");
  report.add("stability/theory-n-per-m", theory, "N/m");
  report.add("stability/share-of-theory", share, "");
  report.add("stability/felt-n-per-m", felt, "N/m");
  report.add("stability/energy-created-joule", energy, "J");

  // Drawn beside the scenes, but not one of them.
  ascents.push_back(climb_wall(options));
  report.add("rigid-wall/max-stable-n-per-m", ascents.back().largest_stable * theory, "N/m");
  report.figures.push_back(draw(ascents, options));

  report.notes.push_back(fmt::format(
      "Device: {} kg, {} N s/m (assumed; the makers publish none), {} N friction, {:.2g} mm encoder steps, sampled "
      "every {:.3g} ms, {:.2g} ms from encoder to motor. Rotation: {} kg m2, {} N m s/rad, {} N m, {} rad.",
      device.mass, device.damping, device.friction, device.resolution * 1e3, device.period * 1e3, device.delay * 1e3,
      device.inertia, device.angular_damping, device.angular_friction, device.angular_resolution));
  report.notes.push_back(fmt::format(
      "Theory: b / (T/2 + delay) for a device that is passive whoever holds it (Colgate & Schenkel 1997). The angular "
      "stiffness is kept at the same share of its own limit, {:.3g} N m/rad.",
      device.passive_angular_stiffness()));
  report.notes.push_back(fmt::format(
      "Stable: at the end of every rest the handle moves slower than {} mm/s and not ever faster; on the way a damped "
      "hand is not shaken lastingly (median over tenths of a second, above 10 Hz) by more than half of the path's "
      "speed, "
      "or than it could bounce where contact is made or lost; no energy is created. A part that snaps past an edge "
      "throws the hand once, which is not counted; an undamped hand then rings by itself and is judged at rest only.",
      standard.calm_speed * 1e3));
  std::string hand_list;
  for (const Hand& hand : hands(options.quick))
    hand_list += fmt::format("{}{} ({:.0f} N/m, {:.2g} N s/m)", hand_list.empty() ? "" : "; ", hand.name,
                             hand.arm.stiffness, hand.arm.damping);
  report.notes.push_back("Hands: " + hand_list + fmt::format(". Each moves {} kg of its own.", ArmImpedance{}.mass));
  for (const Ascent& ascent : ascents)
    report.notes.push_back(ascent.ended_by.empty() ? fmt::format("{}: calm up to the end of the sweep.", ascent.scene)
                                                   : fmt::format("{}: the hand '{}' shook at {:.3g} of the limit.",
                                                                 ascent.scene, ascent.ended_by, ascent.share.back()));
  report.notes.push_back(
      "The rigid wall is the environment of the theory and checks the judgement; scenes are softer. Felt: in series "
      "with the contact's own stiffness k_C L. Energy created: the most the hand ever got back beyond "
      "what it put in, at the default coupling, over all scenes and hands, "
      "zero where it never did.");
  return report;
}

}  // namespace cotouch
