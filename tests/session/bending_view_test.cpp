// What is shown of bodies that bend.
#include <cotouch/elastic/deformation.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/session/running_world.h>
#include <cotouch/session/sight.h>
#include <cotouch/session/world_view.h>

#include <gtest/gtest.h>
#include <support/elastic_parts.h>

#include <algorithm>

#include "session/elastic_scene.h"
#include "session/page_hands.h"

namespace cotouch::this_file {
namespace {

using namespace testing_session;

// A hand takes the bar near its free end and lifts it by 2 cm.
class BarInHand : public ::testing::Test {
 protected:
  BarInHand() {
    devices_[0].hold(1, {0.095, 0, 0.01});
    world_.loop().run_cycles(10);
    devices_[0].move({{0.095, 0, 0.03}, {}}, 0, 1);
    world_.loop().run_cycles(800);
    frame_ = world_.loop().world_frame();
  }
  HandView hand() {
    return hand_view(world_.model(), frame_.world, world_.contacts(), 0, frame_.touch.sample.hands[0].felt, 8);
  }

  testing_session::PageHands devices_;
  RunningWorld world_{bar_and_ball(), {}, devices_};
  WorldFrame frame_;
};

TEST_F(BarInHand, TheGripIsThePointThatIsHeld) {
  ASSERT_EQ(hand().body, 1U);
  const HandRecord& record = frame_.world.hands()[0];
  ASSERT_GE(record.point, 0);
  // The bar is soft and the spring is not: the point has come along, most of the way.
  EXPECT_NEAR(hand().grip.position.z, 0.03, 0.004);
  EXPECT_LT(norm(hand().grip.position - hand().pose.position), 0.004);
  // The force on the hand goes from the hand to the grip.
  EXPECT_LT(hand().felt.force.z, -0.05);
  EXPECT_LT(hand().grip.position.z, hand().pose.position.z);
}

TEST_F(BarInHand, TheCoordinatesAreThoseOfTheWorld) {
  const std::vector<BendingView> bending = bending_views(world_.model(), frame_.world);
  ASSERT_EQ(bending.size(), 1U);
  EXPECT_EQ(bending[0].body, 1U);
  const ElasticModel& bar = *world_.model().elastic(0);
  ASSERT_EQ(bending[0].coordinates.size(), bar.size());
  EXPECT_GT(bar.largest_move(frame_.world.bending().data()), 0.01);
  for (std::size_t j = 0; j < bar.size(); ++j)
    EXPECT_EQ(bending[0].coordinates[j], static_cast<float>(frame_.world.bending()[j]));
}

TEST_F(BarInHand, ABodyThatBendsIsSeenEvenIfItIsFixed) {
  const auto bodies = [&] { return body_views(world_.model(), frame_.world, world_.contacts()); };
  ASSERT_EQ(bodies().size(), 2U);
  EXPECT_EQ(bodies()[0].id, 1U);
  EXPECT_EQ(bodies()[0].motion, Motion::fixed);
  EXPECT_TRUE(bodies()[0].held);
  // Let go, it swings and is not at rest.
  devices_[0].release();
  world_.loop().run_cycles(20);
  frame_ = world_.loop().world_frame();
  EXPECT_FALSE(bodies()[0].held);
  EXPECT_FALSE(bodies()[0].resting);
}

TEST_F(BarInHand, NearnessIsThatOfTheBentSurface) {
  const auto shown = show(bar_and_ball());
  Sight sight(shown, felt_model(shown->scene, {}));
  std::vector<std::uint8_t> before, after;
  // The ball hangs 5 mm above where the end of the bar is now.
  WorldState state = frame_.world;
  state.bodies()[1].pose.position = {0.095, 0, 0.03 + 0.005 + 0.02};
  ASSERT_TRUE(sight.nearness(state, shown->parts[0], after));
  const std::vector<Vec3d>& vertices = shown->parts[0].picture->mesh.vertices;
  ASSERT_EQ(after.size(), vertices.size());
  const auto nearest = static_cast<std::size_t>(std::min_element(after.begin(), after.end()) - after.begin());
  EXPECT_GT(vertices[nearest].x, 0.08);
  EXPECT_NEAR(after[nearest] * sight.range() / 255, 0.005, 0.003);
  // Not bent, the bar is 2 cm farther away.
  std::fill(state.bending().begin(), state.bending().end(), 0.0);
  ASSERT_TRUE(sight.nearness(state, shown->parts[0], before));
  EXPECT_NEAR(*std::min_element(before.begin(), before.end()) * sight.range() / 255, 0.025, 0.003);
}

TEST_F(BarInHand, ContactsLieOnTheBentSurface) {
  const auto shown = show(bar_and_ball());
  Sight sight(shown, felt_model(shown->scene, {}));
  WorldState state = frame_.world;
  state.bodies()[1].pose.position = {0.095, 0, 0.03 - 0.001 + 0.02};
  const ContactView view = sight.look(state, false);
  ASSERT_FALSE(view.contacts.empty());
  for (const MarkedPoint& point : view.contacts) EXPECT_NEAR(point.position.z, 0.03F, 0.005F);
  EXPECT_LT(view.clearance, 0);
  std::fill(state.bending().begin(), state.bending().end(), 0.0);
  EXPECT_TRUE(sight.look(state, false).contacts.empty());
  EXPECT_NEAR(sight.clearance(state), 0.019F, 0.002F);
}

TEST(Pictures, KnowWhereTheirVerticesLieInTheTetrahedra) {
  const auto bar = elastic_test::held_bar(ElasticLaw::warped);
  auto fine = std::make_shared<Part>(*bar);
  fine->mesh = with_short_edges(bar->mesh, 0.002, 50'000);
  const DisplayLimits few{.exact = 100, .most = 100};
  const auto simplified = make_picture(fine, few);
  EXPECT_TRUE(simplified->decimated);
  for (const auto& picture : {make_picture(bar), simplified}) {  // divided, and simplified
    ASSERT_EQ(picture->embedding.size(), picture->mesh.vertices.size());
    const ElasticData& data = bar->elastic->data();
    for (std::size_t i = 0; i < picture->embedding.size(); ++i) {
      Vec3d at;
      for (std::size_t k = 0; k < 4; ++k)
        at += Vec3d(data.nodes[picture->embedding[i].node[k]]) * static_cast<double>(picture->embedding[i].weight[k]);
      EXPECT_LT(norm(at - picture->mesh.vertices[i]), 1e-6);
    }
  }
  EXPECT_TRUE(make_picture(ball())->embedding.empty());
}

}  // namespace
}  // namespace cotouch::this_file
