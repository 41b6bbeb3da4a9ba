// A running world that follows one shared with others.
#include <cotouch/session/running_world.h>

#include <cotouch/base/error.h>
#include <cotouch/base/realtime.h>

#include <gtest/gtest.h>

#include <array>

#include "session/page_hands.h"
#include "session/session_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

constexpr std::size_t k_self = 5, k_other = 2;

class FollowingWorld : public ::testing::Test {
 protected:
  // Ten milliseconds: a tick of the shared world, then the loop.
  void pass_tick() {
    const LocalHand hand = world.local_hands()[k_self];
    inputs[k_self] = shared_input(hand, told);
    told = hand.grasps;
    step(*model, shared, inputs, scratch);
    inputs[k_other].action = HandInput::Action::none;
    ASSERT_TRUE(world.follow(shared));
    for (int i = 0; i < 10; ++i) world.loop().run_cycles(1);
  }
  void pass_ticks(int count) {
    for (int i = 0; i < count; ++i) pass_tick();
  }
  const WorldState& felt_world() { return world.loop().world_frame().world; }

  PageHands devices;
  RunningWorld world{three_balls(), {}, devices, Following{k_self}};
  std::shared_ptr<const WorldModel> model = felt_model(three_balls(), {}, k_shared_pace);
  WorldState shared{*model};
  StepScratch scratch{*model};
  std::array<HandInput, k_shared_pace.hands> inputs{};
  std::uint32_t told = 0;
};

TEST_F(FollowingWorld, WhoTakesHoldIsThisPeersHandInBothWorlds) {
  EXPECT_TRUE(world.is_following());
  pass_ticks(2);
  EXPECT_EQ(world.hand_of(0), k_no_hand);  // a page's is nowhere while it holds nothing
  devices[0].hold(2, {});
  pass_ticks(5);
  EXPECT_EQ(world.hand_of(0), k_self);
  EXPECT_EQ(world.hand_of(1), k_no_hand);
  EXPECT_EQ(shared.hands()[k_self].body, 1);
  EXPECT_EQ(felt_world().hands()[k_self].body, 1);
  devices[0].move({{0.01, 0, 0.07}, {}}, 0, 1);
  pass_ticks(100);
  EXPECT_LT(norm(shared.bodies()[1].pose.position - Vec3d{0.01, 0, 0.07}), 1e-4);
  EXPECT_LT(norm(felt_world().bodies()[1].pose.position - Vec3d{0.01, 0, 0.07}), 1e-4);
  devices[0].release();
  pass_ticks(3);
  EXPECT_EQ(shared.hands()[k_self].present, 0);
}

TEST_F(FollowingWorld, TheOthersHandIsSeenAndItsPullFelt) {
  devices[0].hold(2, {});
  pass_ticks(5);
  inputs[k_other].present = true;
  inputs[k_other].action = HandInput::Action::grasp;
  inputs[k_other].body = 2;
  inputs[k_other].pose = shared.bodies()[1].pose;
  pass_ticks(20);
  inputs[k_other].pose.position.x += 0.004;
  pass_ticks(50);
  EXPECT_EQ(felt_world().hands()[k_other].body, 1);
  EXPECT_NEAR(felt_world().hands()[k_other].pose.position.x, 0.004, 1e-5);
  EXPECT_NEAR(world.loop().frame().sample.hands[0].felt.force.x, 1000 * 0.002, 0.02);  // halfway between the two
  // One that comes later and goes by itself while nobody here holds anything.
  devices[0].release();
  pass_ticks(50);
  EXPECT_NEAR(felt_world().bodies()[1].pose.position.x, 0.004, 1e-4);
}

TEST_F(FollowingWorld, ACycleNeitherAllocatesNorLocks) {
#ifndef COTOUCH_RT_GUARD
  GTEST_SKIP() << "a sanitizer brings its own allocator";
#endif
  devices[0].hold(2, {});
  pass_tick();
  const std::uint64_t before = RealtimeSection::breaches();
  {
    const RealtimeSection section;
    world.follow(shared);
    world.local_hands();
  }
  devices[0].move({{0.002, 0, 0.03}, {}}, 1, 1);
  pass_ticks(50);
  EXPECT_GT(world.loop().frame().sample.in_contact, 0U);
  EXPECT_GT(world.contacts()[1].in_contact, 0U);
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

TEST_F(FollowingWorld, OnlyTheLargestForceChanges) {
  devices[0].hold(2, {});
  pass_tick();
  devices[0].move({{0, 0, 0.03}, {}}, 0, 1);
  pass_ticks(100);
  EXPECT_GT(norm(world.loop().frame().sample.hands[0].felt.force), 2);
  const std::uint64_t model_before = world.model().hash();
  world.take(RunningWorld::make_change(three_balls(), {.contact_stiffness = 1, .max_force = 1}, true));
  pass_ticks(20);
  EXPECT_EQ(world.model().hash(), model_before);
  EXPECT_NEAR(norm(world.loop().frame().sample.hands[0].felt.force), 1, 1e-6);
  EXPECT_THROW(world.start_recording("three"), Error);
}

}  // namespace
}  // namespace cotouch::this_file
