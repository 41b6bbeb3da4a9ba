// Sessions whose pairs have this contact engine or that.
#include <cotouch/session/scene_file.h>
#include <cotouch/session/sight.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "session/shared_fixture.h"
#include "support/engines.h"
#include "support/paged_engine.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

class SessionOfEngine : public testing::TestWithParam<const EngineKind*> {};

std::string name_of(const testing::TestParamInfo<const EngineKind*>& info) {
  return std::string(info.param->name());
}
INSTANTIATE_TEST_SUITE_P(Every, SessionOfEngine, testing::ValuesIn(engine_kinds().begin(), engine_kinds().end()),
                         name_of);

// Two balls of which the upper one is held, in the lower one by 2 mm.
ContactView seen(std::string_view engine, float& clearance_apart) {
  const auto shown = show(with_engine(two_balls(), engine));
  const auto model = felt_model(shown->scene, {});
  EXPECT_EQ(model->engine(model->pairs().at(0)).kind().name(), engine);
  Sight sight(shown, model);
  WorldState state(*model);
  state.bodies()[1].pose.position = {0, 0, 0.05};
  clearance_apart = sight.clearance(state);
  state.bodies()[1].pose.position = {0, 0, 0.038};
  state.hands()[0].present = 1;
  state.hands()[0].body = 1;
  return sight.look(state, true);
}

TEST_P(SessionOfEngine, ShowsTheSameContactsAndClearance) {
  float clearance = 0, expected_clearance = 0;
  const ContactView view = seen(GetParam()->name(), clearance), expected = seen("exhaustive", expected_clearance);
  ASSERT_FALSE(expected.contacts.empty());
  ASSERT_EQ(view.contacts.size(), expected.contacts.size());
  for (std::size_t i = 0; i < view.contacts.size(); ++i) {
    EXPECT_EQ(view.contacts[i].position, expected.contacts[i].position);
    EXPECT_EQ(view.contacts[i].mark, expected.contacts[i].mark);
  }
  EXPECT_FALSE(view.traversed.empty());
  EXPECT_LE(view.traversed.size(), expected.traversed.size());
  EXPECT_NEAR(clearance, 0.01F, 0.0018F);  // see Sight.ClearanceOfTwoBallsIsTheirDistance
  EXPECT_EQ(clearance, expected_clearance);
  EXPECT_EQ(view.clearance, expected.clearance);
}

// Once a second it takes its ball where that hangs, 5 cm above the fixed one, goes 15 mm down, which is 5 mm into it,
// and comes back.
HandInput pressing_hand(double now) {
  HandInput hand;
  const double part = now - std::floor(now);
  hand.present = true;
  hand.pose.position = {0, 0, 0.0425 + 0.0075 * sin_cos(2 * 3.14159265358979 * part).cos};
  if (part < 0.0101) {
    hand.action = HandInput::Action::grasp;
    hand.body = 2;
  }
  return hand;
}

// Every tick is taken back by a number of ticks and simulated again.
TEST_P(SessionOfEngine, AnyTickCanBeTakenBack) {
  const auto model = make_model(with_engine(three_balls(), GetParam()->name()),
                                {.tick = 0.01, .hands = k_shared_hands, .budget = WorkBudget::of(512)});
  const WorldState start(*model);
  WorldRunner runner(model, start, 0);
  const auto inputs_of = [](Tick tick) {
    TickInputs inputs;
    const double now = static_cast<double>(tick) * 0.01;
    inputs.hands[0] = sendable(pressing_hand(now));
    inputs.hands[1] = sendable(playing_hand(1, now));
    return inputs;
  };
  Random random(7);
  bool moved = false;
  int touching = 0;
  for (Tick tick = 0; tick < 150; ++tick) {
    runner.carry_out(AdvanceState{tick, inputs_of(tick)});
    runner.carry_out(SaveState{tick + 1});
    touching += runner.scratch().stats().in_contact > 0 ? 1 : 0;
    const WorldState once = runner.now();
    const Tick back = std::max<Tick>(0, tick - static_cast<Tick>(random.below(12)));
    runner.carry_out(LoadState{back});
    runner.carry_out(AdvanceState{back, inputs_of(tick + 17)});  // another past for the scratch memory
    runner.carry_out(LoadState{back});
    for (Tick again = back; again <= tick; ++again) {
      runner.carry_out(AdvanceState{again, inputs_of(again)});
      runner.carry_out(SaveState{again + 1});
    }
    ASSERT_TRUE(runner.now() == once) << tick;
    moved = moved || norm(once.bodies()[1].pose.position - start.bodies()[1].pose.position) > 0.005;
  }
  EXPECT_TRUE(moved);
  EXPECT_GT(touching, 30);  // less than 4 cm apart in half of the time
}

