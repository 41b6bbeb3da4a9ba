// A world of several bodies: two blocks fall onto a plate, a hand lifts the upper one, and the last second is taken
// back and lived again.
#include <cotouch/shapes/blocks.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/step.h>

#include <cstdio>
#include <memory>

int main() {
  const auto body = [](std::uint32_t id, const char* name, cotouch::TriangleMesh mesh, std::uint32_t points) {
    cotouch::SceneBody made;
    made.id = id;
    made.name = name;
    cotouch::ScenePart part;
    part.name = name;
    part.mesh = std::make_shared<const cotouch::TriangleMesh>(std::move(mesh));
    part.settings.field.resolution = 64;
    part.settings.shell.points = points;
    made.parts.push_back(std::move(part));
    return made;
  };
  cotouch::Scene scene;
  scene.gravity = {0, 0, -9.81};
  scene.bodies.push_back(body(1, "plate", cotouch::make_plate(), 256));
  for (const std::uint32_t id : {2U, 3U}) {
    scene.bodies.push_back(body(id, "block", cotouch::make_block({0.04, 0.04, 0.04}, 0.002), 4096));
    scene.bodies.back().motion = cotouch::Motion::free;
    scene.bodies.back().holding = cotouch::Holding::dynamic;  // it has its weight in the hand
    scene.bodies.back().pose = {{0, 0, 0.05 * (id - 1)}, {}};
    scene.bodies.back().density = 1000;  // kg/m^3
  }
  cotouch::NoProgress progress;
  cotouch::prepare(scene, progress);

  const auto model = cotouch::make_model(scene, {0.01, 1, {}});  // steps of 10 ms, one hand
  cotouch::WorldState state(*model);
  cotouch::StepScratch scratch(*model);
  const auto show = [&](const char* when) {
    std::printf("%-22s blocks at %5.1f and %5.1f mm, the hand feels %6.3f N\n", when,
                state.bodies()[1].pose.position.z * 1e3, state.bodies()[2].pose.position.z * 1e3,
                state.hands()[0].felt.force.z);
  };
  show("at the start:");
  for (int i = 0; i < 100; ++i) cotouch::step(*model, state, {}, scratch);
  show("after a second:");

  // Everything that changes is in one block of bytes.
  const cotouch::WorldState snapshot = state;

  const auto lift = [&] {
    cotouch::HandInput hand;
    hand.present = true;
    hand.action = cotouch::HandInput::Action::grasp;
    hand.body = 3;
    hand.pose = state.bodies()[2].pose;
    for (int i = 0; i < 100; ++i) {
      hand.pose.position.z += 0.0005;
      cotouch::step(*model, state, {&hand, 1}, scratch);
      hand.action = cotouch::HandInput::Action::none;
    }
  };
  lift();
  show("lifted for a second:");
  const std::uint64_t once = state.hash();

  state = snapshot;
  show("taken back:");
  lift();
  std::printf("Lived again, the world is %s.\n", state.hash() == once ? "the same, bit for bit" : "another one");
}
