// The smallest real thing: prepare two parts, hold one, press it onto the other, and print what the hand feels.
#include <cotouch/contact/nested.h>
#include <cotouch/contact/part.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/touch/held_object.h>

#include <cstdio>

int main() {
  // Any triangle mesh becomes a part: a distance field and points on its surface. Lengths are in metres.
  cotouch::PartSettings settings;
  settings.field.resolution = 64;
  settings.shell.points = 1024;
  cotouch::NoProgress progress;
  const cotouch::Part ball = cotouch::prepare_part(cotouch::make_sphere(0.02, 3), settings, progress);
  const cotouch::Part plate = cotouch::prepare_part(cotouch::make_box({0.1, 0.1, 0.02}), settings, progress);

  // The ball's points meet the plate's field; the ball is in the hand, 4 cm above the plate's middle.
  cotouch::NestedContact contact(ball.shell, plate.field, cotouch::ContactSettings{});
  cotouch::HeldObjectSettings held;
  held.moving = cotouch::Moving::shell;
  cotouch::HeldObject object(contact, held, cotouch::Pose{{0, 0, 0.04}, {}});

  // Half a second of a hand that sinks by 3 cm a second, as a 1 kHz loop would step it.
  // Ball and plate meet when the hand is 3 cm high; from there on the ball stays behind and its spring pushes back.
  for (int millisecond = 1; millisecond <= 500; ++millisecond) {
    const cotouch::Pose hand{{0, 0, 0.04 - 0.03e-3 * millisecond}, {}};
    const cotouch::Wrench felt = object.step(hand);
    if (millisecond % 50 == 0)
      std::printf("hand at %4.1f mm, ball at %4.1f mm, %3u points in contact, force %6.3f N\n", hand.position.z * 1e3,
                  object.pose().position.z * 1e3, object.contact().stats.in_contact, felt.force.z);
  }
}
