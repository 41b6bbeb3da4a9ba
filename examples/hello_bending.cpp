// Something that bends: a rubber bar, clamped at one end, whose other end a hand lifts and lets go. What theory says of
// a beam under the same force is printed beside it.
#include <cotouch/elastic/deformation.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/step.h>

#include <cmath>
#include <cstdio>
#include <memory>

int main() {
  // A mesh and a material make a part that bends. The nodes below x = -9 cm are clamped; 19 cm are left.
  constexpr double k_length = 0.19, k_side = 0.02;  // metres
  cotouch::ElasticSettings elastic;
  elastic.material = cotouch::material_named("rubber");
  elastic.anchors = {cotouch::parse_anchor("x<-0.09")};

  cotouch::ScenePart part;
  part.name = "bar";
  part.mesh = std::make_shared<const cotouch::TriangleMesh>(cotouch::make_box({0.2, k_side, k_side}));
  part.settings.field.resolution = 128;
  part.settings.shell.points = 4096;
  part.settings.elastic = elastic;
  cotouch::SceneBody bar;
  bar.id = 1;
  bar.name = "bar";
  bar.parts.push_back(part);  // fixed: it bends where it is
  cotouch::Scene scene;
  scene.bodies.push_back(bar);
  cotouch::NoProgress progress;
  cotouch::prepare(scene, progress);

  const auto model = cotouch::make_model(scene);
  cotouch::WorldState state(*model);
  cotouch::StepScratch scratch(*model);

  // The hand takes the point of the bar that is nearest to it.
  cotouch::HandInput hand;
  hand.present = true;
  hand.action = cotouch::HandInput::Action::grasp;
  hand.body = 1;
  hand.pose = {{0.1, 0, 0}, {}};
  const auto step_for = [&](double seconds, double up) {  // the hand rises by `up` metres a second
    for (int i = 0; i < 1000 * seconds; ++i) {
      hand.pose.position.z += 1e-3 * up;
      cotouch::step(*model, state, {&hand, 1}, scratch);
      hand.action = cotouch::HandInput::Action::none;
    }
  };
  // How far the bar's end has moved, from the coordinates in the state.
  const cotouch::Part& prepared = *model->bodies()[0].pieces[0].part;
  cotouch::Deformation shape(*prepared.elastic);
  step_for(0.001, 0);
  const auto held = static_cast<std::size_t>(state.hands()[0].point);
  const auto moved = [&] {
    shape.set(state.bending().data() + model->elastic_begin(0));
    return shape.displacement_at(prepared.elastic->data().shell[held]).z;
  };

  const double bending = elastic.material.young * k_side * k_side * k_side * k_side / 12;  // E I
  double farthest_off = 0;
  for (int i = 1; i <= 5; ++i) {
    step_for(0.5, 0.002);
    step_for(1, 0);
    // The hand keeps its orientation, so it holds the end by a torque as well: F L^3 / 3 and M L^2 / 2, over E I.
    const double force = -state.hands()[0].felt.force.z, torque = state.hands()[0].felt.torque.y;
    const double theory = (force * k_length / 3 + torque / 2) * k_length * k_length / bending;
    std::printf("hand %.1f mm up, bar %.2f mm, in theory %.2f mm; the hand feels %6.3f N and %7.4f N m\n",
                hand.pose.position.z * 1e3, moved() * 1e3, theory * 1e3, -force, torque);
    farthest_off = std::fmax(farthest_off, std::fabs(theory / moved() - 1));
  }
  std::printf("Theory and bar are at most %.0f %% apart.\n", 100 * farthest_off);

  hand.action = cotouch::HandInput::Action::release;
  for (const double seconds : {0.1, 0.4, 4.5}) {
    step_for(seconds, 0);
    std::printf("let go, and %.1f s later: %6.2f mm\n", seconds, moved() * 1e3);
  }
  std::printf("The bar %s.\n", std::fabs(moved()) < 1e-4 ? "is straight again" : "has not come back");
}
