// The smallest real thing: prepare two parts, hold one, press it onto the other, and print what the hand feels.
#include <cotouch/shapes/shapes.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/step.h>

#include <cstdio>
#include <memory>

int main() {
  // Any triangle mesh becomes a part: a distance field and points on its surface. Lengths are in metres.
  const auto body = [](std::uint32_t id, const char* name, cotouch::TriangleMesh mesh, std::uint32_t points) {
    cotouch::SceneBody made;
    made.id = id;
    made.name = name;
    cotouch::ScenePart part;
    part.name = name;
    part.mesh = std::make_shared<const cotouch::TriangleMesh>(std::move(mesh));
    part.settings.field.resolution = 64;
    part.settings.shell.points = points;  // of two parts that meet, the one with more points brings them
    made.parts.push_back(std::move(part));
    return made;
  };
  cotouch::Scene scene;
  scene.bodies.push_back(body(1, "plate", cotouch::make_box({0.1, 0.1, 0.02}), 256));
  scene.bodies.push_back(body(2, "ball", cotouch::make_sphere(0.02, 3), 1024));
  scene.bodies.back().motion = cotouch::Motion::free;
  scene.bodies.back().pose = {{0, 0, 0.04}, {}};
  cotouch::NoProgress progress;
  cotouch::prepare(scene, progress);

  const auto model = cotouch::make_model(scene);
  cotouch::WorldState state(*model);
  cotouch::StepScratch scratch(*model, true);

  // A hand takes the ball and sinks by 3 cm a second for half a second, as a 1 kHz loop would step it. Ball and plate
  // meet when the hand is 3 cm high; from there on the ball stays behind and its spring pushes back.
  cotouch::HandInput hand;
  hand.present = true;
  hand.action = cotouch::HandInput::Action::grasp;
  hand.body = 2;
  for (int millisecond = 1; millisecond <= 500; ++millisecond) {
    hand.pose = {{0, 0, 0.04 - 0.03e-3 * millisecond}, {}};
    cotouch::step(*model, state, {&hand, 1}, scratch);
    hand.action = cotouch::HandInput::Action::none;
    if (millisecond % 50 == 0)
      std::printf("hand at %4.1f mm, ball at %4.1f mm, %3u points in contact, force %6.3f N\n",
                  hand.pose.position.z * 1e3, state.bodies()[1].pose.position.z * 1e3, scratch.stats().in_contact,
                  state.hands()[0].felt.force.z);
  }
}
