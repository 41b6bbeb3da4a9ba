#include <cotouch/world/scene.h>

#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>

#include <array>
#include <utility>

namespace cotouch {
namespace {

Pose at(const Vec3d& position, const Vec3d& rotation = {}) {
  return {position, quat_from_rotation_vector(rotation)};
}

// Fine enough to feel every feature of the scene, small enough to be prepared in a few seconds.
PartSettings part_settings(int resolution, std::uint32_t points) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = points;
  return settings;
}

// What all scenes of one moving and one resting part have in common.
SceneDescription scene_of(TriangleMesh shell_mesh, TriangleMesh field_mesh, Moving moving) {
  SceneDescription scene;
  scene.shell_mesh = std::move(shell_mesh);
  scene.field_mesh = std::move(field_mesh);
  scene.shell_settings = part_settings(96, 16384);
  scene.field_settings = part_settings(128, 4096);
  scene.moving = moving;
  return scene;
}

SceneDescription ball_socket() {
  SceneDescription scene = scene_of(make_socket(), make_ball(), Moving::field);
  scene.summary = "A ball joint: the ball turns freely in its cup and resists being pulled out.";
  scene.hand = {at({}),
                at({0, 0, -0.004}),
                at({0, 0, -0.004}, {0.4, 0, 0}),
                at({0, 0, -0.004}, {0, 0.4, 0}),
                at({0.004, 0, 0}, {0, 0, 0.3}),
                at({0, 0, 0.004}),
                at({})};
  return scene;
}

SceneDescription bridge_creature() {
  SceneDescription scene = scene_of(make_bridge(), make_creature(), Moving::field);
  scene.summary = "A bumpy creature on a bridge: many separate contacts at once, as in Figure 2 of the paper.";
  scene.shell_settings = part_settings(128, 32768);
  scene.hand = {at({0, 0, 0.02}),
                at({0, 0, -0.006}),
                at({0.02, 0, -0.006}),
                at({0, 0.01, -0.006}, {0, 0, 0.2}),
                at({-0.02, 0, -0.006}, {0, 0.1, 0}),
                at({0, 0, 0.02})};
  return scene;
}

SceneDescription hose_bracket() {
  TriangleMesh hoses = make_hose();
  TriangleMesh second = make_hose();
  for (Vec3d& v : second.vertices) v = {-v.x, -v.y, v.z + 0.03};  // turned half round, above the first
  for (Vec3d& v : hoses.vertices) v.z -= 0.03;
  append(hoses, second);
  hoses.name = "hoses";
  SceneDescription scene = scene_of(std::move(hoses), make_bracket(), Moving::field);
  scene.summary = "A bracket led between two winding hoses, as when a part is taken out of an engine.";
  // A point for every cell of the bracket's field: with fewer, edges pass between them into its 5 mm sheet.
  scene.shell_settings = part_settings(128, 65536);
  scene.field_settings = part_settings(80, 4096);
  scene.hand = {at({0, -0.1, 0}, {0, 0, 0.3}),      at({0, -0.02, 0}, {0, 0, 0.3}),
                at({0.02, 0, 0.01}, {0.4, 0, 0.3}), at({-0.02, 0, -0.01}, {-0.4, 0, 0.3}),
                at({0, -0.02, 0}, {0, 0, 0.3}),     at({0, -0.1, 0}, {0, 0, 0.3})};
  return scene;
}

SceneDescription gears() {
  const GearShape shape;
  SceneDescription scene = scene_of(make_gear(shape), make_gear(shape), Moving::field);
  scene.summary = "Two gears: teeth meet gaps, and turning one presses flank on flank.";
  const double distance = shape.module * shape.teeth;
  const double half_tooth = k_pi / shape.teeth;  // a tooth of one points into a gap of the other
  scene.hand = {at({distance + 0.012, 0, 0}, {0, 0, half_tooth}), at({distance - 0.001, 0, 0}, {0, 0, half_tooth}),
                at({distance, 0, 0}, {0, 0, half_tooth + 0.12}),  at({distance, 0, 0}, {0, 0, half_tooth - 0.12}),
                at({distance - 0.004, 0, 0}, {0, 0, half_tooth}), at({distance + 0.012, 0, 0}, {0, 0, half_tooth})};
  return scene;
}

SceneDescription threaded_peg() {
  const ThreadShape shape;
  SceneDescription scene = scene_of(make_threaded_block(shape), make_threaded_peg(shape), Moving::field);
  scene.summary = "A threaded peg in its hole: it resists a pull and comes out when it is turned.";
  scene.shell_settings = part_settings(128, 32768);
  const double quarter_rise = shape.pitch / 4;
  const double quarter = k_pi / 2;
  scene.hand = {at({}),
                at({0, 0, 0.004}),
                at({0.003, 0, 0}),
                at({0, 0, quarter_rise}, {0, 0, quarter}),
                at({0, 0, 2 * quarter_rise - 0.003}, {0, 0, 2 * quarter - 0.1}),
                at({0, 0, quarter_rise}, {0, 0, quarter}),
                at({})};
  return scene;
}

SceneDescription box_bracket() {
  SceneDescription scene = scene_of(make_bracket(), make_open_box(), Moving::shell);
  scene.summary = "A bracket fitted into a box: the part in the hand carries the points, the box the field.";
  // The bracket's corner is its origin: 35 mm back brings it over the middle of the box. It has 21 mm of room along x,
  // 11 mm along y, and the bottom is 4 mm up.
  const double x = -0.035;
  scene.hand = {at({x, 0, 0.08}),
                at({x, 0, 0.001}),
                at({x + 0.025, 0, 0.001}),
                at({x + 0.025, 0.015, 0.001}),
                at({x, 0, 0.008}, {0.2, 0, 0}),
                at({x - 0.024, -0.014, 0.002}, {0, 0, 0.1}),
                at({x, 0, 0.08})};
  return scene;
}

SceneDescription engine_bay() {
  ClutterShape shape;
  shape.triangles = 40'000;
  SceneDescription scene = scene_of(make_clutter(shape), make_bracket(), Moving::field);
  scene.summary = "A bracket let down into a crowded engine bay: will it fit, and where does it catch?";
  // As many points as a first look should wait for: 2.7 mm apart, where the bracket's field has cells of 0.9 mm.
  scene.shell_settings = part_settings(104, 131072);
  scene.field_settings = part_settings(80, 4096);
  scene.hand = {at({0, 0, 0.18}), at({0, 0, 0.06}), at({0.03, 0.02, 0.06}, {0, 0, 0.5}),
                at({-0.03, -0.02, 0.06}, {0.3, 0, 0}), at({0, 0, 0.18})};
  return scene;
}

constexpr std::array<std::pair<std::string_view, SceneDescription (*)()>, 7> k_scenes{{
    {"ball-socket", ball_socket},
    {"bridge-creature", bridge_creature},
    {"hose-bracket", hose_bracket},
    {"gears", gears},
    {"threaded-peg", threaded_peg},
    {"box-bracket", box_bracket},
    {"engine-bay", engine_bay},
}};

}  // namespace

std::vector<std::string> builtin_scene_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : k_scenes) names.emplace_back(name);
  return names;
}

SceneDescription builtin_scene(std::string_view name) {
  std::string known;
  for (const auto& [scene_name, make] : k_scenes) {
    if (scene_name == name) {
      SceneDescription scene = make();
      scene.name = name;
      return scene;
    }
    known += (known.empty() ? "" : ", ") + std::string(scene_name);
  }
  throw Error("There is no built-in scene '" + std::string(name) + "'. There are: " + known + ".",
              ErrorCode::not_found);
}

}  // namespace cotouch
