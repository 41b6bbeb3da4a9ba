#include <cotouch/base/progress.h>
#include <cotouch/experiment/docking_trial.h>
#include <cotouch/experiment/participants.h>
#include <cotouch/world/step.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cotouch::this_file {
namespace {

constexpr double k_tick = 0.01;

std::shared_ptr<const WorldModel> docking() {
  // Without weight and friction, as in the study.
  static const auto k_model = [] {
    NoProgress progress;
    return docking_study_world(progress);
  }();
  return k_model;
}

struct Trial {
  double seconds = 0;
  bool done = false;
  std::vector<HandInput> novice;
  double strongest = 0;  // newtons felt
  std::uint64_t hash = 0;
};

Trial dock(std::uint64_t seed, double limit) {
  const WorldModel& model = *docking();
  WorldState state(model);
  StepScratch scratch(model, true);
  SimulatedPerson expert(PersonSettings::expert(), docking_task(model, -1), 0, person_start(-1), 2 * seed);
  SimulatedPerson novice(PersonSettings::novice(), docking_task(model, 1), 1, person_start(1), 2 * seed + 1);
  Trial trial;
  while (trial.seconds < limit && !trial.done) {
    const HandInput inputs[] = {expert.act(trial.seconds, state), novice.act(trial.seconds, state)};
    trial.novice.push_back(inputs[1]);
    step(model, state, inputs, scratch);
    for (const HandRecord& hand : state.hands()) trial.strongest = std::max(trial.strongest, norm(hand.felt.force));
    trial.done = state.head().task.done != 0;
    trial.seconds += k_tick;
  }
  trial.hash = state.hash();
  return trial;
}

TEST(Participants, DockTheBoxTogether) {
  std::vector<double> seconds;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const Trial trial = dock(seed, 300);
    EXPECT_TRUE(trial.done) << seed;
    EXPECT_LE(trial.strongest, 8.0001);  // what a grasp gives at most
    seconds.push_back(trial.seconds);
  }
  double sum = 0;
  for (const double s : seconds) sum += s;
  // The study's people took 72 to 75 s (Figure 13); these are a little faster unless their pace is set lower.
  EXPECT_GT(sum / 6, 30);
  EXPECT_LT(sum / 6, 100);
}

TEST(Participants, TheSameSeedIsTheSameTrial) {
  EXPECT_EQ(dock(7, 20).hash, dock(7, 20).hash);
  EXPECT_NE(dock(7, 20).hash, dock(8, 20).hash);
}

TEST(Participants, MoveLikePeople) {
  const Trial trial = dock(1, 300);
  double fastest = 0;
  std::vector<double> second_differences;
  for (std::size_t i = 1; i < trial.novice.size(); ++i)
    fastest = std::max(fastest, norm(trial.novice[i].pose.position - trial.novice[i - 1].pose.position) / k_tick);
  EXPECT_GT(fastest, 0.05);
  EXPECT_LT(fastest, 2);  // m/s
  int grasps = 0;
  for (const HandInput& input : trial.novice) {
    grasps += input.action == HandInput::Action::grasp;
    EXPECT_EQ(quantised(input), input);
  }
  EXPECT_GE(grasps, 1);
}

// Nothing that happens can be answered before a reaction time has passed.
TEST(Participants, AnswerNoSoonerThanTheyReact) {
  const WorldModel& model = *docking();
  const auto hand = [&](double moved_at) {
    WorldState state(model);
    SimulatedPerson person(PersonSettings::novice(), docking_task(model, 1), 1, person_start(1), 5);
    std::vector<HandInput> inputs;
    for (double now = 0; now < 8; now += k_tick) {
      if (now >= moved_at) state.bodies()[docking_task(model, 1).body_index].pose.position.x = 0.3;
      inputs.push_back(person.act(now, state));
    }
    return inputs;
  };
  const std::vector<HandInput> still = hand(100);
  for (const double moved_at : {0.5, 1.0, 1.5, 2.0, 2.5}) {
    const std::vector<HandInput> answered = hand(moved_at);
    const auto first = std::mismatch(still.begin(), still.end(), answered.begin()).first - still.begin();
    EXPECT_GE(static_cast<double>(first) * k_tick, moved_at + PersonSettings{}.reaction - 1.5 * k_tick);
  }
}

TEST(Participants, TremorHasItsStatedSizeAndFrequency) {
  // At rest before the first movement: a person who never gets to act.
  const WorldModel& model = *docking();
  const WorldState state(model);
  PersonSettings settings;
  settings.pace = 1e-6;
  SimulatedPerson person(settings, docking_task(model, 1), 1, person_start(1), 5);
  std::vector<Vec3d> places;
  for (int i = 0; i < 20000; ++i)
    places.push_back(person.act(i * k_tick, state).pose.position - person_start(1).position);
  double square = 0;
  int crossings = 0;
  for (std::size_t i = 1; i < places.size(); ++i) {
    square += norm_squared(places[i]);
    crossings += (places[i].x > 0) != (places[i - 1].x > 0);
  }
  EXPECT_NEAR(std::sqrt(square / 20000), settings.tremor, 0.15 * settings.tremor);
  EXPECT_NEAR(crossings / 2.0 / 200, settings.tremor_frequency, 1);
}

TEST(Participants, GiveWayToAForce) {
  const WorldModel& model = *docking();
  WorldState state(model);
  PersonSettings settings;
  settings.pace = 1e-6;
  settings.tremor = 0;
  SimulatedPerson person(settings, docking_task(model, 1), 1, person_start(1), 5);
  state.hands()[1].present = 1;
  state.hands()[1].felt.force = {0, 2, 0};
  HandInput input;
  for (int i = 0; i < 200; ++i) input = person.act(i * k_tick, state);
  EXPECT_NEAR(input.pose.position.y - person_start(1).position.y, 2 / settings.arm.stiffness, 2e-6);  // F / k
}

}  // namespace
}  // namespace cotouch::this_file
