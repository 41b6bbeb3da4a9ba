// A step that can be taken back: snapshots, hashes, and every scene stepped twice.
#include "support/engines.h"
#include "world/support.h"

#include <cotouch/base/error.h>
#include <cotouch/base/invariant.h>
#include <cotouch/base/random.h>
#include <cotouch/world/pushing_hands.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace cotouch::this_file {
namespace {

using namespace world_test;

std::shared_ptr<const WorldModel> busy_model(double tick = 1e-3) {
  std::vector<BodyModel> bodies{floor_body()};
  for (std::uint32_t i = 0; i < 3; ++i)
    bodies.push_back(free_block(i + 2, {{0.01 * i, 0, (k_block + 0.002) * (i + 0.5)}, {}}));
  bodies.push_back(free_ball(5, {0.05, 0.01, 0.08}, {-0.5, 0, 0}));
  bodies.back().holding = Holding::dynamic;
  WorldSettings settings = earthly(tick);
  settings.budget = WorkBudget::of(300);
  return std::make_shared<const WorldModel>(bodies, settings);
}

std::vector<HandInput> busy_inputs(int i) {
  const Pose a{{0.02 + 1e-5 * i, 0, 0.1 - 1e-5 * i}, {}}, b{{0.05, 0.01 + 1e-5 * i, 0.08}, {}};
  return {i == 20 ? grasping(4, a) : i == 150 ? releasing(a) : hand_at(a), i == 40 ? grasping(5, b) : hand_at(b)};
}

// Steps of a scene in which hands go their whole way, or `longest_way` seconds of it: each is taken, taken back, and
// taken again on memory that remembers other things, or nothing.
void expect_steps_taken_again_are_the_same(Scene scene, std::uint64_t most_steps, double longest_way) {
  scene.scripts = pushing_hands(scene);
  const auto model = make_model(scene, {.tick = 1e-2, .hands = 4, .budget = WorkBudget::of(400)});
  const std::vector<HandPath> paths = script_paths(scene);
  double longest = 1;
  for (const HandPath& path : paths) longest = std::max(longest, path.duration());
  const double way = std::min(longest, longest_way);
  const std::uint64_t steps = std::min(most_steps, static_cast<std::uint64_t>(way / 1e-2));
  WorldState state(*model), again(*model), back(*model);
  StepScratch warm(*model, true), bare(*model), hoarding(*model, true);
  bool touched = false;
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::vector<HandInput> inputs = scripted(scene, paths, i, way / static_cast<double>(steps));
    back = state;
    step(*model, state, inputs, warm);
    touched = touched || warm.stats().in_contact > 0;
    ASSERT_TRUE(again.restore(back.bytes()));
    step(*model, again, inputs, bare);
    ASSERT_TRUE(again == state) << "step " << i;
    ASSERT_EQ(again.hash(), state.hash());
    // The same scratch again, after it has been used for a step from elsewhere.
    if (i % 10 == 0) {
      WorldState elsewhere(*model);
      step(*model, elsewhere, inputs, hoarding);
    }
    again = back;
    step(*model, again, inputs, hoarding);
    ASSERT_TRUE(again == state) << "step " << i;
  }
  EXPECT_TRUE(touched);
}

TEST(WorldSyncSlow, EveryStepOfEverySceneTakenBackAndTakenAgainIsTheSame) {
  for (const std::string& name : builtin_scene_names()) {
    SCOPED_TRACE(name);
    expect_steps_taken_again_are_the_same(small_scene(name), 600, 6);
  }
}

// It asks every point, so of some scenes, in fewer steps that go the whole way.
TEST(WorldSyncSlow, StepsOfTheExhaustiveEngineTakenAgainAreTheSame) {
  for (const char* name : {"ball-socket", "stack", "docking"}) {
    SCOPED_TRACE(name);
    expect_steps_taken_again_are_the_same(with_engine(small_scene(name), "exhaustive"), 150, 1e9);
  }
  Scene bending = builtin_scene("soft-bar");
  for (SceneBody& body : bending.bodies)
    for (ScenePart& part : body.parts) {
      part.settings.field.resolution = 40;
      part.settings.shell.points = 500;
      if (part.settings.elastic) part.settings.elastic->tets.target_tets = 600;
      part.part = testing_support::prepared(*part.mesh, part.settings);
    }
  const auto bends = [](const SceneBody& body) { return body.parts[0].part->elastic != nullptr; };
  ASSERT_TRUE(std::ranges::any_of(bending.bodies, bends));
  expect_steps_taken_again_are_the_same(with_engine(bending, "exhaustive"), 150, 1e9);
}

