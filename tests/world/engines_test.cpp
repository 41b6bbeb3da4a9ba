// Worlds whose pairs have this engine or that.
#include <cotouch/base/error.h>

#include <gtest/gtest.h>

#include "support/engines.h"
#include "support/error_code.h"
#include "world/support.h"

namespace cotouch::this_file {
namespace {

using namespace world_test;

class WorldOfEngine : public testing::TestWithParam<const EngineKind*> {};

std::string name_of(const testing::TestParamInfo<const EngineKind*>& info) {
  return std::string(info.param->name());
}
INSTANTIATE_TEST_SUITE_P(Every, WorldOfEngine, testing::ValuesIn(engine_kinds().begin(), engine_kinds().end()),
                         name_of);

// Three blocks on a floor, a hand that takes the uppermost, and a ball that flies into them.
std::shared_ptr<const WorldModel> busy_model(const std::vector<PairRule>& rules) {
  std::vector<BodyModel> bodies{floor_body()};
  for (std::uint32_t i = 0; i < 3; ++i)
    bodies.push_back(free_block(i + 2, {{0.01 * i, 0, (k_block + 0.002) * (i + 0.5)}, {}}));
  bodies.push_back(free_ball(5, {0.05, 0.01, 0.08}, {-0.5, 0, 0}));
  WorldSettings settings = earthly(4e-3);
  settings.budget = WorkBudget::of(2000);
  return std::make_shared<const WorldModel>(bodies, settings, rules);
}
std::shared_ptr<const WorldModel> busy_model(std::string_view engine) {
  return busy_model(rules_for_all(5, engine));
}

std::vector<HandInput> inputs_at(int i) {
  const Pose pose{{0.02 + 1e-4 * i, 0, 0.1 - 1e-4 * i}, {}};
  return {i == 20 ? grasping(4, pose) : i == 120 ? releasing(pose) : hand_at(pose)};
}

TEST_P(WorldOfEngine, TakenBackAndTakenAgainItIsTheSame) {
  const auto model = busy_model(GetParam()->name());
  for (const PairModel& pair : model->pairs()) ASSERT_EQ(&model->engine(pair).kind(), GetParam());
  WorldState state(*model), again(*model), back(*model);
  StepScratch warm(*model, true), bare(*model);
  const StepDetail by_state{Detail::Rule::by_state, {}, {}};
  bool touched = false;
  for (int i = 0; i < 200; ++i) {
    back = state;
    step(*model, state, inputs_at(i), warm, by_state);
    touched = touched || warm.stats().in_contact > 0;
    ASSERT_TRUE(again.restore(back.bytes()));
    step(*model, again, inputs_at(i), bare, by_state);
    ASSERT_TRUE(again == state) << "step " << i;
  }
  EXPECT_TRUE(touched);
}

// Bounds of the gap may be tighter here or there, so that a tick has other looks between. Where it leads is alike: from
// the same state to speeds within a ten thousandth of a metre a second.
void expect_alike(const WorldModel& model, const WorldModel& other) {
  constexpr double k_speed = 1e-4, k_size = 0.05;  // m/s; metres, of the bodies
  WorldState state(model);
  StepScratch scratch(model, true), others(other);
  const std::vector<std::uint8_t> finest(model.pairs().size(), 255);
  const StepDetail exactly{Detail::Rule::exactly, {}, finest};
  int touching = 0;
  for (int i = 0; i < 150; ++i) {
    WorldState there(other);
    ASSERT_TRUE(there.restore(state.bytes()));
    step(other, there, inputs_at(i), others, exactly);
    step(model, state, inputs_at(i), scratch, exactly);
    touching += scratch.stats().in_contact > 0 ? 1 : 0;
    for (std::size_t b = 0; b < model.bodies().size(); ++b) {
      const BodyRecord &one = state.bodies()[b], &same = there.bodies()[b];
      ASSERT_LT(norm(one.velocity - same.velocity), k_speed) << i << ' ' << b;
      ASSERT_LT(norm(one.spin - same.spin) * k_size, k_speed) << i << ' ' << b;
      ASSERT_LT(norm(one.pose.position - same.pose.position), k_speed * model.settings().tick) << i << ' ' << b;
    }
  }
  EXPECT_GT(touching, 50);
}

TEST_P(WorldOfEngine, AnswersLikeEveryOtherAtTheSameLevels) {
  expect_alike(*busy_model(GetParam()->name()), *busy_model("exhaustive"));
}

TEST_P(WorldOfEngine, ABlockAtRestIsCarriedWithItsWeight) {
  WorldSettings settings = earthly();
  World world({floor_body(), free_block(2, {{0, 0, k_block / 2 + 0.001}, {}})}, settings,
              rules_for_all(2, GetParam()->name()));
  world.run(1.5);
  ASSERT_EQ(world.model->pairs().size(), 1U);
  const PairContact& contact = world.scratch.contact(0);
  const bool brings_shell = world.model->pairs()[0].shell_body == 1;
  const double up = contact.on_shell.wrench.force.z * (brings_shell ? 1 : -1);
  // At rest: what is left of its speed, over a tick, is a thousandth of its weight.
  EXPECT_NEAR(up, 0.064 * 9.81, 2e-3 * 0.064 * 9.81);
}

TEST(WorldEngines, OneWorldMayHaveSeveral) {
  // One for the lowest block on the floor and for the ball that meets the block above; the other for all else.
  const std::vector<PairRule> rules{{1, 2, true, "exhaustive"}, {3, 5, true, "exhaustive"}};
  const auto mixed = busy_model(rules), usual = busy_model(std::vector<PairRule>{});
  std::size_t of_rules = 0;
  for (const PairModel& pair : mixed->pairs()) {
    const std::uint32_t a = mixed->bodies()[pair.shell_body].id, b = mixed->bodies()[pair.field_body].id;
    const bool has_rule = rules[0].is_about(a, b) || rules[1].is_about(a, b);
    EXPECT_EQ(mixed->engine(pair).kind().name(), has_rule ? "exhaustive" : default_engine_kind().name());
    of_rules += has_rule ? 1 : 0;
  }
  EXPECT_EQ(of_rules, 2U);
  EXPECT_EQ(mixed->pairs().size(), usual->pairs().size());
  expect_alike(*mixed, *usual);
}

// What the scene's author reads.
std::string refusal(const Part& part, std::string_view engine) {
  BodyModel lid = free_block(2, {{0, 0, 0.1}, {}});
  lid.name = "lid";
  lid.pieces[0].part = std::make_shared<const Part>(part);
  BodyModel table = floor_body();
  table.name = "table";
  try {
    WorldModel({table, lid}, plain(), rules_for_all(2, engine));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(WorldEngines, APairThatCannotMeetIsRefusedByName) {
  Part part = *block_part();
  EXPECT_EQ(refusal(part, "nested"), "");
  ShellData points = part.shell.data();
  points.nodes = {};
  part.shell = Shell(points, block_part());
  EXPECT_EQ(refusal(part, "exhaustive"), "");
  EXPECT_EQ(refusal(part, "nested"), "");  // the table brings its points
  part.field = {};
  const std::string without_tree = refusal(part, "nested");
  for (const char* word : {"'lid'", "'table'", "without a tree", "'nested'"})
    EXPECT_NE(without_tree.find(word), std::string::npos) << word << " in: " << without_tree;
  part.shell = {};
  for (const EngineKind* kind : engine_kinds()) EXPECT_NE(refusal(part, kind->name()), "") << kind->name();
  EXPECT_NE(refusal(*block_part(), "no such engine"), "");
}

}  // namespace
}  // namespace cotouch::this_file
