// How stiff may the coupling be? A simulated device and hands of several kinds press into, slide along and tap every
// built-in scene of two parts while the stiffness goes up until something starts to shake or energy appears, and the
// last calm stiffness is held against what theory allows: with viscous damping alone, and with friction. At the default
// stiffness they do so in every built-in scene, for energy created and depth, and once more with a device that has no
// viscous damping.
#include <cotouch/base/parallel.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/experiment/stability_climb.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>

namespace cotouch {
namespace {

// N, for ever, as the maker rates the Premium 1.5; its peak of 8.5 N is the limit that trials run with.
constexpr double k_continuous_force = 1.4;

// The last ascent is the wall's. It has a panel of its own: what it does above the limit would dwarf the scenes.
std::filesystem::path draw(const std::vector<Ascent>& ascents, const ExperimentOptions& options) {
  constexpr auto k_style = PlotSeries::Style::line_and_points;
  const PlotThreshold calm{"calm", StabilityTrial{}.calm_speed * 1e3};
  PlotPanel rest, slide, wall;
  rest.y_label = "at rest (mm/s)";
  rest.thresholds.push_back(calm);
  slide.y_label = "sliding, of what is allowed";
  slide.thresholds.push_back({"twice the calm twin", 1});
  wall.y_label = "at rest, wall (mm/s)";
  wall.thresholds.push_back(calm);
  for (const Ascent& ascent : std::span(ascents).first(ascents.size() - 1)) {
    rest.series.push_back({ascent.scene, ascent.share, ascent.rest_speed, k_style});
    slide.series.push_back({"", ascent.share, ascent.shaking, k_style});  // the legend above serves both
  }
  wall.series.push_back({ascents.back().scene, ascents.back().share, ascents.back().rest_speed, k_style});

  Plot plot;
  plot.title = "Motion of the handle, the worst hand of each scene";
  plot.x_label = "coupling stiffness over Colgate's limit";
  plot.width = 880;
  plot.panels = {std::move(rest), std::move(slide), std::move(wall)};
  std::filesystem::path file = options.folder / "stability.svg";
  write_svg(plot, file);
  return file;
}

// Of outcomes at the default coupling, each number at its worst.
StabilityOutcome worst_of(std::span<const Climb> climbs) {
  StabilityOutcome worst;
  worst.stable = true;
  for (const Climb& climb : climbs) {
    const StabilityOutcome& outcome = climb.standard;
    worst.stable = worst.stable && outcome.stable;
    worst.rounding_energy = outcome.rounding_energy;  // the same for all hands
    worst.sampling_energy = std::max(worst.sampling_energy, outcome.sampling_energy);
    worst.energy_created = std::max(worst.energy_created, outcome.energy_created);
    worst.energy_unseen = std::max(worst.energy_unseen, outcome.energy_unseen);
    worst.touching_energy = std::max(worst.touching_energy, outcome.touching_energy);
    worst.deepest = std::max(worst.deepest, outcome.deepest);
    worst.depth_cells = std::max(worst.depth_cells, outcome.depth_cells);
    worst.largest_force = std::max(worst.largest_force, outcome.largest_force);
    worst.rms_force = std::max(worst.rms_force, outcome.rms_force);
    worst.touching += outcome.touching;
    if (outcome.environment_energy <= worst.environment_energy) continue;
    worst.environment_energy = outcome.environment_energy;
    worst.device_absorbed = outcome.device_absorbed;
  }
  return worst;
}

// At the default coupling, scene by scene: the worst of all hands, and what a hand that does not give way gets to.
void add_scenes(ExperimentReport& report, std::span<const Climb> climbs, std::span<const TouchedScene> scenes,
                std::span<const Pressed> pressed) {
  const std::size_t hands_each = climbs.size() / scenes.size();
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    const std::string& name = scenes[i].name;
    const std::span<const Climb> here = climbs.subspan(i * hands_each, hands_each);
    const StabilityOutcome worst = worst_of(here);
    report.add(name + "/energy-created-touching-joule", worst.touching_energy, "J");
    report.add(name + "/depth-cells", worst.depth_cells,
               fmt::format("cells, {:.2g} mm at up to {:.2g} N", worst.deepest * 1e3, worst.largest_force));
    report.add(name + "/pressed-depth-cells", pressed[i].cells,
               fmt::format("cells, {:.2g} mm at {:.2g} N", pressed[i].deepest * 1e3, pressed[i].force));
    if (worst.touching == 0) report.notes.push_back("No hand ever touched anything in " + name + ".");
    if (scenes[i].theory_holds) continue;
    std::string calm = "calm";
    for (const Climb& climb : here)
      if (!climb.standard.stable) calm = "not calm, a hand " + why_unstable(climb.standard);
    report.notes.push_back(name + ": " + calm + " at the default coupling. No stiffer one was tried.");
  }
  report.notes.push_back(
      "Pressed: a hand that does not give way is led along the same path and pushes 20 mm farther at its keys, until "
      "the coupling gives no more than its largest force.");
}

// At the default coupling, over all scenes and hands.
void add_energies(ExperimentReport& report, std::span<const Climb> climbs) {
  const StabilityOutcome worst = worst_of(climbs);
  report.add("stability/energy-created-joule", worst.energy_created, "J");
  report.add("stability/energy-rounding-joule", worst.rounding_energy, "J");
  report.add("stability/energy-sampling-joule", worst.sampling_energy, "J, of the fastest hand");
  report.add("stability/energy-unseen-joule", worst.energy_unseen, "J");
  report.add("stability/energy-created-touching-joule", worst.touching_energy, "J");
  report.add("stability/environment-energy-joule", worst.environment_energy, "J");
  report.add("stability/device-absorbed-joule", worst.device_absorbed, "J");
  report.add("stability/force-rms-n", worst.rms_force,
             fmt::format("N while touching, the worst hand; {} N can be given for ever", k_continuous_force));
  report.notes.push_back(
      "Energy created: the most that device, coupling and contact together ever gave the hand or kept in motion and "
      "coupling beyond what the hand put in since the object last touched nothing; at the default coupling, the worst "
      "of all scenes and hands. Below energy-rounding it is the encoder's rounding (half a step on every axis in the "
      "coupling), below energy-sampling the way that a fast hand makes between a sample and the end of its force. It "
      "is certain but not sharp: what is dissipated while contact lasts may hide up to energy-unseen.");
  report.notes.push_back(
      "Energy created touching: the same with accounts that start within contact too, where each contact stores what "
      "its potential says. Bodies with mass store their motion and height.");
  report.notes.push_back(
      "Where several bodies move, the one in the hand has mass or something bends (stack, docking, assembly, billiard; "
      "hoses, soft-bar, snap-clip and others), the theory says nothing: only the default coupling was tried there. "
      "Scenes without a hand of their own got one that pushes the "
      "first free body into the next.");
  report.notes.push_back(
      "Environment energy: what came out of coupling and contact alone (a sampled spring gives K (T/2 + delay) v^2), "
      "and beside it what the device's damping and friction took in the same interval. Passive is the sum.");
}

void add_definitions(ExperimentReport& report, bool quick) {
  const StabilityTrial standard;
  const DeviceDynamics& device = standard.device;
  report.notes.push_back(fmt::format(
      "Device: {} kg, {} N friction, {:.2g} mm encoder steps and {} N for ever are the maker's figures for a Premium "
      "1.5; {} N s/m of viscous damping and {:.2g} ms from encoder to motor are assumed, because no published "
      "identification of them was at hand. Sampled every {:.3g} ms. Rotation: {} kg m2, {} N m s/rad, {} N m, {} rad. "
      "The dry device has no viscous damping at all; a real arm lies between the two.",
      device.mass, device.friction, device.resolution * 1e3, k_continuous_force, device.damping, device.delay * 1e3,
      device.period * 1e3, device.inertia, device.angular_damping, device.angular_friction, device.angular_resolution));
  report.notes.push_back(fmt::format(
      "Theory: b / (T/2 + delay) for a device that is passive whoever holds it (Colgate & Schenkel 1997), viscous "
      "damping alone. The angular stiffness is kept at the same share of its own limit, {:.3g} N m/rad. With friction "
      "c "
      "that is (b + c/v) / (T/2 + delay) as long as nothing is faster than v, here 50 mm/s, and friction holds the "
      "encoder's steps up to 2 c / step.",
      device.passive_angular_stiffness()));
  report.notes.push_back(
      "Shares: share-of-theory is the coupling's own stiffness over Colgate's limit; felt-share-of-theory is what the "
      "hand feels, coupling and contact in series, over the same limit, at the place where least can be felt; "
      "share-of-dry-theory is the coupling over what friction allows at 50 mm/s. Above one, the first two say that the "
      "device runs stably in violation of the passivity criterion, as friction and the hand's own damping let it; they "
      "do not say that it is passive.");
  report.notes.push_back(fmt::format(
      "Stable: at the end of every rest the handle moves slower than {} mm/s and not ever faster; on the way it shakes "
      "(above 10 Hz) at most twice as much, plus those {} mm/s, as on a device with as much more damping as sampling "
      "and delay take away, which the theory calls passive; and no energy is created, counted from any instant, also "
      "while touching. The sweep ends at {} of the limit.",
      standard.calm_speed * 1e3, standard.calm_speed * 1e3, trial_shares(quick).back()));
  if (quick)
    report.notes.push_back(
        "Quick: only a few stiffnesses and four of eleven hands; the full run tries more and may end at a lower "
        "stiffness.");
  std::string hand_list;
  for (const TrialHand& hand : trial_hands(quick))
    hand_list += fmt::format("{}{} ({:.0f} N/m, {:.2g} N s/m, {} kg)", hand_list.empty() ? "" : "; ", hand.name,
                             hand.arm.stiffness, hand.arm.damping, hand.arm.mass);
  report.notes.push_back("Hands: " + hand_list +
                         ". Fast is 0.3 m/s from key to key; taps leave a key by 10 mm and strike again; served late, "
                         "every sample comes up to 0.3 ms after its time.");
}

// All hands in all scenes, scene by scene.
std::vector<Climb> climb_all(std::span<const TouchedScene> scenes, const DeviceDynamics& device, const char* what,
                             const ExperimentOptions& options) {
  const std::vector<TrialHand> hands = trial_hands(options.quick);
  std::vector<Climb> climbs(scenes.size() * hands.size());
  std::mutex progress_mutex;
  std::size_t trials_done = 0;
  const std::size_t trials = climbs.size() * most_trials(options.quick);
  parallel_for(climbs.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      climbs[i] =
          climb(scenes[i / hands.size()], hands[i % hands.size()], device, options.quick, [&](std::size_t more) {
            const std::scoped_lock lock(progress_mutex);
            trials_done += more;
            options.progress->update(what, static_cast<double>(trials_done) / static_cast<double>(trials));
          });
  });
  return climbs;
}

