#include <cotouch/touch/stability.h>

#include <cotouch/base/error.h>
#include <cotouch/elastic/deformed_field.h>
#include <cotouch/touch/stability_energy.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_lever = 0.03;          // metres
constexpr double k_judged = 0.2;          // seconds at the end of a rest
constexpr double k_smooth = 0.05;         // seconds on each side of the centred mean
constexpr double k_piece = 2;             // seconds, the longest over which shaking is averaged
constexpr double k_tap = 0.01;            // metres
constexpr double k_shaking_gain = 2;      // over the calm twin
constexpr double k_sum_rounding = 1e-12;  // joules, of the energy sums themselves
// Coupling stiffnesses of the twins, over the trial's. The first decides nearly always; the others are asked where a
// snap hangs by a hair and the first fell to the other side.
constexpr double k_twins[] = {1, 0.95, 1.05};

// What the handle did, sample by sample.
class HandleMotion {
 public:
  explicit HandleMotion(double period) : period_(period) {}

  void add(const Vec6& velocity) { samples_.push_back({velocity.linear, velocity.angular * k_lever}); }

  std::size_t sample_at(double seconds) const {
    return std::min(samples_.size(), static_cast<std::size_t>(std::lround(std::max(0.0, seconds) / period_)));
  }

  double rms(double from_seconds, double to_seconds) const {
    const std::size_t from = sample_at(from_seconds), to = sample_at(to_seconds);
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += norm_squared(samples_[i].linear) + norm_squared(samples_[i].angular);
    return to > from ? std::sqrt(sum / static_cast<double>(to - from)) : 0;
  }

  // The same after the centred mean is taken out.
  double fast_rms(double from_seconds, double to_seconds) const {
    const std::size_t from = sample_at(from_seconds), to = sample_at(to_seconds);
    const auto reach = static_cast<std::size_t>(std::lround(k_smooth / period_));
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t low = i > reach ? i - reach : 0, high = std::min(samples_.size(), i + reach + 1);
      Vec6 mean;
      for (std::size_t j = low; j < high; ++j) {
        mean.linear += samples_[j].linear;
        mean.angular += samples_[j].angular;
      }
      const double share = 1.0 / static_cast<double>(high - low);
      sum += norm_squared(samples_[i].linear - mean.linear * share) +
             norm_squared(samples_[i].angular - mean.angular * share);
    }
    return to > from ? std::sqrt(sum / static_cast<double>(to - from)) : 0;
  }

 private:
  double period_;
  std::vector<Vec6> samples_;  // metres per second, rotation at the lever
};

// The keys with their rests, and when each rest begins and ends in seconds.
struct Itinerary {
  std::vector<Pose> keys;
  std::vector<std::pair<double, double>> rests;
};

Itinerary with_rests(const StabilityTrial& trial) {
  Itinerary plan;
  for (const Pose& key : trial.keys) {
    if (!plan.keys.empty()) {
      const Pose before = plan.keys.back();
      const double way = norm(before.position - key.position);
      const Pose away = way > k_tap ? interpolate(key, before, k_tap / way) : before;
      for (int tap = 0; tap < trial.taps; ++tap) plan.keys.insert(plan.keys.end(), {key, away});
    }
    plan.keys.push_back(key);
    const double arrival = HandPath(plan.keys, trial.speed).duration();
    for (int pause = 0; pause < trial.rest_pauses; ++pause) plan.keys.push_back(key);
    plan.rests.emplace_back(arrival, HandPath(plan.keys, trial.speed).duration());
  }
  return plan;
}

// What the contacts store as the bodies are now, at the levels that were rendered last.
class ContactStore {
 public:
  explicit ContactStore(const WorldModel& model)
      : model_(model), bent_(model.bodies().size()), workspaces_(model.make_workspaces()) {
    for (std::uint32_t i = 0; i < bent_.size(); ++i)
      if (const ElasticModel* elastic = model.elastic(i))
        bent_[i].emplace(Bent{Deformation(*elastic), {*elastic, model.bodies()[i].pieces[0].part->field}});
  }

  // Joules. `stepped` knows which pairs may touch.
  double energy(const WorldState& state, const StepScratch& stepped) {
    double sum = 0;
    for (std::uint32_t i = 0; i < bent_.size(); ++i) {
      if (!bent_[i]) continue;
      bent_[i]->shape.set(state.bending().data() + model_.elastic_begin(i));
      bent_[i]->field.set(bent_[i]->shape);
    }
    for (std::size_t i = 0; i < model_.pairs().size(); ++i) {
      const ContactStats& seen = stepped.contact(i).stats;
      if (seen.visited == 0) continue;
      const PairModel& pair = model_.pairs()[i];
      const ContactEngine& engine = model_.engine(pair);
      const PairState placed_pair{placed(state, pair.shell_body, pair.shell_piece),
                                  placed(state, pair.field_body, pair.field_piece)};
      engine.evaluate(placed_pair, Detail::at(seen.level), workspaces_.of(engine), nullptr, contact_);
      sum += 0.5 * engine.settings().stiffness * std::sqrt(std::sqrt(contact_.sums.depth8));
    }
    return sum;
  }

