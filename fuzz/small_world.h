// A world small enough to be made at the start of a fuzzer and to be stepped thousands of times a second: two blocks
// over a plate. Seeds are recorded in it, so that recordings made from them fit it and are played.
#pragma once

#include <cotouch/shapes/blocks.h>
#include <cotouch/world/scene.h>

#include <memory>

namespace cotouch::fuzzing {

constexpr std::uint32_t k_plate = 1, k_first_block = 2, k_second_block = 3;

inline std::shared_ptr<const WorldModel> make_small_world() {
  PartSettings settings;
  settings.field.resolution = 8;
  settings.shell.points = 32;
  NoProgress quiet;
  const auto part_of = [&](const TriangleMesh& mesh) {
    return std::make_shared<const Part>(prepare_part(mesh, settings, quiet));
  };
  const auto plate = part_of(make_plate({{0.2, 0.2, 0.02}, 0.002})),
             block = part_of(make_block({0.04, 0.04, 0.04}, 0.003));
  Scene scene;
  scene.gravity = {0, 0, -9.81};
  for (const std::uint32_t id : {k_plate, k_first_block, k_second_block}) {
    SceneBody body;
    body.id = id;
    body.name = id == k_plate ? "plate" : "block";
    body.parts.resize(1);
    body.parts[0].name = body.name;
    body.parts[0].part = id == k_plate ? plate : block;
    if (id != k_plate) {
      body.motion = Motion::free;
      body.holding = id == k_first_block ? Holding::quasi_static : Holding::dynamic;
      body.pose = {{0.01 * id, 0, 0.045 * (id - 1.5)}, {}};
    }
    scene.bodies.push_back(body);
  }
  return make_model(scene, {.hands = 2});
}

// Made once: under a sanitizer that takes seconds.
inline const std::shared_ptr<const WorldModel>& small_world() {
  static const std::shared_ptr<const WorldModel> k_world = make_small_world();
  return k_world;
}

}  // namespace cotouch::fuzzing
