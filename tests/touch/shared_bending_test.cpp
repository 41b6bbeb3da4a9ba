// Touch of what bends in a world shared with others.
#include <cotouch/touch/followed_world.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "support/elastic_parts.h"

namespace cotouch::this_file {
namespace {

using namespace elastic_test;

constexpr std::uint32_t k_hands = 4, k_bar = 1;
constexpr std::size_t k_self = 1, k_other = 2;
constexpr Vec3d k_tip{0.1, 0, 0};

// A rubber bar, held at its low x end, without gravity.
std::shared_ptr<const WorldModel> bar_model(double tick, ElasticLaw law) {
  BodyModel bar;
  bar.id = k_bar;
  bar.name = "bar";
  bar.pieces.push_back({held_bar(law), {}});
  WorldSettings settings;
  settings.tick = tick;
  settings.hands = k_hands;
  return std::make_shared<const WorldModel>(std::vector{bar}, settings);
}

HandInput hand_at(const Vec3d& position, bool grasps = false) {
  HandInput input;
  input.present = true;
  if (grasps) {
    input.action = HandInput::Action::grasp;
    input.body = k_bar;
  }
  input.pose.position = position;
  return input;
}

// One who feels at 1 kHz, and the shared world at 100 Hz that is followed.
struct Follower {
  explicit Follower(ElasticLaw law) : slow_model(bar_model(0.01, law)), fast(bar_model(1e-3, law), k_self) {}

  void pass(const HandInput& own) {
    if (cycles++ % 10 == 0) {
      inputs[k_self] = shared_input(fast.local_hands()[k_self], told);
      told = fast.local_hands()[k_self].grasps;
      step(*slow_model, slow, inputs, scratch);
      for (HandInput& input : inputs) input.action = HandInput::Action::none;
      if (before_feeding) before_feeding(slow);
      EXPECT_TRUE(fast.follow(slow));
    }
    const Vec3d before = felt();
    const std::vector<double> bent(state().bending().begin(), state().bending().end());
    fast.cycle(std::span(&own, 1));
    fastest = std::max(fastest, norm(felt() - before));
    std::vector<double> change(size());
    for (std::size_t j = 0; j < size(); ++j) change[j] = state().bending()[j] - bent[j];
    fastest_bend = std::max(fastest_bend, fast.model().elastic(0)->largest_move(change.data()));
  }
  void pass(const HandInput& own, int count) {
    for (int i = 0; i < count; ++i) pass(own);
  }
  const WorldState& state() const { return std::as_const(fast).state(); }
  Vec3d felt() const { return state().hands()[k_self].felt.force; }
  std::size_t size() const { return slow_model->elastic(0)->size(); }
  // How far apart the two bars are, metres.
  double difference() const {
    std::vector<double> q(size());
    for (std::size_t j = 0; j < size(); ++j) q[j] = state().bending()[j] - slow.bending()[j];
    return slow_model->elastic(0)->largest_move(q.data());
  }
  double bent() const { return slow_model->elastic(0)->largest_move(slow.bending().data()); }

