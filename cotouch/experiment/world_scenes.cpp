#include <cotouch/experiment/world_scenes.h>

#include <cotouch/base/random.h>
#include <cotouch/shapes/blocks.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr Vec3d k_gravity{0, 0, -9.81};

ScenePart part_of(const char* name, TriangleMesh mesh, int resolution, std::uint32_t points) {
  ScenePart part;
  part.name = name;
  part.mesh = std::make_shared<const TriangleMesh>(std::move(mesh));
  part.settings.field.resolution = resolution;
  part.settings.shell.points = points;
  return part;
}

SceneBody& add_body(Scene& scene, const ScenePart& part, Motion motion, const Pose& pose) {
  SceneBody body;
  body.id = static_cast<std::uint32_t>(scene.bodies.size()) + 1;
  body.name = part.name;
  body.motion = motion;
  body.holding = Holding::dynamic;
  body.parts.push_back(part);
  body.pose = pose;
  scene.bodies.push_back(std::move(body));
  return scene.bodies.back();
}

ScenePart plate_part() {
  return part_of("plate", make_plate(), 128, 256);  // the blocks bring their points, which are denser
}

}  // namespace

Scene stack_world(Progress& progress) {
  Scene scene = builtin_scene("stack");
  prepare(scene, progress);
  return scene;
}

Scene billiard_world(Progress& progress) {
  const BilliardShape shape;
  Scene scene;
  scene.drag = 0;
  const ScenePart ball = part_of("ball", make_billiard_ball(shape), 64, 4096);
  const double apart = 2.05 * shape.ball_radius;
  for (int row = 0; row < 4; ++row)
    for (int i = 0; i <= row; ++i)
      add_body(scene, ball, Motion::free, {{row * apart * 0.8660254, (i - 0.5 * row) * apart, 0}, {}}).density = 1700;
  SceneBody& cue = add_body(scene, ball, Motion::free, {{-0.15, 0.004, 0.002}, {}});
  cue.density = 1700;
  cue.velocity = {1, 0, 0};
  prepare(scene, progress);
  return scene;
}

Scene tumbling_world(Progress& progress) {
  Scene scene;
  scene.drag = 0;
  SceneBody& body =
      add_body(scene, part_of("brick", make_block({0.03, 0.06, 0.12}, 0.003), 64, 1024), Motion::free, {});
  body.spin = {0.05, 10, 0.05};  // about the middle axis
  prepare(scene, progress);
  return scene;
}

Scene many_blocks_world(int blocks, Progress& progress) {
  constexpr int k_row = 5;
  constexpr double k_apart = 0.032;
  Scene scene;
  scene.gravity = k_gravity;
  add_body(scene, plate_part(), Motion::fixed, {});
  const ScenePart block = part_of("small block", make_block({0.02, 0.02, 0.02}, 0.0015), 24, 512);
  Random random(5);
  for (int i = 0; i < blocks; ++i) {
    const int layer = i / (k_row * k_row), in_layer = i % (k_row * k_row);
    const int row = in_layer / k_row, column = in_layer % k_row;
    const Vec3d place{(column - 0.5 * (k_row - 1)) * k_apart, (row - 0.5 * (k_row - 1)) * k_apart, 0.03 + layer * 0.04};
    const Vec3d axis = random.direction();
    add_body(scene, block, Motion::free, {place, quat_from_rotation_vector(axis * random.uniform(0, 0.5))});
  }
  prepare(scene, progress);
  return scene;
}

Pendulum pendulum_world(double amplitude, Progress& progress) {
  constexpr double k_length = 0.2;
  Pendulum pendulum;
  Scene& scene = pendulum.scene;
  scene.gravity = k_gravity;
  scene.drag = 0;
  // A joint rather than a hand: hard to move off its point and nearly free to turn.
  scene.coupling.linear_stiffness = 1e5;
  scene.coupling.angular_stiffness = 1e-4;
  scene.coupling.max_force = 100;
  const Quat turned = quat_from_rotation_vector({0, amplitude, 0});
  add_body(scene, part_of("bar", make_block({0.02, 0.02, k_length}, 0.002), 64, 1024), Motion::free,
           {rotate(turned, {0, 0, -k_length / 2}), turned});
  prepare(scene, progress);
  const MassProperties mass = mass_of(scene.bodies.front());
  const double lever = k_length / 2 - mass.center.z;
  pendulum.inertia = mass.inertia(1, 1) + mass.mass * lever * lever;
  pendulum.stiffness = mass.mass * norm(k_gravity) * lever + scene.coupling.angular_stiffness;
  return pendulum;
}

Docking docking_world(Progress& progress) {
  Docking docking;
  Scene& scene = docking.scene;
  scene = builtin_scene("docking");
  SceneBody& held = *scene.find(scene.task->body);
  constexpr double k_way = 0.03;  // metres before the stop
  held.pose = scene.task->target;
  held.pose.position += Vec3d{k_way, 0, 0.0005};
  scene.task.reset();  // or it would snap in at once
  docking.speed = 0.05;
  docking.steps = static_cast<int>(std::lround(k_way / docking.speed / 0.01)) + 10;
  docking.nodes = 3000;
  for (const double side : {-1.0, 1.0}) {
    HandInput hand;
    hand.present = true;
    hand.action = HandInput::Action::grasp;
    hand.body = held.id;
    hand.pose = {held.pose.position + Vec3d{0, side * 0.05, 0.02}, {}};
    docking.hands.push_back(hand);
  }
  prepare(scene, progress);
  return docking;
}

}  // namespace cotouch
