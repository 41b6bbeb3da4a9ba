#include <cotouch/session/state_difference.h>

#include "session/shared_fixture.h"

#include <gtest/gtest.h>

namespace cotouch::this_file {
namespace {

using namespace testing_session;

TEST(StateDifference, NamesTheFirstFieldThatDiffers) {
  const auto model = shared_balls();
  const WorldState here(*model);
  WorldState there = here;
  EXPECT_EQ(first_difference(*model, here, there), "");
  there.pairs()[1].level = 3;
  EXPECT_EQ(first_difference(*model, here, there), "the level of pair 1 is 0 here and 3 there");
  there.hands()[5].felt.force.y = 2;
  EXPECT_EQ(first_difference(*model, here, there), "force y of hand 5 is 0 here and 2 there");
  there.hands()[5].grip.rotation.w = 0.5;
  EXPECT_EQ(first_difference(*model, here, there), "grip w of hand 5 is 1 here and 0.5 there");
  there.bodies()[1].spin.z = -0.5;
  EXPECT_EQ(first_difference(*model, here, there), "spin z of body 'ball' is 0 here and -0.5 there");
  there.bodies()[1].velocity.x = 1e-9;
  EXPECT_EQ(first_difference(*model, here, there), "velocity x of body 'ball' is 0 here and 1e-09 there");
  there.head().task.seconds = 7;
  EXPECT_EQ(first_difference(*model, here, there), "the task's seconds is 0 here and 7 there");
}

}  // namespace
}  // namespace cotouch::this_file
