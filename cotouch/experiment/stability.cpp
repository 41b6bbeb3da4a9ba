// How stiff may the coupling be? A simulated device and hand press into and slide along every built-in scene of two
// parts while the stiffness goes up until something starts to shake, and the last calm stiffness is held against
// Colgate's limit. At the default stiffness they do so in every built-in scene, for energy created and depth.
#include <cotouch/base/parallel.h>
#include <cotouch/experiment/experiment.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/experiment/stability_scenes.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>

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

// The default coupling over the limit. Its angular stiffness is the same share of its own limit.
double standard_share() {
  return CouplingSettings{}.linear_stiffness / DeviceDynamics{}.passive_stiffness();
}

// Climbed in order up to the first that shakes; what lies between it and the one before is then halved a few times.
std::vector<double> shares(bool quick) {
  if (quick) return {standard_share(), 1.0, 1.5};
  return {0.25, 0.5, standard_share(), 0.85, 1.0, 1.25, 1.5, 1.75, 2.0};
}
int halvings(bool quick) {
  return quick ? 0 : 2;
}

StabilityTrial trial_of(const TouchedScene& scene, const Hand& hand, double share) {
  StabilityTrial trial;
  trial.model = scene.model;
  trial.body = scene.script.body;
  trial.budget = WorkBudget::of(k_stability_nodes);
  trial.keys = scene.script.keys;
  trial.speed = scene.script.speed;
  trial.arm = hand.arm;
  // No motion here is faster than 200 rad/s; the midpoint rule is then exact to (200 * 1e-4)^2 / 12 of the frequency,
  // and in energy at any step. More steps only take longer, as long as the contact itself.
  trial.device.substeps = 10;
  if (share != standard_share()) {
    WorldSettings settings = scene.model->settings();
    settings.coupling.linear_stiffness = share * trial.device.passive_stiffness();
    settings.coupling.angular_stiffness = share * trial.device.passive_angular_stiffness();
    trial.model = scene.model->with(settings);
  }
  return trial;
}

std::string why_unstable(const StabilityOutcome& outcome) {
  if (outcome.growing || outcome.rest_speed >= StabilityTrial{}.calm_speed)
    return fmt::format("did not come to rest ({:.2g} mm/s)", outcome.rest_speed * 1e3);
  if (outcome.slide_speed > outcome.allowed_speed)
    return fmt::format("shook on the way ({:.3g} mm/s of {:.3g} allowed)", outcome.slide_speed * 1e3,
                       outcome.allowed_speed * 1e3);
  return fmt::format("got back {:.2g} J more than it had put in", outcome.energy_created);
}

// One hand's way up in one scene; if the theory does not speak about it, no farther than the default coupling.
struct Climb {
  std::vector<StabilityOutcome> outcomes;  // of shares(), up to and including the first unstable one
  StabilityOutcome standard;               // at the default coupling
  double largest_stable = 0;               // share of the limit
  double first_unstable = 0;               // 0: none up to the end
  std::string why;                         // it was
};

std::size_t most_trials(bool quick) {
  return shares(quick).size() + static_cast<std::size_t>(halvings(quick));
}

Climb climb(const TouchedScene& scene, const Hand& hand, bool quick, const std::function<void(std::size_t)>& done) {
  std::size_t trials = 0;
  const auto attempt = [&](double share) {
    const StabilityOutcome outcome = try_stability(trial_of(scene, hand, share));
    ++trials;
    done(1);
    return outcome;
  };

  Climb climb;
  climb.standard = attempt(standard_share());
  const auto take = [&](double share, const StabilityOutcome& outcome) {
    if (outcome.stable) {
      climb.largest_stable = share;
    } else {
      climb.first_unstable = share;
      climb.why = why_unstable(outcome);
    }
  };
  if (!scene.theory_holds) {
    done(most_trials(quick) - trials);
    return climb;
  }
  for (const double share : shares(quick)) {
    climb.outcomes.push_back(share == standard_share() ? climb.standard : attempt(share));
    take(share, climb.outcomes.back());
    if (climb.first_unstable > 0) break;
  }
  for (int i = 0; i < halvings(quick) && climb.first_unstable > 0; ++i) {
    const double middle = (climb.largest_stable + climb.first_unstable) / 2;
    take(middle, attempt(middle));
  }
  done(most_trials(quick) - trials);  // what need not be tried any more
  return climb;
}

