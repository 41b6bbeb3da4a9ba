// Paper 000, Table 2: what the modes of large bodies take to compute, and what they take to use.
#include <cotouch/base/realtime.h>
#include <cotouch/elastic/modal_body.h>
#include <cotouch/elastic/modes.h>
#include <cotouch/elastic/surface_update.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/modal_table.h>
#include <cotouch/part/part.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>
#include <cotouch/shell/point_grid.h>

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

constexpr std::uint32_t k_touched = 32;  // points of the shell at once

// While this lives, the work of parallel_for is all done by this thread, whose processor time is then all there is.
class OneThread {
 public:
  OneThread() {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(std::max(0, sched_getcpu())), &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { sched_setaffinity(0, sizeof all_, &all_); }

 private:
  cpu_set_t all_{};
};

TetMesh tetrahedra_of(const ModalRow& row, const Part& part, Progress& progress) {
  if (row.tets) return *row.tets;
  TetSettings settings;
  settings.target_tets = row.target_tets;
  TetMesh mesh;
  for (int i = 0; i < 4; ++i) {
    mesh = tetrahedralise(part.field, settings, progress);
    mesh = largest_piece(mesh, pieces_of(mesh));
    const double ratio = static_cast<double>(mesh.tets.size()) / row.target_tets;
    if (std::fabs(ratio - 1) < 0.02) break;
    settings.target_tets = static_cast<std::uint32_t>(settings.target_tets / ratio);
  }
  return mesh;
}

// Forces of touched points and a hand that holds one: places of the points, what presses against them, their loads, the
// hand's constraint and the time step. The hand goes around in a small circle, the touched points slide over the body.
std::vector<double> touch_steps_us(const ElasticModel& model, const Part& part, int steps) {
  ModalBody body(model, {});
  const std::span<const Vec3f> rest = part.shell.data().positions;
  const std::span<const EmbeddedPoint> shell = model.data().shell;
  // A path over the whole surface, along which the touched points slide: one new point a step.
  const std::vector<std::uint32_t> path = morton_order(rest);
  // The hand takes the point that moves most in the first mode.
  std::vector<double> q(model.size()), load(model.size());
  q[0] = 1;
  body.set(q, load);
  std::uint32_t handle = 0;
  double most = 0;
  for (std::uint32_t i = 0; i < shell.size(); ++i) {
    const double moved = norm(body.shape().displacement_at(shell[i]));
    if (moved > most) {
      most = moved;
      handle = i;
    }
  }
  q[0] = 0;
  body.set(q, load);
  const double size = norm(part.mesh.bounds().size());
  std::vector<double> times;
  Vec3d force[1];
  constexpr double k_stiffness = 100;  // N/m
  for (int i = 0; i < steps; ++i) {
    const double turn = 6.283185307 * i / 1000;
    const HeldPoint hand{shell[handle], Vec3d{std::cos(turn) - 1, std::sin(turn), 0} * (0.01 * size)};
    const std::int64_t start = processor_ns();
    std::fill(load.begin(), load.end(), 0.0);
    for (std::uint32_t k = 0; k < k_touched; ++k) {
      const std::uint32_t point = path[(static_cast<std::size_t>(i) + k) % path.size()];
      // Pressed back towards where it was at rest.
      const Vec3d moved = body.shape().displacement_at(shell[point]);
      body.shape().push(shell[point], moved * -k_stiffness);
    }
    body.shape().add_pushes(load.data());
    body.step(load, {&hand, 1}, force);
    times.push_back(static_cast<double>(processor_ns() - start) * 1e-3);
  }
  return times;
}

double surface_updates_per_second(const ElasticModel& model, std::span<const std::uint32_t> nodes, int updates) {
  SurfaceUpdate surface(model, nodes);
  std::vector<double> q(model.size()), times;
  for (int i = 0; i < updates; ++i) {
    for (std::size_t j = 0; j < q.size(); ++j) q[j] = 1e-3 * std::sin(0.1 * i + static_cast<double>(j));
    const std::int64_t start = processor_ns();
    surface.at(q);
    times.push_back(static_cast<double>(processor_ns() - start) * 1e-9);
  }
  return 1 / median(times);
}

}  // namespace

