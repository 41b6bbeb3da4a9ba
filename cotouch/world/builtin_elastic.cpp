// Built-in scenes with bodies that bend.
#include <cotouch/world/builtin_scenes.h>

#include <cotouch/base/trig.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/shapes/blocks.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/soft.h>

namespace cotouch {
namespace {

// Damped so that it is at rest a second or two after it was let go; nobody wants to wait for longer.
Material calm_rubber() {
  Material rubber = material_named("rubber");
  rubber.mass_damping = 6;
  return rubber;
}

PartSettings elastic_settings(const PartSettings& settings, const Material& material,
                              std::initializer_list<const char*> anchors) {
  PartSettings bent = settings;
  ElasticSettings& elastic = bent.elastic.emplace();
  elastic.material = material;
  for (const char* anchor : anchors) elastic.anchors.push_back(parse_anchor(anchor));
  return bent;
}

SceneBody& add(Scene& scene, SceneBody body) {
  scene.bodies.push_back(std::move(body));
  return scene.bodies.back();
}

// In a hand as light as everything that is held without its mass.
SceneBody& add_held(Scene& scene, SceneBody body, const Pose& pose) {
  body.motion = Motion::free;
  body.pose = pose;
  if (const auto& elastic = body.parts.front().settings.elastic) body.density = elastic->material.density;
  return add(scene, std::move(body));
}

}  // namespace

Scene hoses_scene() {
  constexpr std::uint32_t k_frame = 1, k_left = 2, k_right = 3, k_fitting = 4;
  constexpr double k_apart = 0.016;  // from the middle to a hose's: they leave 14 mm for a part of 30 mm
  Scene scene;
  scene.summary = "A metal fitting is led between two rubber hoses that would not let it through if they did not bend.";
  scene.drag = 20;
  add(scene, body_of(k_frame, "frame", shared(make_frame()), part_settings(96, 2048))).parts.front().color = "#8d99a6";
  const auto hose = shared(make_hanging_hose());
  PartSettings settings = elastic_settings(part_settings(112, 8192), calm_rubber(), {"x<-0.1", "x>0.1"});
  settings.elastic->tets.target_tets = 2500;
  for (const std::uint32_t id : {k_left, k_right}) {
    SceneBody& body = add(scene, body_of(id, id == k_left ? "left hose" : "right hose", hose, settings));
    body.pose = at({0, id == k_left ? k_apart : -k_apart, 0});
    body.parts.front().color = "#3a3f44";
    scene.rules.push_back({k_frame, id, false});  // their ends are in it
  }
  const auto fitting = shared(make_fitting());
  const Pose start = at({0, 0, 0.06}), through = at({0, 0, -0.1});
  add_held(scene, body_of(k_fitting, "fitting", fitting, part_settings(80, 4096)), start).parts.front().color =
      "#5fa35a";
  scene.scripts.push_back({k_fitting, {start, at({0.01, 0, 0.005}), at({-0.01, 0, -0.03}, {0, 0.25, 0}), through}});
  Task task;
  task.body = k_fitting;
  task.target = through;
  task.position_tolerance = 0.01;
  task.angle_tolerance = 30 * k_pi / 180;
  task.summary = "Lead the fitting between the hoses to the other side.";
  scene.task = task;
  return scene;
}

Scene soft_bridge_scene() {
  constexpr std::uint32_t k_bridge = 1, k_creature = 2;
  Scene scene;
  scene.summary = "A bumpy creature on a rubber bridge that bends under it, as in Figure 2 of the paper.";
  scene.drag = 20;
  // So soft that two newtons of a foot can be seen.
  Material silicone = material_named("silicone");
  silicone.young = 250e3;
  silicone.mass_damping = 8;
  BridgeShape shape;
  shape.arches = 2;
  shape.height = 0.07;
  shape.width = 0.072;
  PartSettings settings = elastic_settings(part_settings(128, 32768), silicone, {"z<-0.066"});
  settings.elastic->tets.target_tets = 6000;
  add(scene, body_of(k_bridge, "bridge", shared(with_short_edges(make_bridge(shape), 0.008, 60'000)), settings));
  const Pose start = at({0, 0, 0.02});
  add_held(scene, body_of(k_creature, "creature", shared(make_creature()), part_settings(128, 4096)), start);
  scene.scripts.push_back({k_creature,
                           {start, at({0, 0, -0.005}), at({0.02, 0, -0.005}), at({0, 0.01, -0.005}, {0, 0, 0.2}),
                            at({-0.02, 0, -0.005}, {0, 0.1, 0}), start}});
  return scene;
}

Scene soft_soft_scene() {
  constexpr std::uint32_t k_plate = 1, k_bar = 2, k_creature = 3;
  constexpr Vec3d k_size{0.03, 0.03, 0.16};
  Scene scene;
  scene.summary = "A rubber creature pushes a rubber bar and both bend: each feels the other.";
  scene.drag = 20;
  PlateShape plate;
  plate.size = {0.32, 0.2, 0.02};
  add(scene, body_of(k_plate, "plate", shared(make_plate(plate)), part_settings(80, 1024)));
  // The creature's field is asked by the bar's points, as in Figure 13 of the paper.
  PartSettings bar = elastic_settings(part_settings(80, 8192), calm_rubber(), {"z<-0.075"});
  bar.elastic->tets.target_tets = 2000;
  add(scene, body_of(k_bar, "bar", shared(make_soft_bar(k_size)), bar)).pose = at({0.08, 0, 0.5 * k_size.z});
  scene.rules.push_back({k_plate, k_bar, false});
  // Its torso is what a hand holds: everything else moves against that.
  PartSettings creature =
      elastic_settings(part_settings(128, 4096), material_named("rubber"), {"box:-0.04,-0.013,0.045,0.04,0.013,0.075"});
  creature.elastic->tets.target_tets = 6000;
  creature.elastic->domains = 5;
  const Pose start = at({-0.07, 0, 0.012});
  add_held(scene, body_of(k_creature, "creature", shared(make_creature()), creature), start);
  scene.scripts.push_back({k_creature,
                           {start, at({-0.015, 0, 0.012}), at({-0.015, 0.02, 0.012}, {0, 0, -0.3}),
                            at({-0.02, -0.01, 0.03}, {0, 0.3, 0}), start}});
  return scene;
}

Scene soft_bar_scene() {
  constexpr std::uint32_t k_rest = 1, k_bar = 2;
  constexpr Vec3d k_size{0.24, 0.03, 0.015};
  Scene scene;
  scene.summary = "A rubber bar for up to four hands: lift it, bend it, twist it, or let it sag.";
  scene.gravity = {0, 0, -9.81};
  scene.friction = 0.5;
  add(scene, body_of(k_rest, "rest", shared(make_bar_rest(0.16)), part_settings(80, 1024)));
  PartSettings settings = elastic_settings(part_settings(96, 8192), calm_rubber(), {});
  settings.elastic->law = ElasticLaw::warped;
  settings.elastic->coordinates = 20;
  settings.elastic->tets.target_tets = 2500;
  const Pose start = at({0, 0, 0.5 * k_size.z + 0.003});
  add_held(scene, body_of(k_bar, "bar", shared(make_soft_bar(k_size)), settings), start).holding = Holding::dynamic;
  // A hand in the middle and one at either end lift it, bend it, twist it and put it back. Their ways are equally long,
  // so that they go together.
  const auto led = [&](double x, std::initializer_list<Pose> keys) {
    HandScript script{k_bar, {}, 0.03};
    for (const Pose& key : keys) script.keys.push_back(start * Pose{{x, 0, 0}, {}} * key);
    scene.scripts.push_back(std::move(script));
  };
  const Pose up = at({0, 0, 0.07}), down = at({0, 0, -0.005});
  led(0, {at({}), up, at({0, 0, 0.05}), up, down});
  for (const double side : {-1.0, 1.0})
    led(0.11 * side, {at({}), up, at({-0.0085 * side, 0, 0.0881}, {0, -0.4 * side, 0}),
                      at({0, 0, 0.07}, {0.35 * side, 0, 0}), down});
  return scene;
}

Scene snap_clip_scene() {
  constexpr std::uint32_t k_latch = 1, k_clip = 2;
  // Soft polyethylene: with nylon the arms would have to be a millimetre thin for a hand to bend them.
  const Material polyethylene{0.2e9, 0.42, 920, 1, 1e-4};
  Scene scene;
  scene.summary = "A clip with two springy arms: push it into its latch until the hooks click in behind the ledge.";
  scene.drag = 20;
  add(scene, body_of(k_latch, "latch", shared(make_latch()), part_settings(96, 2048)));
  PartSettings settings = elastic_settings(part_settings(112, 4096), polyethylene, {"z>-0.001"});
  settings.elastic->tets.target_tets = 8000;
  settings.elastic->law = ElasticLaw::warped;
  settings.elastic->coordinates = 12;
  const Pose start = at({0, 0, 0.075}), seated = at({0, 0, 0.0004});
  add_held(scene, body_of(k_clip, "clip", shared(make_clip()), settings), start);
  scene.scripts.push_back({k_clip, {start, at({0, 0, 0.022}), at({0, 0, -0.002})}, 0.03});
  Task task;
  task.body = k_clip;
  task.target = seated;
  task.position_tolerance = 0.001;
  task.angle_tolerance = 5 * k_pi / 180;
  task.summary = "Push the clip in until it clicks.";
  scene.task = task;
  return scene;
}

}  // namespace cotouch
