// Rollback against the same inputs simulated in one go.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "session/shared_fixture.h"
#include "support/thorough.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

PeerInput input_of(MemberId member, Tick tick) {
  // Member 1 rests before it resets the world: its hand is predicted right then, the reset is not.
  const bool rests = member == 1 && tick > 150 && tick < 280;
  HandInput hand = playing_hand(member, static_cast<double>(rests ? 150 : tick) * 0.01);
  if (rests) hand.action = HandInput::Action::none;
  MemberHands hands(hand);
  // Three lead hand 9 by turns or at once, one that of member 2, who goes away now and then.
  const Tick turn = tick / 40 + member;
  if (member == 2 && turn % 2 == 0) hands.hand = {};
  if (member == 3 && turn % 3 != 0) hands.further.push_back({2, playing_hand(20, static_cast<double>(tick) * 0.01)});
  if (member != 2 && turn % 3 != 1)
    hands.further.push_back(  // now and then the same as another's
        {9, playing_hand(10U + (turn % 4 == 0 ? 0U : member), static_cast<double>(tick) * 0.01)});
  PeerInput input{sendable(hands), {}};
  if (member == 1 && tick == 200) {
    SessionEvent reset;
    reset.kind = SessionEvent::Kind::reset;
    input.events.push_back(reset);
  }
  return input;
}

TickInputs all_inputs(std::size_t members, Tick tick) {
  std::vector<PeerInput> each;
  for (MemberId m = 0; m < members; ++m) each.push_back(input_of(m, tick));
  InputsOfMembers all{};
  for (std::size_t m = 0; m < members; ++m) all[m] = &each[m];
  TickInputs inputs = together(all);
  inputs.reset = std::any_of(each.begin(), each.end(),
                             [](const PeerInput& input) { return input.has(SessionEvent::Kind::reset); });
  return inputs;
}

// States before the ticks 0 to `ticks`.
std::vector<std::uint64_t> plain_states(const WorldModel& model, std::size_t members, Tick ticks) {
  const WorldState start(model);
  WorldState state = start;
  StepScratch scratch(model);
  std::vector<std::uint64_t> hashes{state.hash()};
  for (Tick tick = 0; tick < ticks; ++tick) {
    step_shared(model, start, state, all_inputs(members, tick), scratch);
    hashes.push_back(state.hash());
  }
  return hashes;
}

struct Driven {
  Driven(std::size_t members, const RollbackSettings& settings)
      : rollback(settings, 0), runner(shared_balls(), WorldState(*shared_balls()), 0) {
    for (MemberId m = 0; m < members; ++m) rollback.open(m, 0);
  }
  // Carries out what there is to do; hashes of states that became objective are appended.
  void run(std::vector<std::uint64_t>& objective) {
    rollback.repair(requests);
    carry_out();
    while (rollback.confirm(requests)) {
      carry_out();
      objective.push_back(runner.objective_state().hash());
    }
  }
  void advance() {
    rollback.advance(requests);
    carry_out();
  }
  void carry_out() {
    for (const WorldRequest& request : requests) {
      runner.carry_out(request);
      if (const auto* tick = std::get_if<ConfirmTick>(&request)) confirmed.push_back(tick->inputs);
    }
    requests.clear();
  }
  Rollback rollback;
  WorldRunner runner;
  std::vector<WorldRequest> requests;
  std::vector<TickInputs> confirmed;
};

class RollbackOfEveryPrediction : public testing::TestWithParam<Prediction> {};

