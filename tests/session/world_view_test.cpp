// What is shown of bodies, hands and tasks.
#include <cotouch/session/running_world.h>
#include <cotouch/session/sight.h>
#include <cotouch/session/world_view.h>

#include <gtest/gtest.h>

#include <algorithm>

#include "session/page_hands.h"
#include "session/session_fixture.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// Two hands: the first presses ball 2 onto the fixed ball, the second holds ball 3 in free space.
class TwoHands : public ::testing::Test {
 protected:
  TwoHands() {
    devices_[0].hold(2, {});
    devices_[1].hold(3, {});
    world_.loop().run_cycles(10);
    devices_[0].move({{0.002, 0, 0.03}, {}}, 0, 1);
    devices_[1].move({{0.10, 0, 0.08}, {}}, 0, 1);
    world_.loop().run_cycles(1500);
    frame_ = world_.loop().world_frame();
  }
  HandView hand(std::size_t i) {
    return hand_view(world_.model(), frame_.world, world_.contacts(), i, frame_.touch.sample.hands[i].felt, 8);
  }

  PageHands devices_;
  RunningWorld world_{three_balls(), {}, devices_};
  WorldFrame frame_;
};

TEST_F(TwoHands, AHandHasTheContactsOfTheBodyItHolds) {
  const ContactStats all = frame_.touch.contact;
  ASSERT_GT(all.in_contact, 0U);
  EXPECT_EQ(hand(0).body, 2U);
  EXPECT_EQ(hand(0).in_contact, all.in_contact);  // its ball is the only one that touches anything
  EXPECT_EQ(hand(0).deepest, all.deepest);
  EXPECT_GT(hand(0).visited, 0U);
  EXPECT_GT(hand(0).felt.force.z, 1);
  EXPECT_EQ(hand(1).body, 3U);
  EXPECT_EQ(hand(1).in_contact, 0U);
  EXPECT_EQ(hand(1).deepest, 0.0F);
  EXPECT_FALSE(hand(1).detail_limited);
  // A hand that nobody has.
  EXPECT_EQ(hand(2).body, 0U);
  EXPECT_EQ(hand(2).visited, 0U);
}

TEST_F(TwoHands, BodiesThatTouchAreMarked) {
  const auto bodies = [&] { return body_views(world_.model(), frame_.world, world_.contacts()); };
  ASSERT_EQ(bodies().size(), 2U);  // without the fixed one
  EXPECT_EQ(bodies()[0].id, 2U);
  EXPECT_TRUE(bodies()[0].held);
  EXPECT_TRUE(bodies()[0].touching);
  EXPECT_TRUE(bodies()[1].held);
  EXPECT_FALSE(bodies()[1].touching);
  devices_[0].move({{0, 0, 0.09}, {}}, 0, 2);
  world_.loop().run_cycles(1500);
  frame_ = world_.loop().world_frame();
  EXPECT_FALSE(bodies()[0].touching);
}

TEST_F(TwoHands, ContactsGoOnWhenTheWorldChanges) {
  world_.take(RunningWorld::make_change(three_balls(), {.contact_stiffness = 2000}, false));
  EXPECT_GT(world_.contacts().at(1).in_contact, 0U);  // of the world that is still in use
  world_.loop().run_cycles(10);
  world_.collect(nullptr);
  EXPECT_GT(world_.contacts().at(1).in_contact, 0U);
  EXPECT_EQ(world_.contacts().at(2).in_contact, 0U);
}

TEST_F(TwoHands, AForceThatTheLimitsCutIsMarked) {
  EXPECT_TRUE(hand(0).force_limited);  // a centimetre deep: all that the coupling gives
  devices_[0].move({{0, 0, 0.039}, {}}, 0, 2);
  world_.loop().run_cycles(1500);
  frame_ = world_.loop().world_frame();
  EXPECT_GT(hand(0).felt.force.z, 0.1);
  EXPECT_FALSE(hand(0).force_limited);
  Wrench cut = frame_.touch.sample.hands[0].felt;
  EXPECT_TRUE(hand_view(world_.model(), frame_.world, world_.contacts(), 0, cut, norm(cut.force)).force_limited);
  cut.force = cut.force * 0.5;
  EXPECT_TRUE(hand_view(world_.model(), frame_.world, world_.contacts(), 0, cut, 8).force_limited);
}

TEST(WorldViews, ABodyRestsIfNoPointOfItMoves) {
  const auto model = felt_model(two_balls(), {});
  WorldState state(*model);
  const std::vector<ContactStats> contacts(2);
  const auto resting = [&] { return body_views(*model, state, contacts).at(0).resting; };
  EXPECT_TRUE(resting());
  state.bodies()[1].velocity = {0.5e-3, 0, 0};
  EXPECT_TRUE(resting());
  state.bodies()[1].velocity = {0, 2e-3, 0};
  EXPECT_FALSE(resting());
  state.bodies()[1].velocity = {};
  state.bodies()[1].spin = {0, 0, 0.1};  // 2 mm/s at a radius of 20 mm
  EXPECT_FALSE(resting());
  state.bodies()[1].spin = {};
  state.hands()[0].present = 1;
  state.hands()[0].body = 1;
  EXPECT_FALSE(resting());
}

TEST(WorldViews, ATaskShowsHowFarItIs) {
  Scene scene = two_balls();
  EXPECT_FALSE(task_view(*felt_model(scene, {}), WorldState(*felt_model(scene, {}))).has_value());
  scene.task = Task{2, {{0.03, 0.04, 0.05}, {}}, 0.004, 0.1, "There."};
  const auto model = felt_model(scene, {});
  WorldState state(*model);
  TaskView view = task_view(*model, state).value();
  EXPECT_EQ(view.state, TaskView::State::waiting);
  EXPECT_EQ(view.body, 2U);
  EXPECT_FLOAT_EQ(view.position_error, 0.05F);  // 3, 4, 5
  EXPECT_FLOAT_EQ(view.position_tolerance, 0.004F);
  state.head().task.started = 1;
  EXPECT_EQ(task_view(*model, state)->state, TaskView::State::running);
  state.head().task.done = 1;
  EXPECT_EQ(task_view(*model, state)->state, TaskView::State::done);
}

TEST(Sight, NearnessTellsOnlyOfWhatIsHeldOrMoves) {
  const auto shown = show(three_balls());
  const auto model = felt_model(shown->scene, {});
  Sight sight(shown, model);
  WorldState state(*model);
  state.bodies()[1].pose.position = {0, 0, 0.041};  // as good as on the fixed ball
  state.bodies()[2].pose.position = {1, 0, 0};
  std::vector<std::uint8_t> values;
  const auto nearest = [&](std::size_t part) {
    EXPECT_TRUE(sight.nearness(state, shown->parts[part], values));
    return *std::min_element(values.begin(), values.end());
  };
  EXPECT_EQ(nearest(0), 255);
  EXPECT_EQ(nearest(1), 255);
  // Pushed or held, it is news for both.
  state.bodies()[1].velocity = {0, 0, -2e-3};
  EXPECT_LT(nearest(0), 100);
  EXPECT_LT(nearest(1), 100);
  state.bodies()[1].velocity = {};
  state.hands()[0].present = 1;
  state.hands()[0].body = 1;
  EXPECT_LT(nearest(0), 100);
  EXPECT_LT(nearest(1), 100);
  // Somebody who holds something else does not make it news.
  state.hands()[0].body = 2;
  EXPECT_EQ(nearest(0), 255);
}

}  // namespace
}  // namespace cotouch::this_file