// All hands in one scene.
struct Ascent {
  std::string scene;
  std::vector<double> share, rest_speed, shaking;  // worst over hands, until one of them is unstable
  double largest_stable = 0;
  std::string ended_by;  // empty where nothing shook
};

Ascent ascent_of(const TouchedScene& scene, std::span<const Climb> climbs, bool quick) {
  Ascent ascent;
  ascent.scene = scene.name;
  const std::vector<double> all_shares = shares(quick);
  const std::vector<Hand> all_hands = hands(quick);
  std::size_t points = all_shares.size();
  ascent.largest_stable = all_shares.back();
  for (std::size_t i = 0; i < climbs.size(); ++i) {
    points = std::min(points, climbs[i].outcomes.size());
    if (climbs[i].first_unstable == 0 || (climbs[i].largest_stable >= ascent.largest_stable)) continue;
    ascent.largest_stable = climbs[i].largest_stable;
    ascent.ended_by = fmt::format("the hand '{}' {} at {:.3g} of the limit", all_hands[i].name, climbs[i].why,
                                  climbs[i].first_unstable);
  }
  for (std::size_t p = 0; p < points; ++p) {
    double rest = 0, shaking = 0;
    for (const Climb& climb : climbs) {
      rest = std::max(rest, climb.outcomes[p].rest_speed);
      shaking = std::max(shaking, climb.outcomes[p].slide_speed / climb.outcomes[p].allowed_speed);
    }
    ascent.share.push_back(all_shares[p]);
    ascent.rest_speed.push_back(rest * 1e3);
    ascent.shaking.push_back(shaking);
  }
  return ascent;
}

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
    worst.rounding_energy = outcome.rounding_energy;  // the same for all
    worst.energy_created = std::max(worst.energy_created, outcome.energy_created);
    worst.energy_unseen = std::max(worst.energy_unseen, outcome.energy_unseen);
    worst.touching_energy = std::max(worst.touching_energy, outcome.touching_energy);
    worst.deepest = std::max(worst.deepest, outcome.deepest);
    worst.depth_cells = std::max(worst.depth_cells, outcome.depth_cells);
    worst.largest_force = std::max(worst.largest_force, outcome.largest_force);
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
  report.add("stability/energy-unseen-joule", worst.energy_unseen, "J");
  report.add("stability/energy-created-touching-joule", worst.touching_energy, "J");
  report.add("stability/environment-energy-joule", worst.environment_energy, "J");
  report.add("stability/device-absorbed-joule", worst.device_absorbed, "J");
  report.notes.push_back(
      "Energy created: the most that device, coupling and contact together ever gave the hand or kept in motion and "
      "coupling beyond what the hand put in since the object last touched nothing; at the default coupling, the worst "
      "of all scenes and hands. Below energy-rounding it is the encoder's rounding (half a step on every axis in the "
      "coupling). It is certain but not sharp: what is dissipated while contact lasts may hide up to energy-unseen.");
  report.notes.push_back(
      "Energy created touching: the same with accounts that start within contact too, where each contact stores what "
      "its potential says. Bodies with mass store their motion and height.");
  report.notes.push_back(
      "Where several bodies move or the one in the hand has mass (stack, docking, assembly, billiard), the theory says "
      "nothing: only the default coupling was tried there. Scenes without a hand of their own got one that pushes the "
      "first free body into the next.");
  report.notes.push_back(
      "Environment energy: what came out of coupling and contact alone (a sampled spring gives K (T/2 + delay) v^2), "
      "and beside it what the device's damping and friction took in the same interval. Passive is the sum.");
}