 private:
  struct Bent {
    Deformation shape;
    DeformedField field;
  };

  BodyState placed(const WorldState& state, std::uint32_t body, std::uint32_t piece) {
    const BodyRecord& record = state.bodies()[body];
    BodyState placed{record.pose * model_.bodies()[body].pieces[piece].place, record.clearance};
    if (bent_[body]) {
      placed.deformation = &bent_[body]->shape;
      placed.deformed_field = &bent_[body]->field;
    }
    return placed;
  }

  const WorldModel& model_;
  std::vector<std::optional<Bent>> bent_;  // of each body
  Workspaces workspaces_;
  PairContact contact_;
};

// What is seen of a trial beside the handle's motion.
class Watch {
 public:
  Watch(const StabilityTrial& trial, std::uint32_t body, const WorldState& start)
      : model_(*trial.model), body_(body), contacts_(model_), at_start_(with_mass(start)) {}

  // After every cycle.
  void add(const SimulatedDevice& device, const TouchFrame& frame, const TouchWorld& world) {
    const WorldState& state = world.state();
    const HandRecord& hand = state.hands()[0];
    const Pose grip = hand.body >= 0 ? held_pose(model_, state, hand) : state.bodies()[body_].pose * hand.grip;
    const double stored =
        coupling_energy(model_.settings().coupling, device.pose(), grip) + with_mass(state) - at_start_;
    account_.add(device.energy(), stored, contacts_.energy(state, world.scratch()));
    const double force = norm(frame.sample.hands[0].felt.force);
    outcome_.largest_force = std::max(outcome_.largest_force, force);
    outcome_.deepest = std::max(outcome_.deepest, static_cast<double>(frame.contact.deepest));
    outcome_.depth_cells = std::max(outcome_.depth_cells, deepest_in_cells(model_, world.scratch()));
    if (frame.contact.in_contact == 0) return;
    ++outcome_.touching;
    squared_force_ += force * force;
  }

  StabilityOutcome outcome() const {
    StabilityOutcome outcome = outcome_;
    outcome.energy_created = account_.created();
    outcome.energy_unseen = account_.unseen();
    outcome.touching_energy = account_.touching();
    outcome.environment_energy = account_.environment();
    outcome.device_absorbed = account_.absorbed();
    if (outcome.touching > 0) outcome.rms_force = std::sqrt(squared_force_ / static_cast<double>(outcome.touching));
    return outcome;
  }

 private:
  // Joules, motion and height of the bodies that have mass in this trial: the one in the hand unless it is held
  // without.
  double with_mass(const WorldState& state) {
    state_ = state;
    if (model_.bodies()[body_].holding == Holding::quasi_static)
      state_.bodies()[body_].motion = static_cast<double>(Motion::fixed);
    const WorldEnergy sum = energy(model_, state_);
    return sum.kinetic + sum.potential;
  }

  const WorldModel& model_;
  std::uint32_t body_;
  WorldState state_;
  ContactStore contacts_;
  double at_start_;
  EnergyAccount account_;
  StabilityOutcome outcome_;
  double squared_force_ = 0;  // summed over cycles that touch
};

// `outcome` may be null: only the motion is wanted.
HandleMotion run(const StabilityTrial& trial, const Itinerary& plan, StabilityOutcome* outcome) {
  const auto body = trial.model->index_of(trial.body);
  if (!body) throw Error("The hand has nothing to hold: there is no such body.");
  // What the device would be spared is what is sought here: the stiffness at which it shakes, at the forces that shake
  // it most.
  DeviceLimits limits = k_without_motors;
  limits.motors = {trial.limits.max_force, trial.limits.max_force, trial.limits.max_torque, trial.limits.max_torque, 1};
  SimulatedDevice device(trial.device, trial.arm, HandPath(plan.keys, trial.speed), trial.body, limits);
  LocalWorld world(trial.model, {Detail::Rule::by_work, trial.budget, {}});
  TouchLoopSettings settings;
  settings.limits = trial.limits;
  settings.queued_samples = 0;
  TouchLoop loop({&device}, world, settings);

  HandleMotion motion(trial.device.period);
  Watch watch(trial, *body, world.state());
  while (loop.run_cycles(1) == 1) {
    motion.add(device.velocity());
    if (outcome != nullptr) watch.add(device, loop.frame(), world);
  }
  if (outcome != nullptr) *outcome = watch.outcome();
  return motion;
}