  std::shared_ptr<const WorldModel> slow_model;
  WorldState slow{*slow_model};
  StepScratch scratch{*slow_model};
  FollowedWorld fast;
  std::array<HandInput, k_hands> inputs{};
  std::function<void(WorldState&)> before_feeding;
  std::uint32_t told = 0;
  int cycles = 0;
  double fastest = 0, fastest_bend = 0;  // largest change in a millisecond: newtons, metres
};

TEST(SharedBending, WhatOthersBendIsBentHereToo) {
  for (const ElasticLaw law : k_laws) {
    Follower f(law);
    f.inputs[k_other] = hand_at(k_tip, true);
    f.pass(hand_at({}), 100);
    f.inputs[k_other].pose.position.z += 0.03;
    f.pass(hand_at({}), 1500);
    EXPECT_GT(f.bent(), 0.015);
    EXPECT_LT(f.difference(), 1e-4);
    EXPECT_EQ(norm(f.felt()), 0);
  }
}

// A twentieth of the difference in a millisecond, however it came about.
TEST(SharedBending, ARollbackIsNoJumpOfWhatIsSeen) {
  Follower f(ElasticLaw::stvk);
  f.pass(hand_at({}), 100);
  double jump = 0;
  f.before_feeding = [&](WorldState& slow) {
    slow.bending()[0] += 2e-3;
    jump = f.slow_model->elastic(0)->largest_move(slow.bending().data());
    f.before_feeding = nullptr;
  };
  f.fastest_bend = 0;
  f.pass(hand_at({}), 10);
  EXPECT_GT(jump, 1e-3);
  EXPECT_GT(f.fastest_bend, 0);
  EXPECT_LE(f.fastest_bend, jump / 20 * 1.01);
}

TEST(SharedBending, TheLocalHandFeelsTheBarAsIfAlone) {
  for (const ElasticLaw law : k_laws) {
    Follower f(law);
    LocalWorld alone(bar_model(1e-3, law));
    std::array<HandInput, k_hands> inputs{};
    const auto pass = [&](const HandInput& own) {
      f.pass(own);
      inputs[k_self] = own;
      alone.cycle(inputs);
    };
    const auto felt_alone = [&] { return std::as_const(alone).state().hands()[k_self].felt.force; };
    pass(hand_at(k_tip, true));
    for (int i = 0; i < 300; ++i) pass(hand_at(k_tip));
    // 2 cm in 0.4 s, and then at rest.
    for (int i = 1; i <= 400; ++i) {
      pass(hand_at(k_tip + Vec3d{0, 0, 0.02 * i / 400}));
      EXPECT_LT(norm(f.felt() - felt_alone()), 0.15 * norm(felt_alone()) + 0.1) << i;
    }
    for (int i = 0; i < 1000; ++i) pass(hand_at(k_tip + Vec3d{0, 0, 0.02}));
    EXPECT_GT(norm(felt_alone()), 0.3);
    EXPECT_LT(norm(f.felt() - felt_alone()), 0.02 * norm(felt_alone()));
    EXPECT_LT(f.difference(), 3e-4);
  }
}

TEST(SharedBending, TheOthersPullIsFeltThroughTheBar) {
  Follower f(ElasticLaw::warped);
  f.pass(hand_at(k_tip, true));
  f.inputs[k_other] = hand_at({0.05, 0, 0}, true);
  f.pass(hand_at(k_tip), 500);
  EXPECT_LT(norm(f.felt()), 0.05);
  f.inputs[k_other].pose.position.z += 0.02;
  f.fastest = 0;
  f.pass(hand_at(k_tip), 1500);
  // The local hand is drawn upwards, as in the slower world, and never by a step.
  EXPECT_GT(f.felt().z, 0.2);
  EXPECT_NEAR(f.felt().z, f.slow.hands()[k_self].felt.force.z, 0.1 * f.felt().z);
  EXPECT_LT(f.fastest, 0.5);
}

TEST(SharedBending, ARollbackWhileItIsHeldIsNoStepInTheForce) {
  Follower f(ElasticLaw::stvk);
  f.pass(hand_at(k_tip, true));
  f.pass(hand_at(k_tip + Vec3d{0, 0, 0.01}), 1000);
  f.fastest = 0;
  f.pass(hand_at(k_tip + Vec3d{0, 0, 0.01}), 100);
  const double calm = f.fastest;
  EXPECT_LT(calm, 1e-3);
  f.before_feeding = [&](WorldState& slow) {
    slow.bending()[0] += 2e-3;
    f.before_feeding = nullptr;
  };
  f.fastest = 0;
  f.pass(hand_at(k_tip + Vec3d{0, 0, 0.01}), 300);
  EXPECT_FALSE(f.before_feeding);
  EXPECT_GT(f.fastest, 10 * calm);  // it was felt
  // At most 0.15 m/s against the coupling's 1000 N/m, and what the bar answers by itself.
  EXPECT_LE(f.fastest, 0.2);
}

}  // namespace
}  // namespace cotouch::this_file