void add_definitions(ExperimentReport& report, bool quick) {
  const StabilityTrial standard;
  const DeviceDynamics& device = standard.device;
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
      "Stable: at the end of every rest the handle moves slower than {} mm/s and not ever faster; on the way it shakes "
      "(above 10 Hz) at most twice as much, plus those {} mm/s, as on a device with as much more damping as sampling "
      "and delay take away, which the theory calls passive; and no energy is created. The sweep ends at {} of the "
      "limit.",
      standard.calm_speed * 1e3, standard.calm_speed * 1e3, shares(quick).back()));
  if (quick)
    report.notes.push_back(
        "Quick: only a few stiffnesses and two of six hands; the full run tries more and may end at a lower "
        "stiffness.");
  std::string hand_list;
  for (const Hand& hand : hands(quick))
    hand_list += fmt::format("{}{} ({:.0f} N/m, {:.2g} N s/m)", hand_list.empty() ? "" : "; ", hand.name,
                             hand.arm.stiffness, hand.arm.damping);
  report.notes.push_back("Hands: " + hand_list + fmt::format(". Each moves {} kg of its own.", ArmImpedance{}.mass));
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

  const std::vector<Hand> all_hands = hands(options.quick);
  std::vector<Climb> climbs(scenes.size() * all_hands.size());
  std::mutex progress_mutex;
  std::size_t trials_done = 0;
  const std::size_t trials = climbs.size() * most_trials(options.quick);
  parallel_for(climbs.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      climbs[i] =
          climb(scenes[i / all_hands.size()], all_hands[i % all_hands.size()], options.quick, [&](std::size_t more) {
            const std::scoped_lock lock(progress_mutex);
            trials_done += more;
            options.progress->update("Pressing and sliding",
                                     static_cast<double>(trials_done) / static_cast<double>(trials));
          });
  });
  std::vector<Pressed> pressed(scene_count);
  parallel_for(scene_count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) pressed[i] = press_hard(scenes[i], options.quick);
  });

  ExperimentReport report;
  const double theory = DeviceDynamics{}.passive_stiffness();
  double share = shares(options.quick).back();
  std::vector<Ascent> ascents;
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    if (!scenes[i].theory_holds) continue;
    const std::span<const Climb> here(&climbs[i * all_hands.size()], all_hands.size());
    ascents.push_back(ascent_of(scenes[i], here, options.quick));
    const Ascent& ascent = ascents.back();
    report.add(ascent.scene + "/max-stable-n-per-m", ascent.largest_stable * theory, "N/m");
    if (i < scene_count) share = std::min(share, ascent.largest_stable);
  }
  const double felt = 1 / (1 / (share * theory) + 1 / ContactSettings{}.stiffness);
  report.add("stability/max-stable-n-per-m", share * theory, "N/m");
  report.add("stability/theory-n-per-m", theory, "N/m");
  report.add("stability/share-of-theory", share, "");
  report.add("stability/felt-n-per-m", felt, "N/m");
  add_definitions(report, options.quick);
  const std::span<const Climb> in_scenes = std::span(climbs).first(scene_count * all_hands.size());
  add_scenes(report, in_scenes, std::span(scenes).first(scene_count), pressed);
  add_energies(report, in_scenes);
  for (const Ascent& ascent : ascents)
    report.notes.push_back(ascent.scene + ": " +
                           (ascent.ended_by.empty() ? "stable up to the end of the sweep" : ascent.ended_by) + ".");
  report.notes.push_back(
      "The rigid wall is the environment of the theory and checks the judgement; scenes are softer. Felt: the largest "
      "stable coupling in series with a contact of a single point, the softest there is.");
  report.figures.push_back(draw(ascents, options));
  return report;
}

}  // namespace cotouch
