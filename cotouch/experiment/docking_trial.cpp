#include <cotouch/experiment/docking_trial.h>

#include <cotouch/experiment/participants.h>
#include <cotouch/session/simulated_session.h>
#include <cotouch/world/scene.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace cotouch {
namespace {

constexpr double k_tick = 0.01;           // seconds
constexpr std::uint32_t k_budget = 3000;  // nodes of a pair
constexpr double k_pace = 0.7;            // novices: a little over a minute in the synchronised conditions
constexpr double k_wait_for_second = 15;  // seconds after the first has finished; then the trial is given up
constexpr double k_after = 0.5;           // seconds that are recorded after both have finished

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The two views of one tick.
struct Views {
  std::array<Pose, 2> box;
  unsigned seen = 0;
};

}  // namespace

std::shared_ptr<const WorldModel> docking_study_world(Progress& progress) {
  Scene scene = builtin_scene("docking");
  scene.gravity = {};
  scene.friction = 0;
  prepare(scene, progress);
  return make_model(scene, {.tick = k_tick, .hands = k_shared_hands, .budget = WorkBudget::of(k_budget)});
}

DockingTrial run_docking_trial(const std::shared_ptr<const WorldModel>& model, const TrialCondition& condition,
                               std::uint64_t seed, double limit) {
  PersonSettings expert = PersonSettings::expert(), novice = PersonSettings::novice();
  expert.pace = novice.pace = k_pace;
  std::array<SimulatedPerson, 2> people{
      SimulatedPerson(expert, docking_task(*model, -1), 0, person_start(-1), 2 * seed),
      SimulatedPerson(novice, docking_task(*model, 1), 1, person_start(1), 2 * seed + 1)};
  SimulationSettings settings;
  settings.network = condition.network;
  settings.peer.rollback.prediction = condition.prediction;
  settings.peer.rollback.tick_seconds = k_tick;
  settings.seed = seed;
  double begin = -1;  // when both took part
  SimulatedSession session(model, settings, [&](std::size_t machine, double now, const WorldState& view) {
    return begin < 0 ? HandInput{} : people[machine].act(now - begin, view);
  });

  // Both take part, and the switch has been heard by both.
  while (session.now() < 10 && !(session.takes_part(0) && session.takes_part(1)))
    session.run_until(session.now() + 0.1);
  if (!condition.synchronised) {
    SessionEvent off;
    off.kind = SessionEvent::Kind::synchronise;
    off.number = 0;
    session.peer(0).announce(std::move(off));
  }
  session.run_until(session.now() + 1);

  DockingTrial trial;
  begin = session.now();
  const std::uint32_t box = docking_task(*model, 1).body_index;
  std::array<double, 2> done{-1, -1};
  Tick first = k_never;
  std::map<Tick, Views> waiting;
  session.on_tick = [&](std::size_t machine, Tick tick, const WorldState& view) {
    if (first == k_never) first = tick;
    if (view.head().task.done != 0 && done[machine] < 0) done[machine] = session.now() - begin;
    Views& views = waiting[tick];
    views.box[machine] = view.bodies()[box].pose;
    views.seen |= 1U << machine;
    if (views.seen != 3) return;
    trial.seconds.push_back(static_cast<double>(tick - first) * k_tick);
    trial.distance.push_back(norm(views.box[0].position - views.box[1].position));
    trial.turn.push_back(rotation_vector(views.box[0].rotation * views.box[1].rotation.conjugate()));
    waiting.erase(waiting.begin(), waiting.upper_bound(tick));
  };
  double end = begin + limit;
  while (session.now() < end) {
    session.run_until(session.now() + 0.1);
    const int finished = (done[0] >= 0) + (done[1] >= 0);
    if (finished == 2) end = std::min(end, begin + std::max(done[0], done[1]) + k_after);
    if (finished == 1) end = std::min(end, begin + std::max(done[0], done[1]) + k_wait_for_second);
  }
  trial.completed = (done[0] >= 0) + (done[1] >= 0);
  trial.completion = limit;
  for (const double when : done)
    if (when >= 0) trial.completion = std::min(trial.completion, when);
  trial.mismatches = session.mismatches();
  for (const std::size_t machine : {0U, 1U}) {
    trial.late_inputs += session.statistics(machine).own_inputs_late;
    for (const std::uint32_t ticks : session.statistics(machine).rollbacks) trial.rollbacks.push_back(ticks);
  }
  return trial;
}

double DockingTrial::mean_distance() const {
  return mean_of(distance);
}

double DockingTrial::largest_distance() const {
  return distance.empty() ? 0 : *std::max_element(distance.begin(), distance.end());
}

double DockingTrial::mean_turn(std::size_t axis) const {
  double sum = 0;
  for (const Vec3d& t : turn) sum += std::abs(t[axis]);
  return turn.empty() ? 0 : sum / static_cast<double>(turn.size());
}

double DockingTrial::largest_turn(std::size_t axis) const {
  double largest = 0;
  for (const Vec3d& t : turn) largest = std::max(largest, std::abs(t[axis]));
  return largest;
}

}  // namespace cotouch