TEST(WorldState, GoesOnAlikeFromItsBytesOnOtherMemory) {
  const auto model = busy_model();
  WorldState state(*model);
  StepScratch scratch(*model, true);
  for (int i = 0; i < 100; ++i) step(*model, state, busy_inputs(i), scratch);
  const std::vector<std::byte> bytes(state.bytes().begin(), state.bytes().end());
  const auto same_model = busy_model();
  ASSERT_EQ(same_model->hash(), model->hash());
  WorldState other(*same_model);
  EXPECT_FALSE(other == state);
  ASSERT_TRUE(other.restore(bytes));
  EXPECT_TRUE(other == state);
  StepScratch fresh(*same_model);
  for (int i = 100; i < 300; ++i) {
    if (i == 200) scratch.clear_caches();
    step(*model, state, busy_inputs(i), scratch);
    step(*same_model, other, busy_inputs(i), fresh);
    ASSERT_TRUE(other == state) << i;
  }
}

// With the budget of a shared world the level follows from the state; with this machine's own it may not, but kept and
// asked for exactly it gives the same.
TEST(WorldState, StepsAtRecordedLevelsAreTheSameAsTheOnesThatChoseThem) {
  const auto model = busy_model();
  WorldState state(*model), again(*model);
  StepScratch scratch(*model, true), bare(*model);
  std::vector<std::uint8_t> levels(model->pairs().size());
  int changes = 0;
  for (int i = 0; i < 600; ++i) {
    const std::vector<std::uint8_t> last = levels;
    step(*model, state, busy_inputs(i), scratch,
         {Detail::Rule::by_work, WorkBudget::of(60 + 10 * static_cast<std::uint32_t>(i % 7)), {}});
    for (std::size_t p = 0; p < levels.size(); ++p) levels[p] = static_cast<std::uint8_t>(state.pairs()[p].level);
    step(*model, again, busy_inputs(i), bare, {Detail::Rule::exactly, {}, levels});
    ASSERT_TRUE(again == state) << i;
    changes += levels != last;
  }
  EXPECT_GT(changes, 10);
}

TEST(WorldState, RestoresNothingThatIsNotAState) {
  const auto model = busy_model();
  World world(model);
  for (int i = 0; i < 60; ++i) world.step(busy_inputs(i));
  const std::vector<std::byte> whole(world.state.bytes().begin(), world.state.bytes().end());
  WorldState target(*model);
  const WorldState before = target;
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, whole.size() - 8, whole.size() - 1})
    EXPECT_FALSE(target.restore(std::span(whole).first(size)));
  std::vector<std::byte> longer = whole;
  longer.resize(whole.size() + 8);
  EXPECT_FALSE(target.restore(longer));
  // Any number made infinite or none.
  for (std::size_t at = 0; at < whole.size(); at += 8)
    for (const double poison : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      std::vector<std::byte> bytes = whole;
      std::memcpy(bytes.data() + at, &poison, 8);
      EXPECT_FALSE(target.restore(bytes)) << at / 8;
    }
  // Rotations, indices and choices that are none.
  WorldState broken = world.state;
  const auto refused = [&](const auto& damage) {
    broken = world.state;
    damage();
    return !target.restore(broken.bytes());
  };
  EXPECT_TRUE(refused([&] { broken.bodies()[1].pose.rotation = {1, 1, 0, 0}; }));
  EXPECT_TRUE(refused([&] { broken.bodies()[1].motion = 3; }));
  EXPECT_TRUE(refused([&] { broken.bodies()[1].motion = 0.5; }));
  EXPECT_TRUE(refused([&] { broken.hands()[0].body = 5; }));
  EXPECT_TRUE(refused([&] { broken.hands()[0].body = -2; }));
  EXPECT_TRUE(refused([&] { broken.hands()[0].present = 2; }));
  EXPECT_TRUE(refused([&] { broken.hands()[0].grip.rotation = {0, 0, 0, 0}; }));
  EXPECT_TRUE(refused([&] { broken.pairs()[0].level = -1; }));
  EXPECT_TRUE(refused([&] { broken.pairs()[0].level = 0.25; }));
  EXPECT_TRUE(target == before);  // nothing of it was taken over
  EXPECT_FALSE(refused([] {}));
  EXPECT_TRUE(target == world.state);
}

