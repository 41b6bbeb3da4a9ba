// The real contact engine in the hand: a ball of points on a plate given by a formula.
#include <cotouch/contact/nested.h>
#include <cotouch/field/build.h>
#include <cotouch/shell/build.h>
#include <cotouch/touch/loop.h>
#include <cotouch/touch/scripted_device.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr double k_radius = 0.02;       // of the ball
constexpr double k_half_height = 0.01;  // of the plate

double plate_distance(const Vec3d& p) {
  const Vec3d q{std::fabs(p.x) - 0.04, std::fabs(p.y) - 0.04, std::fabs(p.z) - k_half_height};
  return norm(max(q, Vec3d{})) + std::min(std::max({q.x, q.y, q.z}), 0.0);
}

struct BallOnPlate {
  Field plate, ball_field;
  Shell ball;
  BallOnPlate() {
    FieldSettings field_settings;
    field_settings.resolution = 40;
    ShellSettings shell_settings;
    shell_settings.points = 1024;
    NoProgress quiet;
    plate = build_field(plate_distance, Box3d{{-0.04, -0.04, -0.01}, {0.04, 0.04, 0.01}}, field_settings);
    ball_field = build_field([](const Vec3d& p) { return norm(p) - k_radius; },
                             Box3d{{-0.02, -0.02, -0.02}, {0.02, 0.02, 0.02}}, field_settings);
    ball = build_shell(ball_field, shell_settings, quiet);
  }
};

const BallOnPlate& pair() {
  static const BallOnPlate k_pair;
  return k_pair;
}

const double k_top = k_half_height + k_radius;

TEST(TouchWithNestedContact, PressSettlesBetweenCouplingAndContactWhicheverBodyIsHeld) {
  for (const Moving moving : {Moving::shell, Moving::field}) {
    NestedContact contact(pair().ball, pair().plate, {});
    HeldObjectSettings settings;
    settings.moving = moving;
    // Held ball above the plate, or held plate below the ball: the same press, with the sign turned.
    const double side = moving == Moving::shell ? 1 : -1;
    HeldObject object(contact, settings, {{0, 0, side * (k_top + 2e-3)}, {}});
    double last = 0;
    for (int step = 0; step <= 30; ++step) {
      const double press = 1e-4 * step;
      Wrench felt;
      for (int cycle = 0; cycle < 60; ++cycle) felt = object.step({{0, 0, side * (k_top - press)}, {}});
      const double force = side * felt.force.z;
      EXPECT_LE(force, 1000 * (press + 1e-3));  // the shell lies half a cell (1 mm) outside the ball
      if (step > 0) {
        EXPECT_LE(force - last, 1000 * 1e-4 * 1.001) << "felt stiffer than the coupling at step " << step;
      }
      // What the hand feels is what the contact pushes with, or the object would not be at rest.
      EXPECT_NEAR(norm(felt.force - object.contact().wrench.force), 0, 1e-3);
      last = force;
    }
    EXPECT_GT(last, 1);
    EXPECT_EQ(object.faults().singular + object.faults().bad_contact + object.faults().bad_hand, 0U);
  }
}

TEST(TouchWithNestedContact, WholeCycleNeitherAllocatesNorLocks) {
  NestedContact contact(pair().ball, pair().plate, {}, WorkBudget::of(400));
  HeldObjectSettings settings;
  settings.moving = Moving::shell;
  const Pose start{{0, 0, k_top + 2e-3}, {}};
  HeldObject object(contact, settings, start);
  ScriptedDevice device(HandPath({start, {{0, 0, k_top - 4e-3}, {}}, {{0.02, 0.01, k_top - 4e-3}, {}}, start}, 0.1));
  TouchLoop loop(device, object, {});
  const std::uint64_t before = RealtimeSection::breaches();
  std::uint64_t touching = 0;
  while (loop.run_cycles(1) == 1) touching += loop.frame().contact.in_contact > 0 ? 1U : 0U;
  EXPECT_EQ(RealtimeSection::breaches(), before);
  EXPECT_GT(touching, 200U);
}

}  // namespace
}  // namespace cotouch
