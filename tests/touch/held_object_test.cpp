#include <cotouch/touch/held_object.h>

#include <cotouch/base/random.h>
#include <cotouch/base/realtime.h>

#include "fixtures.h"

#include <gtest/gtest.h>

#include <limits>

namespace cotouch {
namespace {

using testing::FixedContact;
using testing::HalfspaceContact;
using testing::shell_in_hand;

TEST(HeldObject, SettlesWhereTwoSpringsInSeriesBalance) {
  for (const double contact_stiffness : {100.0, 1000.0, 50000.0}) {
    HalfspaceContact contact(contact_stiffness);
    HeldObject object(contact, shell_in_hand(), {{0, 0, 0.001}, {}});
    const double press = 2e-3;
    Wrench felt;
    for (int cycle = 0; cycle < 100; ++cycle) felt = object.step({{0, 0, -press}, {}});
    const double series = 1 / (1 / contact_stiffness + 1 / 1000.0);
    // Each cycle halves what is left, so after 100 only rounding remains.
    EXPECT_NEAR(felt.force.z, series * press, 1e-12);
    EXPECT_NEAR(-object.pose().position.z, series * press / contact_stiffness, 1e-15);
    EXPECT_LE(felt.force.z / press, 1000);
  }
}

TEST(HeldObject, NeverFeelsStifferThanItsCouplingHoweverManyPointsTouch) {
  Random random(31);
  std::vector<Vec3d> points;
  for (int i = 0; i < 200; ++i) points.push_back({random.uniform(-0.05, 0.05), random.uniform(-0.05, 0.05), 0});
  HalfspaceContact contact(1e5, points);
  HeldObject object(contact, shell_in_hand(), {{0, 0, 0.001}, {}});
  double last = 0;
  for (int depth = 0; depth <= 50; ++depth) {
    Wrench felt;
    for (int cycle = 0; cycle < 60; ++cycle) felt = object.step({{0, 0, -1e-4 * depth}, {}});
    EXPECT_LE(felt.force.z - last, 1000 * 1e-4 * (1 + 1e-9));
    last = felt.force.z;
  }
  EXPECT_GT(last, 4.9);  // and hardly softer: 200 points of 1e5 N/m against 1000 N/m
}

TEST(HeldObject, DistanceToARestingHandShrinksByTheDampingEachCycle) {
  for (const double damping : {0.0, 0.3, 0.5, 0.8}) {
    HalfspaceContact contact(1000);
    HeldObjectSettings settings = shell_in_hand();
    settings.damping = damping;
    const Pose hand{{0, 0, 1}, {}};
    HeldObject object(contact, settings, moved(hand, {{4e-4, 0, 0}, {0, 0.01, 0}}));
    double left = 1;
    for (int cycle = 1; cycle <= 12; ++cycle) {
      object.step(hand);
      left *= damping;
      EXPECT_NEAR(norm(object.pose().position - hand.position), 4e-4 * left, 1e-15);
      EXPECT_NEAR(norm(rotation_vector(object.pose().rotation)), 0.01 * left, 1e-14);
    }
  }
}

TEST(HeldObject, ForceSaturatesWhileTheHandGoesDeeper) {
  HalfspaceContact contact(1e5);
  HeldObject object(contact, shell_in_hand(), {});
  Wrench felt;
  for (int cycle = 0; cycle < 2000; ++cycle) felt = object.step({{0, 0, -1e-5 * cycle}, {}});
  EXPECT_NEAR(felt.force.z, 8, 1e-9);
  EXPECT_NEAR(object.pose().position.z, -8 / 1e5, 1e-9);
}

TEST(HeldObject, TiltedPressFindsTheBalanceOfForceAndTorque) {
  // One point 5 cm out: at rest F = k_c d, and its moment k_c d * arm is what the angular spring holds.
  HalfspaceContact contact(2000, {Vec3d{0.05, 0, 0}});
  HeldObject object(contact, shell_in_hand(), {});
  Wrench felt;
  for (int cycle = 0; cycle < 400; ++cycle) felt = object.step({{0, 0, -1e-3}, {}});
  const Vec3d arm = rotate(object.pose().rotation, {0.05, 0, 0});
  const double depth = -(object.pose().position.z + arm.z);
  EXPECT_NEAR(felt.force.z, 2000 * depth, 1e-9);
  EXPECT_LT(norm(felt.torque - cross(arm, felt.force)), 1e-9);
  EXPECT_LT(felt.torque.y, -1e-3);
}

TEST(HeldObject, StepsAreCutToTheirLargestLength) {
  HalfspaceContact contact(1000);
  HeldObject object(contact, shell_in_hand(), {{0, 0, 1}, {}});
  const Pose hand{{0.3, 0, 1}, quat_from_rotation_vector({0, 0, 1})};
  for (int cycle = 0; cycle < 20; ++cycle) {
    const Pose before = object.pose();
    object.step(hand);
    EXPECT_LE(norm(object.pose().position - before.position), 1e-3 * (1 + 1e-12));
    EXPECT_LE(norm(rotation_vector(object.pose().rotation * before.rotation.conjugate())), 0.02 * (1 + 1e-9));
  }
  // The direction is kept: position and turn progress in proportion.
  EXPECT_NEAR(object.pose().position.x / 0.3, norm(rotation_vector(object.pose().rotation)) / 1.0, 1e-6);
}

TEST(HeldObject, HandPosesThatAreNoPosesAreIgnoredAndCounted) {
  HalfspaceContact contact(1000);
  HeldObject object(contact, shell_in_hand(), {});
  for (int cycle = 0; cycle < 50; ++cycle) object.step({{0, 0, -1e-3}, {}});
  const Pose rest = object.pose();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Pose& bad : {Pose{{nan, 0, 0}, {}}, Pose{{}, {nan, 0, 0, 0}}, Pose{{}, {0, 0, 0, 0}},
                          Pose{{0, std::numeric_limits<double>::infinity(), 0}, {}}}) {
    const Wrench felt = object.step(bad);
    EXPECT_NEAR(felt.force.z, 0.5, 1e-9);
    EXPECT_LT(norm(object.pose().position - rest.position), 1e-12);
  }
  EXPECT_EQ(object.faults().bad_hand, 4U);
}

TEST(HeldObject, ContactAnswersThatAreNotFiniteCountAsNoContact) {
  FixedContact contact;
  contact.answer.gradient.torque_angular(1, 1) = std::numeric_limits<double>::infinity();
  HeldObject object(contact, shell_in_hand(), {});
  EXPECT_TRUE(is_finite(object.step({{0, 0, 1e-4}, {}}).force));
  EXPECT_EQ(object.faults().bad_contact, 1U);
  EXPECT_NEAR(object.pose().position.z, 5e-5, 1e-18);
}

TEST(HeldObject, SingularEquationsStillMoveTowardsTheHand) {
  FixedContact contact;  // a contact that pushes the more the further away: exactly cancels the coupling
  contact.answer.gradient.force_linear = Mat3::identity() * 1000.0;
  HeldObject object(contact, shell_in_hand(), {});
  object.step({{0, 0, 1e-4}, {}});
  EXPECT_EQ(object.faults().singular, 1U);
  EXPECT_GT(object.pose().position.z, 0);
  EXPECT_LE(object.pose().position.z, 1e-4);
}

TEST(HeldObject, StepNeitherAllocatesNorLocks) {
  HalfspaceContact contact(1000);
  HeldObject object(contact, shell_in_hand(), {});
  const std::uint64_t before = RealtimeSection::breaches();
  {
    const RealtimeSection section;
    for (int cycle = 0; cycle < 100; ++cycle) object.step({{0, 0, -1e-5 * cycle}, {}});
  }
  EXPECT_EQ(RealtimeSection::breaches(), before);
}

}  // namespace
}  // namespace cotouch