// Without viscous damping Colgate's limit is zero: all that is stable here is so because of friction and the hand.
void add_dry_device(ExperimentReport& report, std::span<const TouchedScene> scenes, const ExperimentOptions& options) {
  std::vector<TouchedScene> tried(scenes.begin(), scenes.end());
  for (TouchedScene& scene : tried) scene.theory_holds = scene.name == scenes.back().name;  // only the wall is climbed
  const std::vector<Climb> climbs = climb_all(tried, k_dry_device, "Again with friction only", options);
  const std::vector<TrialHand> hands = trial_hands(options.quick);
  double calm = 0, energy = 0;
  std::string shook;
  for (std::size_t i = 0; i < climbs.size(); ++i) {
    calm += climbs[i].standard.stable ? 1 : 0;
    energy = std::max(energy, climbs[i].standard.touching_energy);
    if (!climbs[i].standard.stable)
      shook += fmt::format("{}'{}' in {} ({})", shook.empty() ? "" : ", ", hands[i % hands.size()].name,
                           tried[i / hands.size()].name, why_unstable(climbs[i].standard));
  }
  const std::span<const Climb> wall = std::span(climbs).last(hands.size());
  const Ascent ascent = ascent_of(scenes.back().name, wall, options.quick);
  const double theory = DeviceDynamics{}.passive_stiffness();
  report.add("dry/" + ascent.scene + "/max-stable-n-per-m", ascent.largest_stable * theory, "N/m");
  report.add("dry/calm-share", calm / static_cast<double>(climbs.size()), "of scenes and hands, default coupling");
  report.add("dry/energy-created-touching-joule", energy, "J");
  report.notes.push_back("Dry, " + ascent.scene + ": " +
                         (ascent.ended_by.empty() ? "stable up to the end of the sweep" : ascent.ended_by) +
                         ". Not calm at the default coupling: " + (shook.empty() ? "none" : shook) + ".");
}

}  // namespace