// Whatever bytes come, a step of what was accepted is a state again.
TEST(WorldState, StepsOfAnyStateThatWasAcceptedStayStates) {
  const auto model = busy_model(1e-2);
  World world(model);
  for (int i = 0; i < 60; ++i) world.step(busy_inputs(i));
  Random random(71);
  int accepted = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::byte> bytes(world.state.bytes().begin(), world.state.bytes().end());
    for (int k = 0; k < 3; ++k) {
      const double sign_and_digits = random.uniform(-1, 1);
      const double value = sign_and_digits * std::pow(10, random.uniform(-3, 300));
      std::memcpy(bytes.data() + 8 * random.below(bytes.size() / 8), &value, 8);
    }
    WorldState state(*model);
    if (!state.restore(bytes)) continue;
    ++accepted;
    for (int i = 60; i < 63; ++i) step(*model, state, busy_inputs(i), world.scratch);
    WorldState copy(*model);
    EXPECT_TRUE(copy.restore(state.bytes())) << trial;
  }
  EXPECT_GT(accepted, 30);
}

// A state from a stranger may call any body free or moved along a path.
TEST(WorldState, ABodyWithoutPathOrMassStaysWhereItIs) {
  World world({floor_body(), free_block(2, {{0, 0, 0.1}, {}})}, earthly());
  world.state.bodies()[0].motion = static_cast<double>(Motion::free);
  world.state.bodies()[1].motion = static_cast<double>(Motion::path);
  WorldState copy(*world.model);
  ASSERT_TRUE(copy.restore(world.state.bytes()));
  world.run(0.1);
  EXPECT_EQ(world.body(1).pose.position, (Vec3d{0, 0, 0}));
  EXPECT_EQ(world.body(2).pose.position, (Vec3d{0, 0, 0.1}));
  for (const double ticks : {-1.0, 0.5, 1e300}) {
    world.state.head().ticks = ticks;
    EXPECT_FALSE(copy.restore(world.state.bytes())) << ticks;
  }
  world.state.head().ticks = 1;
  for (const double clearance : {-1e-3, 1e300}) {
    world.state.bodies()[1].clearance = clearance;
    EXPECT_FALSE(copy.restore(world.state.bytes())) << clearance;
  }
}

// A state that is not that of the world is not stepped: every index into it would be wrong.
TEST(WorldState, OfAnotherLayoutIsNotStepped) {
  const auto model = busy_model();
  World world(model);
  world.step(busy_inputs(0));
  EXPECT_TRUE(world.state.fits(*model));
  const auto is_refused = [&](WorldState state) {
    const WorldState before = state;
    const InvariantWatch watch;
    step(*model, state, busy_inputs(1), world.scratch);
    EXPECT_TRUE(state == before);
    EXPECT_FALSE(state.fits(*model));
    return watch.broken() != nullptr && std::string_view(watch.broken()) == k_layout_invariant;
  };
  WorldSettings settings = earthly();
  settings.hands = 2;
  EXPECT_TRUE(is_refused(WorldState(*model->with(settings))));
  EXPECT_TRUE(is_refused(WorldState(WorldModel({floor_body()}, earthly()))));
  EXPECT_TRUE(is_refused(WorldState()));
  for (const double body : {5.0, -2.0, std::nan(""), 1e300}) {  // of five bodies
    WorldState state = world.state;
    state.hands()[0].body = body;
    EXPECT_TRUE(is_refused(state)) << body;
  }
  // Nor a sound one in the scratch of another world.
  World other({floor_body()}, earthly());
  WorldState state = world.state;
  const InvariantWatch watch;
  step(*model, state, busy_inputs(1), other.scratch);
  EXPECT_TRUE(state == world.state);
  EXPECT_STREQ(watch.broken(), k_layout_invariant);
}

TEST(WorldState, OfAnotherLayoutEndsTheProgramWhereNobodyWatches) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  World world(busy_model());
  WorldState state;
  EXPECT_DEATH(step(*world.model, state, {}, world.scratch), "not laid out as its model says");
}

TEST(WorldState, HasAnotherHashAfterAnyChange) {
  const auto model = busy_model();
  const WorldState state(*model);
  std::vector<std::byte> bytes(state.bytes().begin(), state.bytes().end());
  std::vector<std::uint64_t> seen{state.hash()};
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    // The last bit of every number.
    bytes[at] ^= std::byte{1};
    WorldState changed(*model);
    if (changed.restore(bytes)) {
      EXPECT_FALSE(changed == state);
      seen.push_back(changed.hash());
    }
    bytes[at] ^= std::byte{1};
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  EXPECT_GT(seen.size(), 100U);
}

