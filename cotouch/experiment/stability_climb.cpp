#include <cotouch/experiment/stability_climb.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_fast = 0.3;     // m/s
constexpr double k_jitter = 3e-4;  // s, a third of a period
constexpr double k_finger = 0.02;  // kg
constexpr double k_arm = ArmImpedance{}.mass;
const DeviceDynamics k_device;

// An arm of this stiffness; rotation gets the same at a lever of 7 cm, and a light one turns as much lighter.
TrialHand make_hand(std::string name, double stiffness, double damping_ratio, double mass = k_arm) {
  ArmImpedance arm;
  arm.inertia *= mass / arm.mass;
  arm.mass = mass;
  arm.stiffness = stiffness;
  arm.angular_stiffness = stiffness * 0.005;
  arm.damping = 2 * damping_ratio * std::sqrt(stiffness * (arm.mass + k_device.mass));
  arm.angular_damping = 2 * damping_ratio * std::sqrt(arm.angular_stiffness * (arm.inertia + k_device.inertia));
  return {std::move(name), arm};
}

TrialHand fast(TrialHand hand, int taps) {
  hand.speed = k_fast;
  hand.taps = taps;
  return hand;
}
TrialHand late(TrialHand hand) {
  hand.jitter = k_jitter;
  return hand;
}

int halvings(bool quick) {
  return quick ? 0 : 2;
}

}  // namespace

std::vector<TrialHand> trial_hands(bool quick) {
  if (quick)
    return {make_hand("medium, undamped", 400, 0), make_hand("medium", 400, 0.2),
            late(make_hand("fingertip, undamped, served late", 50, 0, k_finger)),
            fast(make_hand("medium, fast and tapping", 400, 0.2), 2)};
  return {make_hand("light, undamped", 50, 0),
          make_hand("medium, undamped", 400, 0),
          make_hand("firm, undamped", 1500, 0),
          make_hand("light", 50, 0.2),
          make_hand("medium", 400, 0.2),
          make_hand("firm", 1500, 0.2),
          make_hand("fingertip, undamped", 50, 0, k_finger),
          make_hand("fingertip", 50, 0.2, k_finger),
          late(make_hand("medium, undamped, served late", 400, 0)),
          fast(make_hand("light, fast", 50, 0.2), 0),
          fast(make_hand("medium, fast and tapping", 400, 0.2), 3)};
}

double standard_share() {
  return CouplingSettings{}.linear_stiffness / k_device.passive_stiffness();
}

std::vector<double> trial_shares(bool quick) {
  if (quick) return {standard_share(), 1.0, 1.5};
  return {0.25, 0.5, standard_share(), 0.85, 1.0, 1.25, 1.5, 1.75, 2.0};
}

std::size_t most_trials(bool quick) {
  return trial_shares(quick).size() + static_cast<std::size_t>(halvings(quick));
}

StabilityTrial trial_of(const TouchedScene& scene, const TrialHand& hand, const DeviceDynamics& device, double share) {
  StabilityTrial trial;
  trial.model = scene.model;
  trial.body = scene.script.body;
  trial.budget = WorkBudget::of(k_stability_nodes);
  trial.keys = scene.script.keys;
  trial.speed = hand.speed > 0 ? hand.speed : scene.script.speed;
  trial.taps = hand.taps;
  trial.arm = hand.arm;
  trial.device = device;
  trial.device.jitter = hand.jitter;
  // No motion here is faster than 200 rad/s; the midpoint rule is then exact to (200 * 1e-4)^2 / 12 of the frequency,
  // and in energy at any step. More steps only take longer, as long as the contact itself.
  trial.device.substeps = 10;
  if (share != standard_share()) {
    WorldSettings settings = scene.model->settings();
    settings.coupling.linear_stiffness = share * k_device.passive_stiffness();
    settings.coupling.angular_stiffness = share * k_device.passive_angular_stiffness();
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
  if (outcome.energy_created > outcome.rounding_energy + outcome.sampling_energy)
    return fmt::format("got back {:.2g} J more than it had put in", outcome.energy_created);
  return fmt::format("got back {:.2g} J more than it had put in since some instant in contact",
                     outcome.touching_energy);
}

Climb climb(const TouchedScene& scene, const TrialHand& hand, const DeviceDynamics& device, bool quick,
            const std::function<void(std::size_t)>& done) {
  std::size_t trials = 0;
  const auto attempt = [&](double share) {
    const StabilityOutcome outcome = try_stability(trial_of(scene, hand, device, share));
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
  for (const double share : trial_shares(quick)) {
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

Ascent ascent_of(const std::string& scene, std::span<const Climb> climbs, bool quick) {
  Ascent ascent;
  ascent.scene = scene;
  const std::vector<double> all_shares = trial_shares(quick);
  const std::vector<TrialHand> all_hands = trial_hands(quick);
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

StabilityLimit limit_of(std::span<const Ascent> ascents) {
  StabilityLimit limit;
  for (const Ascent& ascent : ascents) {
    if (&ascent == &ascents.front() || ascent.largest_stable < limit.share) limit.share = ascent.largest_stable;
    const double felt = ascent.felt_stiffness;
    if (felt > 0 && (limit.felt_stiffness == 0 || felt < limit.felt_stiffness)) limit.felt_stiffness = felt;
  }
  return limit;
}

}  // namespace cotouch
