// Built-in scenes with gravity and many bodies.
#include <cotouch/world/builtin_scenes.h>

#include <cotouch/base/trig.h>
#include <cotouch/shapes/blocks.h>
#include <cotouch/shapes/docking.h>
#include <cotouch/shapes/gearbox.h>

#include <algorithm>

namespace cotouch {
namespace {

constexpr Vec3d k_gravity{0, 0, -9.81};

// Of two parts the one with more points brings its shell, so what lies on a table has more than the table.
constexpr std::uint32_t k_table_points = 1024;

// How far a part's shell stands out from its surface.
double shell_offset(const TriangleMesh& mesh, const PartSettings& settings) {
  const Vec3d size = mesh.bounds().size();
  return settings.shell.offset * std::max({size.x, size.y, size.z}) / settings.field.resolution;
}

struct BlockKind {
  Vec3d size;
  std::shared_ptr<const TriangleMesh> mesh;
  PartSettings settings;
};

BlockKind block_kind(const Vec3d& size) {
  return {size, shared(make_block(size, 0.003)), part_settings(40, 2048)};
}

class BlockLayer {
 public:
  explicit BlockLayer(Scene& scene) : scene_(scene) {}

  // Standing on `height` at (x, y), turned about the vertical, a little higher. Returns the height of its upper
  // side.
  double put(const char* name, const char* color, const BlockKind& kind, double x, double y, double height,
             double turn = 0) {
    constexpr double k_fall = 0.004;
    SceneBody block = body_of(static_cast<std::uint32_t>(scene_.bodies.size()) + 1, name, kind.mesh, kind.settings);
    block.motion = Motion::free;
    block.holding = Holding::dynamic;
    block.density = 600;  // wood
    block.parts.front().color = color;
    block.pose = at({x, y, height + k_fall + 0.5 * kind.size.z}, {0, 0, turn});
    scene_.bodies.push_back(std::move(block));
    return height + k_fall + kind.size.z;
  }