void add_modal_row(const ModalRow& row, const ExperimentOptions& options, ExperimentReport& report) {
  Progress& progress = *options.progress;
  PartSettings settings;
  settings.field.resolution = 128;
  settings.shell.points = options.quick ? 4096 : 65536;
  settings.shell.seed = options.seed;
  const Part part = prepare_part(row.surface, settings, progress);
  const TetMesh mesh = tetrahedra_of(row, part, progress);

  const Box3d bounds = part.mesh.bounds();
  PlaneAnchor floor;
  floor.axis = static_cast<std::uint8_t>(row.up);
  floor.at = bounds.low[row.up] + 0.05 * bounds.size()[row.up];
  const std::vector<std::uint32_t> held = anchored_nodes(mesh, std::vector<Anchor>{floor});

  ElasticSettings elastic;
  elastic.material = material_named("rubber");
  elastic.law = ElasticLaw::warped;
  elastic.coordinates = row.modes;
  ElasticShapes shapes;
  shapes.anchored = true;
  double precompute = 0;
  {
    const OneThread alone;
    const std::int64_t start = processor_ns();
    const FemSystem system = assemble(mesh, elastic.material, held);
    Modes modes = lowest_modes(mesh, system, row.modes, progress);
    precompute = static_cast<double>(processor_ns() - start) * 1e-9;
    shapes.shapes = std::move(modes.shapes);
    shapes.omega_squared = std::move(modes.omega_squared);
  }
  const ElasticModel model = tie_to_shapes({part.mesh, part.field, part.shell}, mesh, shapes, elastic, progress);
  const TetSurface surface = surface_of(mesh);
  const double updates = surface_updates_per_second(model, surface.node, options.quick ? 20 : 300);
  const std::vector<double> touches = touch_steps_us(model, part, options.quick ? 500 : 10000);

  const auto name = [&](const char* quantity) { return row.name + "/" + quantity; };
  report.add(name("tets"), static_cast<double>(mesh.tets.size()), "tetrahedra", row.paper_tets);
  report.add(name("modes"), row.modes, "modes", row.paper_tets ? std::optional<double>(row.modes) : std::nullopt);
  report.add(name("precompute-s"), precompute, "s", row.paper_precompute_s);
  report.add(name("surface-updates-per-s"), updates, "1/s", row.paper_updates_per_s);
  report.add(name("touch-step-p99-us"), percentile(touches, 0.99), "us");
  report.add(name("touch-step-p50-us"), median(touches), "us");
  report.add(name("surface-nodes"), static_cast<double>(surface.node.size()), "nodes");
  report.notes.push_back(fmt::format("{}: {}", row.name, row.note));
}

ExperimentReport run_modal_table(const ExperimentOptions& options) {
  ExperimentReport report;
  report.notes.push_back(
      "Paper: 000, Table 2, Core 2 Duo 2.93 GHz; its running time is that of the server, with the whole surface. Ours "
      "is processor time of one thread. precompute: matrices and modes from tetrahedra. surface-updates: all nodes on "
      "the surface of the tetrahedra, warped. touch-step: 32 neighbouring points of a shell of 65536, with their "
      "forces, one held point and the implicit step.");
  ModalRow bar;
  bar.name = "bar";
  bar.note = "20 x 3 x 3 cells of six tetrahedra, as many as the paper's";
  const Vec3d size{0.2, 0.03, 0.03};
  bar.surface = make_box(size);
  translate(bar.surface, size * 0.5);
  bar.tets = tet_box(size, {20, 3, 3});
  bar.modes = 20;
  bar.up = 0;
  bar.paper_tets = 1080;
  bar.paper_precompute_s = 0.11;
  bar.paper_updates_per_s = 1124.2;
  add_modal_row(bar, options, report);

  const auto figure = [&](const char* name, const char* file, std::uint32_t tets, std::uint32_t modes) {
    ModalRow row;
    row.name = name;
    row.surface = scanned_model(file);
    row.note = fmt::format("{}, the scanned model", file);
    row.up = 1;
    if (row.surface.triangles.empty()) {
      row.surface = make_creature({});
      row.note = "a procedural creature stands in (./dev models fetches the scan)";
      row.up = 2;
    }
    row.target_tets = options.quick ? tets / 10 : tets;
    if (options.quick) row.note += "; a tenth of the tetrahedra";
    row.modes = modes;
    return row;
  };
  ModalRow bunny = figure("bunny-50k", "bunny.obj", 50'000, 60);
  bunny.paper_tets = 50'000;
  bunny.paper_precompute_s = 14.7;
  bunny.paper_updates_per_s = 264.2;
  add_modal_row(bunny, options, report);
  ModalRow dragon = figure("dragon-100k", "dragon.ply", 100'000, 100);
  dragon.paper_tets = 100'000;
  dragon.paper_precompute_s = 33.6;
  dragon.paper_updates_per_s = 56.8;
  add_modal_row(dragon, options, report);
  return report;
}

}  // namespace cotouch