ExperimentReport run_stability(const ExperimentOptions& options) {
  std::vector<TouchedScene> scenes;
  for (const std::string& name : builtin_scene_names()) {
    Scene scene = builtin_scene(name);
    prepare(scene, *options.progress);
    scenes.push_back(touched(std::move(scene)));
  }
  const std::size_t scene_count = scenes.size();
  scenes.push_back(rigid_wall(*options.progress));  // drawn beside the scenes, but not one of them

  const DeviceDynamics device;
  const std::size_t hands_each = trial_hands(options.quick).size();
  const std::vector<Climb> climbs = climb_all(scenes, device, "Pressing, sliding and tapping", options);
  std::vector<Pressed> pressed(scene_count);
  parallel_for(scene_count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) pressed[i] = press_hard(scenes[i], options.quick);
  });

  ExperimentReport report;
  const double theory = device.passive_stiffness();
  std::vector<Ascent> ascents;
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    if (!scenes[i].theory_holds) continue;
    ascents.push_back(ascent_of(scenes[i].name, std::span(climbs).subspan(i * hands_each, hands_each), options.quick));
    Ascent& ascent = ascents.back();
    ascent.felt_stiffness = felt_stiffness(scenes[i], ascent.largest_stable * theory);
    report.add(ascent.scene + "/max-stable-n-per-m", ascent.largest_stable * theory, "N/m");
    if (ascent.felt_stiffness > 0)
      report.add(ascent.scene + "/felt-n-per-m", ascent.felt_stiffness, "N/m");
    else
      report.notes.push_back(ascent.scene + ": touches nothing where its hand rests, so there is no felt stiffness.");
  }
  const StabilityLimit limit = limit_of(ascents);
  const double dry_theory = device.dry_stiffness(StabilityTrial{}.speed);
  report.add("stability/max-stable-n-per-m", limit.share * theory, "N/m");
  report.add("stability/theory-n-per-m", theory, "N/m");
  report.add("stability/share-of-theory", limit.share, "coupling alone, the rigid wall included");
  report.add("stability/felt-n-per-m", limit.felt_stiffness, "N/m");
  report.add("stability/felt-share-of-theory", limit.felt_stiffness / theory, "coupling and contact in series");
  report.add("stability/dry-theory-n-per-m", dry_theory, "N/m");
  report.add("stability/share-of-dry-theory", limit.share * theory / dry_theory, "coupling alone");
  report.add("stability/encoder-theory-n-per-m", device.encoder_stiffness(), "N/m");
  add_definitions(report, options.quick);
  const std::span<const Climb> in_scenes = std::span(climbs).first(scene_count * hands_each);
  add_scenes(report, in_scenes, std::span(scenes).first(scene_count), pressed);
  add_energies(report, in_scenes);
  add_dry_device(report, scenes, options);
  for (const Ascent& ascent : ascents)
    report.notes.push_back(ascent.scene + ": " +
                           (ascent.ended_by.empty() ? "stable up to the end of the sweep" : ascent.ended_by) + ".");
  report.notes.push_back(
      "The rigid wall is the environment of the theory; scenes are softer. Felt: the change of force over the change "
      "of "
      "place of a hand that does not give way, at 3 N or less, with the largest stable coupling; the stiffest key of a "
      "scene.");
  report.figures.push_back(draw(ascents, options));
  return report;
}

}  // namespace cotouch
