// Draws the pictures of docs/ from the library itself, so that they show what the code does.
#include <cotouch/app/command.h>
#include <cotouch/app/elastic_report.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/base/trig.h>
#include <cotouch/contact/engine.h>
#include <cotouch/experiment/part_picture.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/part/cache.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/world/step.h>

#include <array>
#include <memory>
#include <vector>

namespace cotouch {
namespace {

constexpr Color k_white{255, 255, 255};

// A post with a handle: two closed shapes that cross each other, as CAD exports do.
TriangleMesh make_mug() {
  TriangleMesh mug = make_cylinder(0.03, 0.08, 96);
  mug.name = "mug";
  TriangleMesh handle = make_torus(0.022, 0.006, 64, 24);
  const Pose pose{{0.034, 0, 0}, quat_from_rotation_vector({k_pi / 2, 0, 0})};
  for (Vec3d& v : handle.vertices) v = transform(pose, v);
  append(mug, handle);
  return mug;
}

Part prepare(const TriangleMesh& mesh, int resolution, std::uint32_t points, Progress& progress) {
  PartSettings settings;
  settings.field.resolution = resolution;
  settings.shell.points = points;
  return prepare_cached(mesh, settings, progress);
}

void draw_levels(const Part& part, const std::filesystem::path& path) {
  std::vector<Image> images;
  for (std::uint32_t level = 0; level < 4; ++level) images.push_back(draw_shell(part, 240, 260, level));
  write_png(beside(images, 6, k_white), path);
}

// A ring pushed over the mug's rim: every point of the ring, those looked up, and those in contact.
void draw_contact(const Part& mug, const Part& ring, const std::filesystem::path& path) {
  const std::shared_ptr<const ContactEngine> engine = default_engine_kind().make(ring, mug, {});
  const Pose pose{{0, 0, 0.0398}, quat_from_rotation_vector({0.12, 0.05, 0})};
  const PairState state{{pose}, {}};
  const std::unique_ptr<ContactWorkspace> workspace = engine->make_workspace();
  PairContact contact;
  engine->evaluate(state, Detail::everything(), *workspace, nullptr, contact);
  std::vector<VisitedPoint> visited;
  engine->visited(state, *workspace, contact, visited);
  std::vector<TouchingPoint> touching(contact.stats.in_contact);
  engine->touching(state, *workspace, contact, touching);

  const auto positions = ring.shell.data().positions;
  std::vector<Color> colors(positions.size(), Color{170, 170, 165});
  for (const VisitedPoint& point : visited) colors[point.point] = {45, 120, 190};
  for (const TouchingPoint& point : touching) colors[point.point] = {210, 40, 30};

  Box3d box;
  for (const Vec3f& p : positions) box.add(transform(pose, Vec3d(p)));
  constexpr int k_width = 520, k_height = 360;
  const Camera camera = camera_for(box, {0.5, -1.3, 0.8}, double{k_width} / k_height);
  std::vector<Image> images;
  for (const bool points_only : {false, true}) {
    Picture picture(k_width, k_height, camera);
    picture.draw(mug.mesh, Pose{}, {196, 178, 150});
    if (!points_only) picture.draw(ring.mesh, pose, {120, 150, 170});
    if (points_only)
      for (std::size_t i = 0; i < positions.size(); ++i)
        picture.draw(transform(pose, Vec3d(positions[i])), colors[i], colors[i].r > 200 ? 2.4 : 1.3);
    images.push_back(picture.image());
  }
  write_png(beside(images, 6, k_white), path);
}

// The coupling's pull over its stretch, and what that makes of a press.
void draw_coupling(const std::filesystem::path& path) {
  const CouplingSettings settings;
  PlotSeries force{"force", {}, {}};
  for (double stretch = 0; stretch <= 0.015; stretch += 1e-4) {
    force.x.push_back(stretch * 1e3);
    force.y.push_back(norm(couple(settings, Pose{{stretch, 0, 0}, {}}, Pose{}).wrench.force));
  }
  Plot plot;
  plot.title = "The virtual coupling's pull";
  plot.x_label = "distance between hand and body (mm)";
  plot.panels.resize(1);
  plot.panels[0].y_label = "force (N)";
  plot.panels[0].series = {force};
  plot.panels[0].thresholds = {{"largest force", settings.max_force}};
  write_svg(plot, path);
}

void draw_press(const Part& mug, const Part& ring, const std::filesystem::path& path) {
  BodyModel post, held;
  post.id = 1;
  post.pieces = {{std::make_shared<const Part>(mug), {}}};
  held.id = 2;
  held.motion = Motion::free;
  held.mass = {1, {}, Mat3::identity()};  // of no matter: it is held without inertia
  held.pieces = {{std::make_shared<const Part>(ring), {}}};
  held.start = {{0, 0, 0.055}, {}};
  const WorldModel model({post, held}, WorldSettings{});
  WorldState state(model);
  StepScratch scratch(model);
  HandInput input;
  input.present = true;
  input.action = HandInput::Action::grasp;
  input.body = held.id;
  input.pose = held.start;
  PlotSeries hand{"hand", {}, {}}, ring_height{"ring", {}, {}}, force{"", {}, {}}, points{"", {}, {}};
  constexpr double k_seconds = 2;
  for (int cycle = 0; cycle < 2000; ++cycle) {
    const double time = cycle * 1e-3;
    // Down and up again, at rest at both ends.
    const double height = 0.055 - 0.012 * (1 - sin_cos(2 * k_pi * time / k_seconds).cos);
    step(model, state, {&input, 1}, scratch);
    input.action = HandInput::Action::none;
    input.pose.position = {0.0004, 0, height};
    for (PlotSeries* series : {&hand, &ring_height, &force, &points}) series->x.push_back(time);
    hand.y.push_back(height * 1e3);
    ring_height.y.push_back(state.bodies()[1].pose.position.z * 1e3);
    force.y.push_back(norm(state.hands()[0].felt.force));
    points.y.push_back(scratch.stats().in_contact);
  }
  Plot plot;
  plot.title = "A ring pressed onto a post";
  plot.x_label = "time (s)";
  plot.panel_height = 140;
  plot.panels.resize(3);
  plot.panels[0].y_label = "height (mm)";
  plot.panels[0].series = {hand, ring_height};
  plot.panels[1].y_label = "force (N)";
  plot.panels[1].series = {force};
  plot.panels[1].thresholds = {{"largest force", model.settings().coupling.max_force}};
  plot.panels[2].y_label = "points in contact";
  plot.panels[2].series = {points};
  write_svg(plot, path);
}

// A part beside its tetrahedra, cut open: those on the viewer's side are left out, the others drawn a little smaller
// so that each is seen.
void draw_tets(const Part& part, const std::filesystem::path& path) {
  const ElasticData& data = part.elastic->data();
  const Box3d box = part.mesh.bounds();
  TriangleMesh pieces;
  for (const Tet& tet : data.tets) {
    Vec3d center;
    for (const std::uint32_t node : tet) center += Vec3d(data.nodes[node]) / 4;
    if (center.y < box.center().y) continue;
    const auto first = static_cast<std::uint32_t>(pieces.vertices.size());
    constexpr double k_size = 0.88;
    for (const std::uint32_t node : tet)
      pieces.vertices.push_back(center + (Vec3d(data.nodes[node]) - center) * k_size);
    for (const auto& [a, b, c] : {std::array{0U, 1U, 2U}, {0U, 1U, 3U}, {0U, 2U, 3U}, {1U, 2U, 3U}})
      pieces.triangles.push_back({first + a, first + b, first + c});
  }
  constexpr int k_width = 520, k_height = 280;
  const Camera camera = camera_for(box, {0.35, -1.6, 0.5}, double{k_width} / k_height);
  std::vector<Image> images;
  for (const TriangleMesh* const mesh : {&part.mesh, static_cast<const TriangleMesh*>(&pieces)}) {
    Picture picture(k_width, k_height, camera);
    picture.draw(*mesh, Pose{}, images.empty() ? Color{196, 178, 150} : Color{111, 159, 216});
    images.push_back(picture.image());
  }
  write_png(beside(images, 6, k_white), path);
}

}  // namespace

void run_docs_pictures(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  ProgressBar bar;
  const Part mug = prepare(make_mug(), 128, 16384, bar);
  const Part ring = prepare(make_torus(0.034, 0.0055, 96, 32), 128, 8192, bar);
  bar.clear();
  const std::array<Image, 2> field{draw_mesh(mug, 420, 420), draw_field_slice(mug.field, 420, 420)};
  write_png(beside(field, 6, k_white), folder / "field.png");
  draw_levels(mug, folder / "shell.png");
  draw_contact(mug, ring, folder / "contact.png");
  draw_coupling(folder / "coupling.svg");
  draw_press(mug, ring, folder / "press.svg");

  PartSettings settings;
  settings.field.resolution = 128;
  settings.shell.points = 4096;
  settings.elastic.emplace();
  settings.elastic->material = material_named("rubber");
  settings.elastic->anchors = {parse_anchor("z<0.01")};
  settings.elastic->tets.target_tets = 6000;
  const Part creature = prepare_cached(make_creature(), settings, bar);
  bar.clear();
  draw_tets(creature, folder / "tets.png");
  write_png(draw_modes(creature, 270, 180), folder / "modes.png");
}

}  // namespace cotouch
