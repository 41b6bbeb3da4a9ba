// A world that steps elsewhere: felt at every cycle, fed now and then.
#include <cotouch/touch/followed_world.h>

#include <cotouch/base/trig.h>
#include <cotouch/touch/loop.h>

#include "fixtures.h"
#include "support/eventually.h"

#include <gtest/gtest.h>

#include <limits>

#include <cmath>
#include <thread>

namespace cotouch::this_file {
namespace {

using testing::k_peg;
using testing::peg_model;
using testing::ProbeDevice;

constexpr double k_height = 0.005;

HandInput hand_at(double x, double z, bool grasps = false) {
  HandInput input;
  input.present = true;
  input.action = grasps ? HandInput::Action::grasp : HandInput::Action::none;
  input.body = k_peg;
  input.pose = {{x, 0, z}, {}};
  return input;
}

// The world of all at 100 Hz, and one machine that follows it and feels at 1 kHz.
struct Followed {
  std::shared_ptr<const WorldModel> slow_model = peg_model(1e5, testing::k_tip, {}, 1e-2);
  WorldState slow{*slow_model};
  StepScratch scratch{*slow_model};
  FollowedWorld fast{peg_model(), 0};
};

// Where the hand is at a time in seconds: down onto the plate, then along it.
Pose path_at(double t) {
  const double z = t < 0.2 ? k_height - 0.04 * t : -0.003;
  return {{t < 0.3 ? 0 : 0.02 * (t - 0.3), 0, z}, {}};
}

TEST(FollowedWorld, ContactIsFeltAtEveryCycleThoughTheWorldStepsATenthAsOften) {
  Followed f;
  ProbeDevice device(k_peg);
  int cycle = 0;
  Wrench last;
  double fastest = 0;
  device.on_read = [&](DeviceReading& reading) {
    reading.pose = path_at(cycle * 1e-3);
    return true;
  };
  device.on_write = [&](const Wrench& now) {
    fastest = std::max(fastest, norm(now.force - last.force));
    last = now;
  };
  TouchLoop loop({&device}, f.fast, {});
  double first_felt = 0;
  for (; cycle < 1000; ++cycle) {
    if (cycle % 10 == 0) {
      HandInput input = hand_at(0, 0, cycle == 0);
      input.pose = path_at(cycle * 1e-3);
      step(*f.slow_model, f.slow, std::span(&input, 1), f.scratch);
      f.fast.follow(f.slow);
    }
    const double before = last.force.z;
    loop.run_cycles(1);
    if (first_felt == 0 && last.force.z > 0.05 && before <= 0.05) first_felt = path_at(cycle * 1e-3).position.z;
    // Between two states of the slower world the force follows the hand all the same: 0.04 m/s times 1000 N/m.
    if (cycle > 150 && cycle < 195) {
      EXPECT_GT(last.force.z, before + 0.01) << cycle;
    }
  }
  // Felt within a tenth of a millimetre of the plate, less than the way of one slow tick.
  EXPECT_NEAR(first_felt, 0, 2e-4);
  EXPECT_NEAR(last.force.z, 3, 0.2);
  EXPECT_LE(fastest, 5 * (1 + 1e-12));
  EXPECT_LT(fastest, 0.5);  // and no step at all here
}

// One such state would leave the bodies here where no later one brings them back from, and the hand without force.
TEST(FollowedWorld, DoesNotFollowStatesWhoseNumbersWouldOverflow) {
  Followed f;
  for (double* number :
       {&f.slow.bodies()[1].pose.position.x, &f.slow.bodies()[1].velocity.z, &f.slow.hands()[1].grip.position.y,
        &f.slow.hands()[2].pose.position.z, &f.slow.hands()[1].velocity.angular.x}) {
    const double was = *number;
    *number = 1e300;
    EXPECT_FALSE(f.fast.follow(f.slow));
    *number = was;
    EXPECT_TRUE(f.fast.follow(f.slow));
  }
}

// The slower world says the peg is elsewhere: a correction of 20 mm, felt as a slow pull.
TEST(FollowedWorld, ACorrectionFromOutsideIsNoStepInTheForce) {
  Followed f;
  ProbeDevice device(k_peg);
  device.on_read = [](DeviceReading& reading) {
    reading.pose = {{0, 0, 0.02}, {}};
    return true;
  };
  Wrench last;
  double fastest = 0, most = 0;
  device.on_write = [&](const Wrench& now) {
    fastest = std::max(fastest, norm(now.force - last.force));
    most = std::max(most, norm(now.force));
    last = now;
  };
  f.slow.bodies()[1].pose.position = {0, 0, 0.02};
  f.fast.follow(f.slow);
  TouchLoop loop({&device}, f.fast, {});
  loop.run_cycles(300);
  EXPECT_LT(most, 0.2);
  f.slow.bodies()[1].pose.position.x = 0.02;
  f.fast.follow(f.slow);
  fastest = most = 0;
  loop.run_cycles(300);
  EXPECT_GT(most, 0.1);      // it is felt
  EXPECT_LE(fastest, 0.25);  // a hundredth of 20 mm a cycle, times 1000 N/m
}

TEST(FollowedWorld, BodiesNobodyHereHoldsGlideToWhereTheSlowerWorldHasThem) {
  Followed f;
  f.slow.bodies()[1].pose = {{0.03, 0, 0.05}, quat_from_rotation_vector({0, 0, 1})};
  f.slow.bodies()[1].clearance = 1e-4;
  f.fast.follow(f.slow);
  double last = 0;
  for (int i = 0; i < 300; ++i) {
    f.fast.cycle({});
    const double x = f.fast.state().bodies()[1].pose.position.x;
    ASSERT_GE(x, last);
    ASSERT_LE(x - last, 0.03 / 20 * 1.001);
    last = x;
  }
  const BodyRecord& body = f.fast.state().bodies()[1];
  EXPECT_LT(norm(body.pose.position - Vec3d{0.03, 0, 0.05}), 1e-6);
  EXPECT_LT(norm(rotation_vector(body.pose.rotation) - Vec3d{0, 0, 1}), 1e-5);
  EXPECT_EQ(body.clearance, 1e-4);
}

TEST(FollowedWorld, TakesNoStateOfAnotherSize) {
  Followed f;
  const Pose elsewhere{{1, 1, 1}, {}};
  const WorldState fewer_hands(*peg_model(1e5, testing::k_tip, {}, 1e-2, elsewhere, 2));
  EXPECT_FALSE(f.fast.follow(fewer_hands));
  for (int i = 0; i < 100; ++i) f.fast.cycle({});
  EXPECT_EQ(f.fast.state().bodies()[1].pose.position.x, 0);
  const WorldState as_many(*peg_model(1e5, testing::k_tip, {}, 1e-2, elsewhere));
  f.fast.follow(as_many);
  for (int i = 0; i < 100; ++i) f.fast.cycle({});
  EXPECT_GT(f.fast.state().bodies()[1].pose.position.x, 0.9);
}

TEST(FollowedWorld, AStateThatIsNoneLeavesTheNewestOneFollowed) {
  Followed f;
  // Three times, because a channel of three slots gives the writer an old one.
  for (int i = 1; i <= 3; ++i) {
    f.slow.bodies()[1].pose.position.x = 0.01 * i;
    ASSERT_TRUE(f.fast.follow(f.slow));
    f.fast.cycle({});
  }
  f.slow.bodies()[1].velocity.x = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(f.fast.follow(f.slow));
  for (int i = 0; i < 300; ++i) f.fast.cycle({});
  EXPECT_NEAR(f.fast.state().bodies()[1].pose.position.x, 0.03, 1e-6);
}

TEST(FollowedWorld, CanBeFedFromAnotherThreadWithoutAllocatingInTheCycle) {
  Followed f;
  ProbeDevice device(k_peg);
  device.on_read = [](DeviceReading& reading) {
    reading.pose = {{0, 0, -0.002}, {}};
    return true;
  };
  TouchLoop loop({&device}, f.fast, {});
  f.slow.bodies()[1].clearance = 1e-4;  // shows that something arrived
  const std::uint64_t before = RealtimeSection::breaches();
  {
    std::jthread feeder([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        step(*f.slow_model, f.slow, {}, f.scratch);
        f.fast.follow(f.slow);
      }
    });
    loop.run_cycles(2000);
    EXPECT_TRUE(eventually([&] {
      loop.run_cycles(100);
      return f.fast.state().bodies()[1].clearance == 1e-4;
    }));
  }
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

TEST(LocalWorld, APressSettlesBetweenCouplingAndContact) {
  LocalWorld world(peg_model(1e4));
  HandInput input = hand_at(0, k_height, true);
  world.cycle(std::span(&input, 1));
  for (int i = 1; i <= 20; ++i) {
    const double press = 1e-4 * i;
    input = hand_at(0, -press);
    for (int cycle = 0; cycle < 60; ++cycle) world.cycle(std::span(&input, 1));
    // Springs in series; the samples' rounding is worth less than a hundredth of a newton.
    EXPECT_NEAR(world.state().hands()[0].felt.force.z, press / (1 / 1e4 + 1 / 1000.0), 0.01);
    EXPECT_NEAR(world.scratch().contact(0).on_shell.wrench.force.z, world.state().hands()[0].felt.force.z, 1e-3);
  }
}

}  // namespace
}  // namespace cotouch::this_file