HandleMotion run_calm_twin(StabilityTrial trial, const Itinerary& plan, double stiffness_share) {
  WorldSettings settings = trial.model->settings();
  settings.coupling.linear_stiffness *= stiffness_share;
  settings.coupling.angular_stiffness *= stiffness_share;
  if (stiffness_share != 1) trial.model = trial.model->with(settings);
  const double late = trial.device.late();
  trial.device.damping += settings.coupling.linear_stiffness * late;
  trial.device.angular_damping += settings.coupling.angular_stiffness * late;
  return run(trial, plan, nullptr);
}

// Half an encoder step on every axis, in the coupling.
double rounding_energy(const StabilityTrial& trial) {
  const CouplingSettings& coupling = trial.model->settings().coupling;
  const double step = trial.device.resolution / 2, turn = trial.device.angular_resolution / 2;
  return 1.5 * (coupling.linear_stiffness * step * step + coupling.angular_stiffness * turn * turn);
}

// What the coupling takes up on the way that the hand makes between a sample and the end of its force.
double sampling_energy(const StabilityTrial& trial) {
  constexpr double k_fastest = 1.875;  // over the mean of a reach of minimum jerk
  const double way = k_fastest * trial.speed * (trial.device.period + trial.device.jitter + trial.device.delay);
  return 0.5 * trial.model->settings().coupling.linear_stiffness * way * way;
}

void judge_rests(const HandleMotion& motion, const Itinerary& plan, const StabilityTrial& trial,
                 StabilityOutcome& outcome) {
  for (const auto& [begin, end] : plan.rests) {
    const double last = motion.rms(end - k_judged, end);
    const double before = motion.rms(end - 2 * k_judged, end - k_judged);
    outcome.rest_speed = std::max(outcome.rest_speed, last);
    // Growth below a tenth of what counts as motion is the encoder's steps settling.
    if (last > 1.2 * before && last > trial.calm_speed / 10) outcome.growing = true;
  }
}

// The piece of the way that exceeds its allowance most.
struct Shaking {
  double speed = 0, allowed = 0;
};

Shaking worst_shaking(const HandleMotion& motion, const HandleMotion& twin, const Itinerary& plan, double calm_speed) {
  Shaking worst;
  for (std::size_t i = 1; i < plan.rests.size(); ++i) {
    const double left = plan.rests[i - 1].second, arrived = plan.rests[i].first;
    const double pieces = std::fmax(1, std::ceil((arrived - left) / k_piece));
    const double length = (arrived - left) / pieces;
    for (double piece = 0; piece < pieces; ++piece) {
      const double from = left + piece * length, to = from + length;
      const Shaking here{motion.fast_rms(from, to), calm_speed + k_shaking_gain * twin.fast_rms(from, to)};
      if (worst.allowed == 0 || here.speed * worst.allowed > worst.speed * here.allowed) worst = here;
    }
  }
  return worst;
}

}  // namespace

double deepest_in_cells(const WorldModel& model, const StepScratch& scratch) {
  double deepest = 0;
  for (std::size_t i = 0; i < model.pairs().size(); ++i)
    deepest = std::max(deepest, static_cast<double>(scratch.contact(i).stats.deepest) /
                                    model.engine(model.pairs()[i]).extent().finest_feature);
  return deepest;
}

StabilityOutcome try_stability(const StabilityTrial& trial) {
  const Itinerary plan = with_rests(trial);
  StabilityOutcome outcome;
  const HandleMotion motion = run(trial, plan, &outcome);
  outcome.rounding_energy = rounding_energy(trial) + k_sum_rounding;
  outcome.sampling_energy = sampling_energy(trial);
  judge_rests(motion, plan, trial, outcome);
  bool sliding_calm = false;
  for (const double stiffness_share : k_twins) {
    const Shaking shaking = worst_shaking(motion, run_calm_twin(trial, plan, stiffness_share), plan, trial.calm_speed);
    if (outcome.allowed_speed == 0 || shaking.speed * outcome.allowed_speed < outcome.slide_speed * shaking.allowed) {
      outcome.slide_speed = shaking.speed;
      outcome.allowed_speed = shaking.allowed;
    }
    sliding_calm = shaking.speed <= shaking.allowed;
    if (sliding_calm) break;
  }
  outcome.stable =
      sliding_calm && outcome.rest_speed < trial.calm_speed && !outcome.growing && !outcome.creates_energy();
  return outcome;
}

}  // namespace cotouch