 private:
  Scene& scene_;
};

}  // namespace

Scene stack_scene() {
  Scene scene;
  scene.summary = "Wooden blocks fall a little and come to rest: take the tower apart, or build a higher one.";
  scene.gravity = k_gravity;
  scene.friction = 0.5;
  scene.bodies.push_back(body_of(1, "plate", shared(make_plate()), part_settings(80, k_table_points)));

  const BlockKind base = block_kind({0.12, 0.08, 0.03}), pillar = block_kind({0.03, 0.03, 0.06}),
                  lintel = block_kind({0.12, 0.04, 0.02}), cube = block_kind({0.03, 0.03, 0.03}),
                  brick = block_kind({0.08, 0.04, 0.03});
  BlockLayer blocks(scene);
  // A gate on a base, with a cube on top.
  const double on_base = blocks.put("base", "#c89f6a", base, -0.06, 0, 0);
  blocks.put("left pillar", "#b5523b", pillar, -0.1, 0, on_base);
  const double on_pillars = blocks.put("right pillar", "#b5523b", pillar, -0.02, 0, on_base);
  const double on_lintel = blocks.put("lintel", "#4f7cac", lintel, -0.06, 0, on_pillars);
  blocks.put("top", "#e0b040", cube, -0.06, 0, on_lintel, 0.3);
  // Bricks across each other.
  const double on_brick = blocks.put("lower brick", "#6a994e", brick, 0.09, -0.05, 0, 0.2);
  const double on_cross = blocks.put("crossing brick", "#6a994e", brick, 0.09, -0.05, on_brick, 1.6);
  blocks.put("upper cube", "#e0b040", cube, 0.095, -0.05, on_cross, 0.5);
  // One that falls onto an edge, and one that stands upright.
  blocks.put("single cube", "#e0b040", cube, 0.08, 0.07, 0.03);
  scene.bodies.back().pose.rotation = quat_from_rotation_vector({0.5, 0.2, 0.7});
  blocks.put("upright block", "#b5523b", pillar, 0.14, 0.05, 0, 0.2);
  return scene;
}

Scene docking_scene() {
  constexpr std::uint32_t k_box = 3;
  constexpr double k_bench = -0.013;  // its upper side, a millimetre below the bracket
  constexpr double k_weight = 4.9;    // of the box, newtons
  Scene scene;
  scene.summary = "A fuel-control box is slid onto its engine bracket by two hands; near its place it snaps in.";
  scene.gravity = k_gravity;
  scene.friction = 0.2;
  scene.bodies.push_back(
      body_of(1, "engine bracket", shared(make_engine_bracket()), part_settings(144, k_table_points)));
  PlateShape bench;
  bench.size = {0.5, 0.3, 0.02};
  scene.bodies.push_back(body_of(2, "bench", shared(make_plate(bench)), part_settings(96, k_table_points)));
  scene.bodies.back().pose = at({0.08, 0, k_bench});

  const auto mesh = shared(make_fuel_control_box());
  const PartSettings settings = part_settings(128, 16384);
  SceneBody box = body_of(k_box, "fuel-control box", mesh, settings);
  box.motion = Motion::free;
  box.holding = Holding::dynamic;
  box.density = 1400;
  // On the bench, in front of the rails.
  box.pose = at({0.2, 0.03, k_bench - mesh->bounds().low.z + shell_offset(*mesh, settings) + 0.0005});
  const Pose start = box.pose, docked = docked_pose(), above = undocked_pose();
  scene.bodies.push_back(std::move(box));

  Task task;
  task.body = k_box;
  task.target = docked;
  task.summary = "Slide the box onto the rails until it snaps in.";
  scene.task = task;
  // Both hands lead the box: up, in front of the rails, and in. Held by two springs it hangs lower by its weight over
  // their stiffness, so the hands go higher by that.
  const double sag = k_weight / (2 * scene.coupling.linear_stiffness);
  const auto led = [&](const Pose& pose) { return Pose{pose.position + Vec3d{0, 0, sag}, pose.rotation}; };
  const Pose before = at({0.145, 0, docked.position.z});
  for (int hand = 0; hand < 2; ++hand) scene.scripts.push_back({k_box, {start, led(above), led(before), led(docked)}});
  return scene;
}

Scene assembly_scene() {
  constexpr std::uint32_t k_table = 100;
  Scene scene;
  scene.summary = "A gearbox in a dozen parts: bearings, shafts, gears, cover and screws go in from above.";
  scene.gravity = k_gravity;
  scene.friction = 0.3;
  PlateShape table;
  table.size = {0.4, 0.4, 0.02};
  std::vector<std::shared_ptr<const TriangleMesh>> meshes;
  for (GearboxPart& part : make_gearbox()) {
    const auto id = static_cast<std::uint32_t>(scene.bodies.size()) + 1;
    const bool housing = id == 1, cover = part.name == "cover";
    // The four bearings are one mesh, and so are the two screws.
    const auto same = std::find_if(meshes.begin(), meshes.end(),
                                   [&](const auto& mesh) { return mesh->vertices == part.mesh.vertices; });
    const auto mesh = same != meshes.end() ? *same : shared(std::move(part.mesh));
    meshes.push_back(mesh);
    const PartSettings settings = housing ? part_settings(176, 2048)
                                  : cover ? part_settings(144, 8192)
                                          : part_settings(96, 4096);
    SceneBody body = body_of(id, part.name, mesh, settings);
    body.pose = part.laid_out;
    if (!housing) {
      body.motion = Motion::free;
      body.density = 2700;  // aluminium
      body.pose.position.z += shell_offset(*mesh, settings);
    }
    scene.bodies.push_back(std::move(body));
    if (part.name == "screw, right") {
      Task task;
      task.body = id;
      task.target = part.assembled;
      task.position_tolerance = 0.003;
      task.angle_tolerance = k_pi;  // a screw is round, and its hole lets it in only one way
      task.summary = "Put the gearbox together; the right screw comes last.";
      scene.task = task;
    }
  }
  scene.bodies.push_back(body_of(k_table, "table", shared(make_plate(table)), part_settings(96, k_table_points)));
  scene.bodies.back().pose = at({0, 0, k_gearbox_table});
  return scene;
}

Scene billiard_scene() {
  const BilliardShape shape;
  Scene scene;
  scene.summary = "Twelve balls on a small billiard table; the white one is on its way.";
  scene.gravity = k_gravity;
  scene.friction = 0.05;
  scene.restitution = 0.9;
  scene.drag = 0.1;
  scene.bodies.push_back(body_of(1, "table", shared(make_billiard_table(shape)), part_settings(112, k_table_points)));

  const auto mesh = shared(make_billiard_ball(shape));
  const PartSettings settings = part_settings(64, 8192);
  const double r = shape.ball_radius, height = r + shell_offset(*mesh, settings);
  const auto put = [&](const std::string& name, const char* color, double x, double y) -> SceneBody& {
    SceneBody ball = body_of(static_cast<std::uint32_t>(scene.bodies.size()) + 1, name, mesh, settings);
    ball.motion = Motion::free;
    ball.holding = Holding::dynamic;
    ball.density = 1700;
    ball.parts.front().color = color;
    ball.pose = at({x, y, height});
    scene.bodies.push_back(std::move(ball));
    return scene.bodies.back();
  };
  put("white ball", "#f4f1e6", -0.18, 0.004).velocity = {1.5, 0, 0};
  constexpr const char* k_colors[] = {"#e2b714", "#2456a6", "#c23b22", "#5b3a8e", "#e07b28", "#1f7a4d",
                                      "#7a1f2b", "#222222", "#4fa3c7", "#b04a7f", "#7f8f3a"};
  // Rows of one, two, three, three and two behind each other, a millimetre between them.
  const double step = 2 * r + 0.0015, row = step * 0.8660254037844386;
  int count = 0;
  double x = -0.04;
  for (const int in_row : {1, 2, 3, 3, 2}) {
    for (int i = 0; i < in_row; ++i) {
      put("ball " + std::to_string(count + 1), k_colors[count], x, (i - 0.5 * (in_row - 1)) * step);
      ++count;
    }
    x += in_row == 3 && count == 6 ? step : row;
  }
  return scene;
}

}  // namespace cotouch