TEST_P(RollbackOfEveryPrediction, GivesTheStatesOfAPlainSimulationInAnyOrderOfArrival) {
  constexpr std::size_t k_members = 4;
  constexpr Tick k_ticks = 300;
  const std::vector<std::uint64_t> plain = plain_states(*shared_balls(), k_members, k_ticks);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    RollbackSettings settings;
    settings.prediction = GetParam();
    Driven driven(k_members, settings);
    Random random(seed);
    struct Arrival {
      Tick at;
      MemberId member;
      Tick tick;
    };
    std::vector<Arrival> arrivals;
    for (Tick tick = 0; tick < k_ticks; ++tick)
      for (MemberId m = 1; m < k_members; ++m)
        for (std::uint64_t copies = 1 + random.below(2); copies > 0; --copies)
          arrivals.push_back({tick + static_cast<Tick>(random.below(100)), m, tick});
    std::stable_sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
    std::vector<std::uint64_t> objective{plain[0]};
    std::size_t next = 0;
    for (Tick now = 0; now < k_ticks + 100; ++now) {
      for (; next < arrivals.size() && arrivals[next].at <= now; ++next)
        driven.rollback.receive(arrivals[next].member, arrivals[next].tick,
                                input_of(arrivals[next].member, arrivals[next].tick));
      driven.run(objective);
      if (driven.rollback.now() >= k_ticks) continue;
      ASSERT_FALSE(driven.rollback.is_full());
      driven.rollback.receive(0, now, input_of(0, now));
      driven.advance();
    }
    EXPECT_EQ(objective, plain) << "seed " << seed;
    ASSERT_EQ(driven.confirmed.size(), static_cast<std::size_t>(k_ticks));
    for (Tick tick = 0; tick < k_ticks; ++tick) {
      const TickInputs &is = driven.confirmed[static_cast<std::size_t>(tick)], should = all_inputs(k_members, tick);
      ASSERT_EQ(is.leaders, should.leaders) << tick;
      ASSERT_EQ(is.hands, should.hands) << tick;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RollbackOfEveryPrediction,
                         testing::Values(Prediction::hold, Prediction::linear, Prediction::kalman_velocity,
                                         Prediction::kalman_acceleration));

HandInput at(double x) {
  HandInput hand;
  hand.present = true;
  hand.pose.position.x = x;
  return hand;
}

TEST(HandsTogether, AHandIsItsMembersOrOfTheLowestWhoNamesIt) {
  std::array<PeerInput, k_most_members> each;
  InputsOfMembers all{};
  for (const MemberId m : std::initializer_list<MemberId>{1, 3, 4, 17}) all[m] = &each[m];
  each[1].hand = at(1);
  each[3].further = {{1, at(31)}, {9, at(39)}, {12, at(32)}};
  each[4].hand = at(4);
  each[4].further = {{3, at(43)}, {4, at(44)}, {9, at(49)}, {15, at(45)}};
  each[17].hand = at(17);  // only watches
  each[17].further = {{0, at(170)}};
  const TickInputs tick = together(all);
  const std::map<MemberId, std::pair<MemberId, double>> expected{{1, {1, 1}},  {3, {4, 43}},  {4, {4, 4}},
                                                                 {9, {3, 39}}, {12, {3, 32}}, {15, {4, 45}}};
  for (MemberId hand = 0; hand < k_shared_hands; ++hand) {
    const auto found = expected.find(hand);
    EXPECT_EQ(tick.leaders[hand], found == expected.end() ? k_nobody : found->second.first) << int{hand};
    EXPECT_EQ(tick.hands[hand], found == expected.end() ? HandInput{} : at(found->second.second)) << int{hand};
  }
  // Its own member comes back.
  each[3].hand = at(3);
  EXPECT_EQ(together(all).leaders[3], 3);
  EXPECT_EQ(together(all).hands[3], at(3));
}

TEST(HandsTogether, ThoseThatRestAreNotSimulatedAgain) {
  Rollback rollback({}, 0);
  for (MemberId m = 0; m < 2; ++m) rollback.open(m, 0);
  std::vector<WorldRequest> requests;
  PeerInput several{sendable(at(0.1)), {}};
  several.further = {{14, sendable(at(0.2))}, {15, sendable(at(0.3))}};
  for (Tick tick = 0; tick < 60; ++tick) {
    rollback.receive(0, tick, {});
    if (tick >= 10) rollback.receive(1, tick - 10, several);
    const Tick replayed = rollback.repair(requests);
    EXPECT_EQ(replayed > 0, tick == 10 || tick == 26) << tick << ": " << replayed;
    while (rollback.confirm(requests)) {
    }
    rollback.advance(requests);
    if (tick == 25) several.further.pop_back();
  }
  EXPECT_EQ(rollback.used(55).leaders[14], 1);
  EXPECT_EQ(rollback.used(55).leaders[15], k_nobody);
}

TEST(Rollback, WindowIsFullUntilWhatIsAwaitedArrives) {
  RollbackSettings settings;
  settings.window = 16;
  Driven driven(2, settings);
  std::vector<std::uint64_t> objective;
  for (Tick tick = 0; tick < 16; ++tick) {
    EXPECT_FALSE(driven.rollback.is_full());
    driven.rollback.receive(0, tick, input_of(0, tick));
    driven.advance();
  }
  EXPECT_TRUE(driven.rollback.is_full());
  EXPECT_EQ(driven.rollback.awaited(), 2U);
  driven.run(objective);
  EXPECT_TRUE(objective.empty());
  driven.rollback.receive(1, 0, input_of(1, 0));
  driven.run(objective);
  EXPECT_EQ(objective.size(), 1U);
  EXPECT_FALSE(driven.rollback.is_full());
}

TEST(Rollback, InputsPredictedRightAreNotSimulatedAgain) {
  Driven driven(2, {});
  std::vector<WorldRequest> requests;
  PeerInput resting{sendable(playing_hand(0, 0)), {}};
  resting.hand.action = HandInput::Action::none;
  resting.hand.body = 0;
  for (Tick tick = 0; tick < 40; ++tick) {
    driven.rollback.receive(0, tick, resting);
    if (tick < 10) driven.rollback.receive(1, tick, resting);
    driven.advance();
  }
  for (Tick tick = 10; tick < 40; ++tick) driven.rollback.receive(1, tick, resting);
  EXPECT_EQ(driven.rollback.repair(requests), 0);
  EXPECT_TRUE(requests.empty());
}

TEST(Rollback, MemberWhoseInputsEndIsAbsentFromThereOn) {
  Driven driven(2, {});
  std::vector<std::uint64_t> objective;
  for (Tick tick = 0; tick < 30; ++tick) {
    driven.rollback.receive(0, tick, input_of(0, tick));
    if (tick < 10) driven.rollback.receive(1, tick, input_of(1, tick));
    driven.advance();
  }
  driven.rollback.finish(1, 10);
  driven.run(objective);
  EXPECT_EQ(driven.rollback.objective(), 30);
  const WorldState start(*shared_balls());
  WorldState state = start;
  StepScratch scratch(*shared_balls());
  for (Tick tick = 0; tick < 30; ++tick)
    step_shared(*shared_balls(), start, state, all_inputs(tick < 10 ? 2 : 1, tick), scratch);
  EXPECT_EQ(driven.runner.objective_state(), state);
}

// Every tick is taken back by a number of ticks and simulated again.
TEST(SyncTestSlow, EveryBuiltInSceneCanBeTakenBack) {
  for (const std::string& name : builtin_scene_names()) {
    Scene scene = builtin_scene(name);
    NoProgress quiet;
    prepare(scene, quiet);
    ModelOptions options;
    options.tick = 0.01;
    options.hands = k_shared_hands;
    options.budget = WorkBudget::of(4096);
    const auto model = make_model(scene, options);
    const WorldState start(*model);
    WorldRunner runner(model, start, 0);
    // Each body that can be held is held by a hand that carries it about.
    const auto inputs_of = [&](Tick tick) {
      TickInputs inputs;
      const double now = static_cast<double>(tick) * 0.01;
      std::size_t hand = 0;
      for (std::size_t i = 0; i < scene.bodies.size() && hand < 3; ++i) {
        if (scene.bodies[i].motion != Motion::free) continue;
        HandInput input;
        input.present = true;
        const double phase = static_cast<double>(hand);
        input.pose.position =
            start.bodies()[i].pose.position +
            Vec3d{0.02 * sin_cos(3 * now + phase).sin, 0.02 * sin_cos(2 * now + phase).sin, 0.02 * sin_cos(now).sin};
        if (tick % 50 == 1) input.action = HandInput::Action::grasp, input.body = scene.bodies[i].id;
        if (tick % 50 == 40) input.action = HandInput::Action::release;
        inputs.hands[hand++] = sendable(input);
      }
      return inputs;
    };
    Random random(7);
    for (Tick tick = 0; tick < testing_support::thorough(60, 150); ++tick) {
      runner.carry_out(AdvanceState{tick, inputs_of(tick)});
      runner.carry_out(SaveState{tick + 1});
      const WorldState once = runner.now();
      const Tick back = std::max<Tick>(0, tick - static_cast<Tick>(random.below(12)));
      runner.carry_out(LoadState{back});
      // The scratch has seen other states in between, which must not matter.
      TickInputs other = inputs_of(tick + 17);
      runner.carry_out(AdvanceState{back, other});
      runner.carry_out(LoadState{back});
      for (Tick again = back; again <= tick; ++again) runner.carry_out(AdvanceState{again, inputs_of(again)});
      ASSERT_EQ(runner.now(), once) << name << ", tick " << tick << ", from " << back;
    }
  }
}

}  // namespace
}  // namespace cotouch::this_file
