// Small worlds: blocks and balls of few points, prepared once.
#pragma once

#include <cotouch/shapes/blocks.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/world/scene.h>
#include <cotouch/world/step.h>

#include <map>
#include <string>

#include "support/prepared.h"

namespace cotouch::world_test {

constexpr double k_block = 0.04;   // edge of a block, metres
constexpr double k_ball = 0.02;    // radius of a ball
constexpr double k_plate = 0.012;  // thickness of a plate, a little more than two cells

inline std::shared_ptr<const Part> prepared(const TriangleMesh& mesh, int resolution, std::uint32_t points) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = points;
  return testing_support::prepared(mesh, settings);
}

inline const std::shared_ptr<const Part>& block_part() {
  static const auto part = prepared(make_block({k_block, k_block, k_block}, 0.003), 16, 800);
  return part;
}
inline const std::shared_ptr<const Part>& ball_part() {
  static const auto part = prepared(make_sphere(k_ball, 3), 16, 600);
  return part;
}
// One that rolls smoothly and whose normals are good.
inline const std::shared_ptr<const Part>& fine_ball_part() {
  static const auto part = prepared(make_sphere(k_ball, 5), 64, 8000);
  return part;
}
// Its upper side is at z = 0.
inline const std::shared_ptr<const Part>& plate_part() {
  static const auto part = prepared(make_plate({{0.2, 0.2, k_plate}, 0.002}), 36, 400);
  return part;
}

inline MassProperties block_mass(const Vec3d& size, double mass) {
  const Vec3d s{size.x * size.x, size.y * size.y, size.z * size.z};
  MassProperties m;
  m.mass = mass;
  m.inertia(0, 0) = mass * (s.y + s.z) / 12;
  m.inertia(1, 1) = mass * (s.z + s.x) / 12;
  m.inertia(2, 2) = mass * (s.x + s.y) / 12;
  return m;
}
inline MassProperties ball_mass(double mass) {
  MassProperties m;
  m.mass = mass;
  m.inertia = Mat3::identity() * (0.4 * mass * k_ball * k_ball);
  return m;
}

inline BodyModel fixed_body(std::uint32_t id, const std::shared_ptr<const Part>& part, const Pose& pose = {}) {
  BodyModel body;
  body.id = id;
  body.name = "body " + std::to_string(id);
  body.pieces = {{part, {}}};
  body.start = pose;
  return body;
}
inline BodyModel free_block(std::uint32_t id, const Pose& pose, double mass = 0.064) {
  BodyModel body = fixed_body(id, block_part(), pose);
  body.motion = Motion::free;
  body.mass = block_mass({k_block, k_block, k_block}, mass);
  return body;
}
inline BodyModel free_ball(std::uint32_t id, const Vec3d& position, const Vec3d& velocity = {}, double mass = 0.034) {
  BodyModel body = fixed_body(id, ball_part(), {position, {}});
  body.motion = Motion::free;
  body.mass = ball_mass(mass);
  body.start_velocity = velocity;
  return body;
}
inline BodyModel floor_body(std::uint32_t id = 1) {
  return fixed_body(id, plate_part());
}

// Nothing in it but what a test puts there: no gravity, no drag.
inline WorldSettings plain(double tick = 1e-3) {
  WorldSettings settings;
  settings.tick = tick;
  settings.linear_drag = settings.angular_drag = 0;
  return settings;
}
inline WorldSettings earthly(double tick = 1e-3) {
  WorldSettings settings;
  settings.tick = tick;
  settings.gravity = {0, 0, -9.81};
  return settings;
}

struct World {
  std::shared_ptr<const WorldModel> model;
  WorldState state;
  StepScratch scratch;

  explicit World(std::shared_ptr<const WorldModel> m) : model(std::move(m)), state(*model), scratch(*model, true) {}
  World(std::vector<BodyModel> bodies, const WorldSettings& settings, const std::vector<PairRule>& rules = {},
        std::optional<Task> task = {})
      : World(std::make_shared<const WorldModel>(std::move(bodies), settings, rules, std::move(task))) {}

  void step(const std::vector<HandInput>& inputs = {}) { cotouch::step(*model, state, inputs, scratch); }
  void run(double seconds, const std::vector<HandInput>& inputs = {}) {
    for (double t = 0; t < seconds - model->settings().tick / 2; t += model->settings().tick) step(inputs);
  }
  const BodyRecord& body(std::uint32_t id) const { return state.bodies()[*model->index_of(id)]; }
};

inline HandInput hand_at(const Pose& pose) {
  HandInput input;
  input.present = true;
  input.pose = pose;
  return input;
}
inline HandInput grasping(std::uint32_t body, const Pose& pose) {
  HandInput input = hand_at(pose);
  input.action = HandInput::Action::grasp;
  input.body = body;
  return input;
}
inline HandInput releasing(const Pose& pose) {
  HandInput input = hand_at(pose);
  input.action = HandInput::Action::release;
  return input;
}

// A built-in scene small enough to be prepared in no time.
inline Scene small_scene(const std::string& name) {
  Scene scene = builtin_scene(name);
  std::map<std::pair<const TriangleMesh*, std::uint32_t>, std::shared_ptr<const Part>> made;
  for (SceneBody& body : scene.bodies)
    for (ScenePart& part : body.parts) {
      // Which of two parts brings its points stays as it is.
      const std::uint32_t points = 300 + part.settings.shell.points / 64;
      std::shared_ptr<const Part>& known = made[{part.mesh.get(), points}];
      if (!known) known = prepared(*part.mesh, 24, points);
      part.part = known;
    }
  return scene;
}

// The lowest point of a body's mesh, as the world has it.
inline double lowest_point(const World& world, std::uint32_t id) {
  double lowest = 1e9;
  for (const Piece& piece : world.model->bodies()[*world.model->index_of(id)].pieces)
    for (const Vec3d& p : piece.part->mesh.vertices)
      lowest = std::min(lowest, transform(world.body(id).pose * piece.place, p).z);
  return lowest;
}

// What the scene's scripted hands do in a step.
inline std::vector<HandInput> scripted(const Scene& scene, const std::vector<HandPath>& paths, std::uint64_t step,
                                       double tick) {
  std::vector<HandInput> inputs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Pose pose = paths[i].at(static_cast<double>(step) * tick);
    inputs.push_back(quantised(step == 0 ? grasping(scene.scripts[i].body, pose) : hand_at(pose)));
  }
  return inputs;
}
inline std::vector<HandPath> script_paths(const Scene& scene) {
  std::vector<HandPath> paths;
  for (const HandScript& script : scene.scripts) paths.emplace_back(script.keys, script.speed);
  return paths;
}

}  // namespace cotouch::world_test
