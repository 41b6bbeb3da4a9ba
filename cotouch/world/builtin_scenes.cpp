#include <cotouch/world/builtin_scenes.h>

#include <cotouch/base/error.h>
#include <cotouch/base/trig.h>
#include <cotouch/shapes/shapes.h>

#include <array>
#include <utility>

namespace cotouch {
namespace {

constexpr std::uint32_t k_still = 1, k_held = 2;

// A part that stays and one in the hand. Of the two the one with more points brings its shell.
Scene scene_of(const char* still_name, TriangleMesh still, const PartSettings& still_settings, const char* held_name,
               TriangleMesh held, const PartSettings& held_settings, std::vector<Pose> keys) {
  Scene scene;
  scene.bodies.push_back(body_of(k_still, still_name, shared(std::move(still)), still_settings));
  scene.bodies.push_back(body_of(k_held, held_name, shared(std::move(held)), held_settings));
  scene.bodies.back().motion = Motion::free;
  scene.bodies.back().pose = keys.front();
  scene.drag = 20;  // nothing falls here: what is let go stays where it is
  scene.scripts.push_back({k_held, std::move(keys)});
  return scene;
}

const PartSettings k_points = part_settings(96, 16384);
const PartSettings k_distances = part_settings(128, 4096);

Scene ball_socket() {
  Scene scene = scene_of("socket", make_socket(), k_points, "ball", make_ball(), k_distances,
                         {at({}), at({0, 0, -0.004}), at({0, 0, -0.004}, {0.4, 0, 0}), at({0, 0, -0.004}, {0, 0.4, 0}),
                          at({0.004, 0, 0}, {0, 0, 0.3}), at({0, 0, 0.004}), at({})});
  scene.summary = "A ball joint: the ball turns freely in its cup and resists being pulled out.";
  return scene;
}

Scene bridge_creature() {
  Scene scene = scene_of("bridge", make_bridge(), part_settings(128, 32768), "creature", make_creature(), k_distances,
                         {at({0, 0, 0.02}), at({0, 0, -0.006}), at({0.02, 0, -0.006}),
                          at({0, 0.01, -0.006}, {0, 0, 0.2}), at({-0.02, 0, -0.006}, {0, 0.1, 0}), at({0, 0, 0.02})});
  scene.summary = "A bumpy creature on a bridge: many separate contacts at once, as in Figure 2 of the paper.";
  return scene;
}

Scene hose_bracket() {
  TriangleMesh hoses = make_hose();
  TriangleMesh second = make_hose();
  for (Vec3d& v : second.vertices) v = {-v.x, -v.y, v.z + 0.03};  // turned half round, above the first
  for (Vec3d& v : hoses.vertices) v.z -= 0.03;
  append(hoses, second);
  hoses.name = "hoses";
  // A point for every cell of the bracket's field: with fewer, edges pass between them into its 5 mm sheet.
  Scene scene =
      scene_of("hoses", std::move(hoses), part_settings(128, 65536), "bracket", make_bracket(), part_settings(80, 4096),
               {at({0, -0.1, 0}, {0, 0, 0.3}), at({0, -0.02, 0}, {0, 0, 0.3}), at({0.02, 0, 0.01}, {0.4, 0, 0.3}),
                at({-0.02, 0, -0.01}, {-0.4, 0, 0.3}), at({0, -0.02, 0}, {0, 0, 0.3}), at({0, -0.1, 0}, {0, 0, 0.3})});
  scene.summary = "A bracket led between two winding hoses, as when a part is taken out of an engine.";
  return scene;
}

Scene gears() {
  const GearShape shape;
  const double distance = shape.module * shape.teeth;
  const double half_tooth = k_pi / shape.teeth;  // a tooth of one points into a gap of the other
  Scene scene =
      scene_of("gear", make_gear(shape), k_points, "second gear", make_gear(shape), k_distances,
               {at({distance + 0.012, 0, 0}, {0, 0, half_tooth}), at({distance - 0.001, 0, 0}, {0, 0, half_tooth}),
                at({distance, 0, 0}, {0, 0, half_tooth + 0.12}), at({distance, 0, 0}, {0, 0, half_tooth - 0.12}),
                at({distance - 0.004, 0, 0}, {0, 0, half_tooth}), at({distance + 0.012, 0, 0}, {0, 0, half_tooth})});
  scene.summary = "Two gears: teeth meet gaps, and turning one presses flank on flank.";
  return scene;
}

Scene threaded_peg() {
  const ThreadShape shape;
  const double quarter_rise = shape.pitch / 4;
  const double quarter = k_pi / 2;
  Scene scene = scene_of("block", make_threaded_block(shape), part_settings(128, 32768), "peg",
                         make_threaded_peg(shape), k_distances,
                         {at({}), at({0, 0, 0.004}), at({0.003, 0, 0}), at({0, 0, quarter_rise}, {0, 0, quarter}),
                          at({0, 0, 2 * quarter_rise - 0.003}, {0, 0, 2 * quarter - 0.1}),
                          at({0, 0, quarter_rise}, {0, 0, quarter}), at({})});
  scene.summary = "A threaded peg in its hole: it resists a pull and comes out when it is turned.";
  return scene;
}

Scene box_bracket() {
  // The bracket's corner is its origin: 35 mm back brings it over the middle of the box. It has 21 mm of room along x,
  // 11 mm along y, and the bottom is 4 mm up.
  const double x = -0.035;
  Scene scene =
      scene_of("box", make_open_box(), k_distances, "bracket", make_bracket(), k_points,
               {at({x, 0, 0.08}), at({x, 0, 0.001}), at({x + 0.025, 0, 0.001}), at({x + 0.025, 0.015, 0.001}),
                at({x, 0, 0.008}, {0.2, 0, 0}), at({x - 0.024, -0.014, 0.002}, {0, 0, 0.1}), at({x, 0, 0.08})});
  scene.summary = "A bracket fitted into a box: the part in the hand carries the points, the box the field.";
  return scene;
}

Scene engine_bay() {
  ClutterShape shape;
  shape.triangles = 40'000;
  // As many points as a first look should wait for: 2.7 mm apart, where the bracket's field has cells of 0.9 mm.
  Scene scene = scene_of("engine bay", make_clutter(shape), part_settings(104, 131072), "bracket", make_bracket(),
                         part_settings(80, 4096),
                         {at({0, 0, 0.18}), at({0, 0, 0.06}), at({0.03, 0.02, 0.06}, {0, 0, 0.5}),
                          at({-0.03, -0.02, 0.06}, {0.3, 0, 0}), at({0, 0, 0.18})});
  scene.summary = "A bracket let down into a crowded engine bay: will it fit, and where does it catch?";
  return scene;
}

constexpr std::array<std::pair<std::string_view, Scene (*)()>, 16> k_scenes{{
    {"ball-socket", ball_socket},
    {"bridge-creature", bridge_creature},
    {"hose-bracket", hose_bracket},
    {"gears", gears},
    {"threaded-peg", threaded_peg},
    {"box-bracket", box_bracket},
    {"engine-bay", engine_bay},
    {"stack", stack_scene},
    {"docking", docking_scene},
    {"assembly", assembly_scene},
    {"billiard", billiard_scene},
    {"hoses", hoses_scene},
    {"bridge-creature-soft", soft_bridge_scene},
    {"soft-soft", soft_soft_scene},
    {"soft-bar", soft_bar_scene},
    {"snap-clip", snap_clip_scene},
}};

}  // namespace

Pose at(const Vec3d& position, const Vec3d& rotation) {
  return {position, quat_from_rotation_vector(rotation)};
}

PartSettings part_settings(int resolution, std::uint32_t points) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = points;
  return settings;
}

SceneBody body_of(std::uint32_t id, std::string name, std::shared_ptr<const TriangleMesh> mesh,
                  const PartSettings& settings) {
  SceneBody body;
  body.id = id;
  body.name = std::move(name);
  ScenePart part;
  part.name = body.name;
  part.mesh = std::move(mesh);
  part.settings = settings;
  body.parts.push_back(std::move(part));
  return body;
}

std::vector<std::string> builtin_scene_names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : k_scenes) names.emplace_back(name);
  return names;
}

Scene builtin_scene(std::string_view name) {
  std::string known;
  for (const auto& [scene_name, make] : k_scenes) {
    if (scene_name == name) {
      Scene scene = make();
      scene.name = name;
      scene.title = scene_title(name);
      return scene;
    }
    known += (known.empty() ? "" : ", ") + std::string(scene_name);
  }
  throw Error("There is no built-in scene '" + std::string(name) + "'. There are: " + known + ".",
              ErrorCode::not_found);
}

}  // namespace cotouch
