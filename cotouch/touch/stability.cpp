#include <cotouch/touch/stability.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr double k_lever = 0.03;             // metres
constexpr double k_judged = 0.2;             // seconds at the end of a rest
constexpr double k_rounding_energy = 1e-12;  // joules
constexpr double k_bounce = 1.3258;          // 15/8 over the square root of two
constexpr std::size_t k_smooth = 50;         // samples on each side of the centred mean at 1 kHz

// A velocity of the handle as one vector of metres per second.
struct Speed {
  Vec3d linear, angular;
};

class Motion {
 public:
  void add(const Vec6& velocity, bool touching) {
    samples_.push_back({velocity.linear, velocity.angular * k_lever});
    touching_.push_back(touching);
  }
  std::size_t size() const { return samples_.size(); }
  bool touches_throughout(std::size_t from, std::size_t to) const {
    return std::all_of(touching_.begin() + static_cast<std::ptrdiff_t>(from),
                       touching_.begin() + static_cast<std::ptrdiff_t>(to), [](bool touches) { return touches; });
  }

  double rms(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += norm_squared(samples_[i].linear) + norm_squared(samples_[i].angular);
    return to > from ? std::sqrt(sum / static_cast<double>(to - from)) : 0;
  }

  // The same after the centred mean over 2 k_smooth + 1 samples is taken out.
  double fast_rms(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t low = i > k_smooth ? i - k_smooth : 0, high = std::min(samples_.size(), i + k_smooth + 1);
      Speed mean;
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

  // The median of fast_rms over the stretch's tenths of a second.
  double lasting_fast_rms(std::size_t from, std::size_t to) const {
    std::vector<double> windows;
    for (std::size_t begin = from; begin < to; begin += 2 * k_smooth)
      windows.push_back(fast_rms(begin, std::min(to, begin + 2 * k_smooth)));
    if (windows.empty()) return 0;
    const auto middle = windows.begin() + static_cast<std::ptrdiff_t>(windows.size() / 2);
    std::nth_element(windows.begin(), middle, windows.end());
    return *middle;
  }

 private:
  std::vector<Speed> samples_;
  std::vector<bool> touching_;
};

// The keys with their rests, and when each rest begins and ends in seconds.
struct Itinerary {
  std::vector<Pose> keys;
  std::vector<std::pair<double, double>> rests;
};

Itinerary with_rests(const StabilityTrial& trial) {
  Itinerary plan;
  for (const Pose& key : trial.keys) {
    plan.keys.push_back(key);
    const double arrival = HandPath(plan.keys, trial.speed).duration();
    for (int pause = 0; pause < trial.rest_pauses; ++pause) plan.keys.push_back(key);
    plan.rests.emplace_back(arrival, HandPath(plan.keys, trial.speed).duration());
  }
  return plan;
}

void judge(const Motion& motion, const Itinerary& plan, const StabilityTrial& trial, StabilityOutcome& outcome) {
  const auto sample_at = [&](double seconds) {
    return std::min(motion.size(), static_cast<std::size_t>(std::max(0.0, seconds) / trial.device.period + 0.5));
  };
  bool calm = true;
  for (std::size_t i = 0; i < plan.rests.size(); ++i) {
    const auto [begin, end] = plan.rests[i];
    const double last = motion.rms(sample_at(end - k_judged), sample_at(end));
    const double before = motion.rms(sample_at(end - 2 * k_judged), sample_at(end - k_judged));
    outcome.rest_speed = std::max(outcome.rest_speed, last);
    // Growth below a tenth of what counts as motion is the encoder's steps settling.
    if (last > 1.2 * before && last > trial.calm_speed / 10) outcome.growing = true;
    if (i == 0) continue;
    const std::size_t left = sample_at(plan.rests[i - 1].second), arrived = sample_at(begin);
    const double shaking = motion.lasting_fast_rms(left, arrived);
    const double allowed = motion.touches_throughout(left, arrived) ? 0.5 * trial.speed : k_bounce * trial.speed;
    outcome.slide_speed = std::max(outcome.slide_speed, shaking);
    if (trial.arm.damping > 0) calm = calm && shaking < trial.calm_speed + allowed;
  }
  outcome.stable =
      calm && outcome.rest_speed < trial.calm_speed && !outcome.growing && outcome.energy_created <= k_rounding_energy;
}

}  // namespace

StabilityOutcome try_stability(ContactEngine& engine, const StabilityTrial& trial) {
  const Itinerary plan = with_rests(trial);
  SimulatedDevice device(trial.device, trial.arm, HandPath(plan.keys, trial.speed));
  engine.reset();
  HeldObject object(engine, trial.object, trial.keys.front(), trial.other);
  TouchLoopSettings settings;
  settings.limits = trial.limits;
  settings.queued_samples = 0;
  TouchLoop loop(device, object, settings);

  StabilityOutcome outcome;
  Motion motion;
  while (loop.run_cycles(1) == 1) {
    const TouchFrame& frame = loop.frame();
    motion.add(device.velocity(), frame.contact.in_contact > 0);
    outcome.energy_created = std::max(outcome.energy_created, -device.energy().from_hand);
    outcome.largest_force = std::max(outcome.largest_force, norm(frame.sample.felt.force));
    outcome.deepest = std::max(outcome.deepest, static_cast<double>(frame.contact.deepest));
    if (frame.contact.in_contact > 0) ++outcome.touching;
  }
  judge(motion, plan, trial, outcome);
  return outcome;
}

}  // namespace cotouch