TEST(WorldModel, HasAnotherHashIfAnythingAboutItDiffers) {
  const auto make = [](const auto& change) {
    std::vector<BodyModel> bodies{floor_body(), free_block(2, {{0, 0, 0.1}, {}})};
    WorldSettings settings = earthly();
    std::vector<PairRule> rules;
    change(bodies, settings, rules);
    return WorldModel(bodies, settings, rules).hash();
  };
  using Bodies = std::vector<BodyModel>;
  using Rules = std::vector<PairRule>;
  const std::uint64_t same = make([](Bodies&, WorldSettings&, Rules&) {});
  EXPECT_EQ(make([](Bodies& b, WorldSettings&, Rules&) { b[1].name = "another name"; }), same);
  std::vector<std::uint64_t> seen{same};
  const auto differs = [&](const auto& change) { seen.push_back(make(change)); };
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].start.position.x = 1e-9; });
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].mass.mass *= 1.01; });
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].clearance = 1e-4; });
  for (const double speed : {0.1, 0.2})
    differs([speed](Bodies& b, WorldSettings&, Rules&) {
      b[0].motion = Motion::path;
      b[0].path = HandPath(std::vector<Pose>{{}, {{0.1, 0, 0}, {}}}, speed);
    });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.gravity.z = -9.8; });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.linear_drag = 0.1; });
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].holding = Holding::dynamic; });
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].pieces[0].part = ball_part(); });
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].pieces[0].place.position.z = 0.001; });
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].start_spin.x = 1; });
  differs([](Bodies& b, WorldSettings&, Rules&) { b[1].id = 3; });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.tick = 2e-3; });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.friction = 0.31; });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.restitution = 0.31; });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.contact.stiffness *= 2; });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.coupling.max_force = 7; });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.budget = WorkBudget::of(100); });
  differs([](Bodies&, WorldSettings& s, Rules&) { s.hands = 2; });
  differs([](Bodies&, WorldSettings&, Rules& r) { r.push_back({1, 2, false}); });
  differs([](Bodies&, WorldSettings&, Rules& r) { r.push_back({1, 2, true, "exhaustive"}); });
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(WorldModel, RefusesWhatCannotBe) {
  const auto make = [](const auto& change) {
    std::vector<BodyModel> bodies{floor_body(), free_block(2, {{0, 0, 0.1}, {}})};
    WorldSettings settings = earthly();
    std::optional<Task> task;
    change(bodies, settings, task);
    WorldModel(bodies, settings, {}, task);
  };
  using Bodies = std::vector<BodyModel>;
  using T = std::optional<Task>;
  EXPECT_NO_THROW(make([](Bodies&, WorldSettings&, T&) {}));
  EXPECT_THROW(make([](Bodies& b, WorldSettings&, T&) { b[1].id = 1; }), Error);
  EXPECT_THROW(make([](Bodies& b, WorldSettings&, T&) { b[1].mass = {}; }), Error);
  EXPECT_THROW(make([](Bodies& b, WorldSettings&, T&) { b[1].pieces[0].part = nullptr; }), Error);
  EXPECT_THROW(make([](Bodies& b, WorldSettings&, T&) { b[1].start.rotation = {0, 0, 0, 0}; }), Error);
  EXPECT_THROW(make([](Bodies& b, WorldSettings&, T&) { b[0].motion = Motion::path; }), Error);
  EXPECT_THROW(make([](Bodies& b, WorldSettings&, T&) { b[1].clearance = -1; }), Error);
  EXPECT_THROW(make([](Bodies&, WorldSettings& s, T&) { s.tick = 0; }), Error);
  EXPECT_THROW(make([](Bodies&, WorldSettings& s, T&) { s.hands = 1000; }), Error);
  EXPECT_THROW(make([](Bodies&, WorldSettings& s, T&) { s.gravity.z = std::nan(""); }), Error);
  EXPECT_THROW(make([](Bodies&, WorldSettings& s, T&) { s.contact.stiffness = -1; }), Error);
  EXPECT_THROW(make([](Bodies&, WorldSettings&, T& t) { t = Task{.body = 1, .target = {}, .summary = {}}; }), Error);
  EXPECT_THROW(make([](Bodies&, WorldSettings&, T& t) { t = Task{.body = 9, .target = {}, .summary = {}}; }), Error);
}

TEST(WorldModel, WithOtherNumbersIsAsIfMadeWithThem) {
  const std::vector<BodyModel> bodies{floor_body(), free_block(2, {{0, 0, 0.1}, {}})};
  WorldSettings settings = earthly();
  const WorldModel model(bodies, settings);
  settings.contact.stiffness = 5000;
  settings.friction = 0.9;
  EXPECT_EQ(model.with(settings)->hash(), WorldModel(bodies, settings).hash());
  EXPECT_EQ(model.with(settings)->engine(model.pairs()[0]).settings().stiffness, 5000);
  EXPECT_EQ(model.with(model.settings())->hash(), model.hash());
}

}  // namespace
}  // namespace cotouch::this_file