// Over a network that loses and delays, where each guesses what the other's hand does and goes back if it was wrong.
TEST_P(SessionOfEngine, MachinesAgreeOnAWorldThatTouches) {
  const auto model = make_model(with_engine(three_balls(), GetParam()->name()),
                                {.tick = 0.01, .hands = k_shared_hands, .budget = WorkBudget::of(512)});
  SimulatedSession session(model, simulation("transatlantic", 2, 5),
                           [](std::size_t machine, double now, const WorldState&) {
                             return machine == 0 ? pressing_hand(now) : playing_hand(machine, now);
                           });
  std::array<int, 2> touching{};
  session.on_tick = [&](std::size_t machine, Tick, const WorldState&) {
    touching[machine] += session.runner(machine).scratch().stats().in_contact > 0 ? 1 : 0;
  };
  session.run_until(8);
  EXPECT_EQ(session.mismatches(), 0U) << session.first_mismatch();
  EXPECT_EQ(session.overruled(), 0U) << session.first_overruled();
  for (std::size_t machine = 0; machine < 2; ++machine) {
    EXPECT_GT(touching[machine], 50) << machine;
    EXPECT_GT(session.statistics(machine).confirmed, 200U) << machine;
    EXPECT_FALSE(session.statistics(machine).rollbacks.empty()) << machine;
  }
}

// What one machine lacks another has, and nothing would say so.
TEST(SharedWorlds, AnEngineThatMayLackDataIsRefusedByName) {
  const auto model = make_model(with_engine(two_balls(), testing_support::paged_kind().name()),
                                {.tick = 0.01, .hands = k_shared_hands, .budget = {}});
  try {
    WorldRunner(model, WorldState(*model), 0);
    FAIL();
  } catch (const Error& error) {
    const std::string said = error.what();
    for (const char* word : {"'still'", "'ball'", "'paged, of a test'"})
      EXPECT_NE(said.find(word), std::string::npos) << word << " in: " << said;
  }
}

TEST(SceneFilesWithEngines, SayWhichEngineTwoBodiesHave) {
  const std::string text =
      "cotouch = 2\nname = \"two\"\n[[pair]]\nbodies = [\"a\", 2]\nengine = \"exhaustive\"\n"
      "[[body]]\nname = \"a\"\n[[body.part]]\nasset = \"a.cot\"\n[[body]]\nname = \"b\"\n[[body.part]]\nasset = "
      "\"a.cot\"\n";
  const SceneFile file = parse_scene_file(text, "two");
  ASSERT_EQ(file.scene.rules.size(), 1U);
  EXPECT_EQ(file.scene.rules[0], (PairRule{1, 2, true, "exhaustive"}));
  EXPECT_NE(format_scene_file(file).find("[[pair]]\nbodies = [1, 2]\nengine = \"exhaustive\"\n"), std::string::npos);
  const auto refusal = [&](const std::string& what, const std::string& with) {
    std::string changed = text;
    changed.replace(changed.find(what), what.size(), with);
    try {
      parse_scene_file(changed, "two");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("\"a\", 2", "1, \"b\""), "");
  EXPECT_NE(refusal("exhaustive", "psychic").find("\"nested\", \"exhaustive\""), std::string::npos);
  EXPECT_NE(refusal("\"a\", 2", "1, 1").find("one and the same"), std::string::npos);
  EXPECT_NE(refusal("\"a\", 2", "1, 3").find("not there"), std::string::npos);
  EXPECT_NE(refusal("\"a\", 2", "1").find("not two"), std::string::npos);
  EXPECT_NE(refusal("engine = \"exhaustive\"\n", "").find("has no `engine`"), std::string::npos);
  EXPECT_NE(refusal("[[pair]]", "exclude = [[1, 2]]\n[[pair]]").find("already"), std::string::npos);
}

}  // namespace
}  // namespace cotouch::this_file
