// A beam, of which theory knows what linear tetrahedra, modes, warping and St. Venant-Kirchhoff's law should do.
#include <cotouch/elastic/modal_body.h>
#include <cotouch/elastic/modal_derivatives.h>
#include <cotouch/elastic/stvk_step.h>
#include <cotouch/experiment/beam.h>
#include <cotouch/experiment/elastica.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/part/part.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cotouch {
namespace {

constexpr int k_frequencies = 5;
constexpr double k_hair = 1e-9;       // metres: nodes that are closer are in the same place
constexpr double k_bending_load = 3;  // P L^2 / (E I): the end turns by 56 degrees

Material material_of(const SquareBeam& beam) {
  Material material;
  material.young = beam.young;
  material.poisson = beam.poisson;
  material.density = beam.density;
  // Critical for the lowest vibration, so that a bar comes to rest soon.
  material.mass_damping = 2 * timoshenko_omega(beam, 1);
  material.stiffness_damping = 0;
  return material;
}

std::uint32_t node_at(const TetMesh& mesh, const Vec3d& at) {
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < mesh.nodes.size(); ++i)
    if (norm_squared(mesh.nodes[i] - at) < norm_squared(mesh.nodes[best] - at)) best = i;
  return best;
}

// Twenty seconds at critical damping of 0.6 Hz: nothing moves any more.
constexpr double k_settle_step = 1e-3;
constexpr int k_settle_steps = 20'000;

// The nodes in the middle of the cross-sections, in the mesh's order.
std::vector<std::uint32_t> middle_line(const SquareBeam& beam, const MeshedBeam& meshed) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < meshed.mesh.nodes.size(); ++node) {
    const Vec3d& at = meshed.mesh.nodes[node];
    if (std::fabs(at.y - beam.side / 2) <= k_hair && std::fabs(at.z - beam.side / 2) <= k_hair) nodes.push_back(node);
  }
  return nodes;
}

// Where every node of a bent beam is, metres.
using BentBeam = std::vector<Vec3d>;

struct BentTip {
  double along, aside;  // in lengths of the beam
};
BentTip tip_of(const SquareBeam& beam, const MeshedBeam& meshed, const BentBeam& bent) {
  return {bent[meshed.tip].x / beam.length, (bent[meshed.tip].z - beam.side / 2) / beam.length};
}
double error_percent(const BentTip& tip, const ElasticaPoint& expected) {
  return 100 * std::hypot(tip.along - expected.along, tip.aside - expected.across);
}

Modes first_of(const Modes& modes, std::uint32_t count) {
  Modes out = modes;
  out.omega_squared.resize(count);
  out.shapes.count = count;
  out.shapes.values.resize(std::size_t{3} * count * modes.shapes.nodes);
  return out;
}

// With the surface of a box, which the run-time model must have.
ElasticModel warped_model(const SquareBeam& beam, const MeshedBeam& meshed, const Modes& modes, Progress& progress) {
  TriangleMesh box = make_box({beam.length, beam.side, beam.side});
  translate(box, Vec3d{beam.length, beam.side, beam.side} * 0.5);
  PartSettings settings;
  settings.field.resolution = 64;
  settings.shell.points = 256;
  const Part part = prepare_part(box, settings, progress);
  ElasticSettings elastic;
  elastic.material = material_of(beam);
  elastic.law = ElasticLaw::warped;
  return tie_to_shapes({part.mesh, part.field, part.shell}, meshed.mesh, {modes.shapes, modes.omega_squared, true},
                       elastic, progress);
}

EmbeddedPoint at_node(std::uint32_t node) {
  return {{node, node, node, node}, {1, 0, 0, 0}};
}

BentBeam bend(const MeshedBeam& meshed, const ElasticModel& model, const Vec3d& force) {
  ModalBody body(model, {k_settle_step, 0});
  std::vector<double> load(model.size());
  for (int i = 0; i < k_settle_steps; ++i) {
    std::fill(load.begin(), load.end(), 0.0);
    body.shape().add_gradient(at_node(meshed.tip), force, {}, load.data());
    body.step(load, {}, {});
  }
  BentBeam bent = meshed.mesh.nodes;
  for (std::uint32_t node = 0; node < bent.size(); ++node) bent[node] += body.shape().displacement_at(at_node(node));
  return bent;
}

// The force at the tip as a load on each shape, and where nodes are that move by the shapes as they are.
std::vector<double> load_of(const MeshedBeam& meshed, const Shapes& shapes, const Vec3d& force) {
  std::vector<double> load(shapes.count);
  for (std::size_t j = 0; j < load.size(); ++j)
    for (std::size_t k = 0; k < 3; ++k) load[j] += force[k] * shapes[j][3 * std::size_t{meshed.tip} + k];
  return load;
}
BentBeam moved_by(const MeshedBeam& meshed, const Shapes& shapes, const std::vector<double>& q) {
  BentBeam bent = meshed.mesh.nodes;
  for (std::size_t node = 0; node < bent.size(); ++node)
    for (std::size_t j = 0; j < q.size(); ++j)
      for (std::size_t k = 0; k < 3; ++k) bent[node][k] += q[j] * shapes[j][3 * node + k];
  return bent;
}

BentBeam bend(const SquareBeam& beam, const MeshedBeam& meshed, const StvkPolynomials& body, const Shapes& shapes,
              const Vec3d& force) {
  const std::vector<double> load = load_of(meshed, shapes, force);
  std::vector<double> q(shapes.count), v(shapes.count);
  StvkStep settings;
  settings.time_step = k_settle_step;
  settings.mass_damping = material_of(beam).mass_damping;
  StvkScratch scratch;
  for (int i = 0; i < k_settle_steps; ++i) step_stvk(body, settings, load, q, v, scratch);
  return moved_by(meshed, shapes, q);
}

// Linear modes as they are: at rest each gives way by load / omega^2.
BentBeam bend_linearly(const MeshedBeam& meshed, const Modes& modes, const Vec3d& force) {
  std::vector<double> q = load_of(meshed, modes.shapes, force);
  for (std::size_t j = 0; j < q.size(); ++j) q[j] /= modes.omega_squared[j];
  return moved_by(meshed, modes.shapes, q);
}

// How long the middle line is, in lengths of the beam.
double length_of(const SquareBeam& beam, const MeshedBeam& meshed, const BentBeam& bent) {
  std::vector<std::uint32_t> line = middle_line(beam, meshed);
  std::sort(line.begin(), line.end(),
            [&](std::uint32_t a, std::uint32_t b) { return meshed.mesh.nodes[a].x < meshed.mesh.nodes[b].x; });
  double sum = 0;
  for (std::size_t i = 1; i < line.size(); ++i) sum += norm(bent[line[i]] - bent[line[i - 1]]);
  return sum / beam.length;
}

// The beam's outline in the plane in which it bends: along its lower side to the end and back along its upper one.
PlotSeries outline(const std::string& label, const SquareBeam& beam, const MeshedBeam& meshed, const BentBeam& bent) {
  struct Corner {
    double order;
    std::uint32_t node;
  };
  std::vector<Corner> corners;
  for (std::uint32_t node = 0; node < bent.size(); ++node) {
    const Vec3d& rest = meshed.mesh.nodes[node];
    if (std::fabs(rest.y - beam.side / 2) > k_hair) continue;
    if (rest.z < k_hair)
      corners.push_back({rest.x, node});
    else if (rest.x > beam.length - k_hair)
      corners.push_back({beam.length + rest.z, node});
    else if (rest.z > beam.side - k_hair)
      corners.push_back({2 * beam.length + beam.side - rest.x, node});
  }
  std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) { return a.order < b.order; });
  PlotSeries series{label, {}, {}};
  for (const Corner& corner : corners) {
    series.x.push_back(bent[corner.node].x / beam.length);
    series.y.push_back((bent[corner.node].z - beam.side / 2) / beam.length);
  }
  return series;
}

}  // namespace

MeshedBeam mesh_beam(const SquareBeam& beam, std::uint32_t cells) {
  MeshedBeam out;
  const auto along = static_cast<std::uint32_t>(std::lround(beam.length / beam.side)) * cells;
  out.mesh = tet_box({beam.length, beam.side, beam.side}, {along, cells, cells});
  for (std::uint32_t i = 0; i < out.mesh.nodes.size(); ++i)
    if (out.mesh.nodes[i].x < k_hair) out.clamped.push_back(i);
  out.tip = node_at(out.mesh, {beam.length, beam.side / 2, beam.side / 2});
  return out;
}

std::vector<double> bending_omegas(const SquareBeam& beam, const MeshedBeam& meshed, const Modes& modes) {
  const std::vector<std::uint32_t> line = middle_line(beam, meshed);
  std::vector<double> bending;
  for (std::uint32_t i = 0; i < modes.shapes.count; ++i) {
    // Mass-orthonormal bending has the mean square 1 / mass across the beam; twisting and stretching have none on its
    // middle line.
    double sum = 0;
    for (const std::uint32_t node : line) {
      const double* const moved = modes.shapes[i] + 3 * std::size_t{node};
      sum += moved[1] * moved[1] + moved[2] * moved[2];
    }
    if (sum / static_cast<double>(line.size()) * beam.mass() > 0.3)
      bending.push_back(std::sqrt(modes.omega_squared[i]));
  }
  // Two of each: a square beam bends both ways alike.
  std::vector<double> pairs;
  for (std::size_t i = 0; i + 1 < bending.size(); i += 2) pairs.push_back((bending[i] + bending[i + 1]) / 2);
  return pairs;
}

namespace {

void measure_frequencies(const ExperimentOptions& options, ExperimentReport& report) {
  SquareBeam beam;
  beam.length = 0.2;
  const Material material = material_of(beam);
  const std::uint32_t fine = options.quick ? 4 : 12, coarse = fine / 2;

  std::vector<double> of_coarse, of_fine;
  for (const std::uint32_t cells : {coarse, fine}) {
    const MeshedBeam meshed = mesh_beam(beam, cells);
    const FemSystem system = assemble(meshed.mesh, material, meshed.clamped);
    const Modes modes = lowest_modes(meshed.mesh, system, 14, *options.progress);
    (cells == fine ? of_fine : of_coarse) = bending_omegas(beam, meshed, modes);
    if (cells == fine)
      report.notes.push_back(fmt::format(
          "Cantilever {} mm long, {} mm square, nu = {}: {} linear tetrahedra, {} cells across. f1 to f5 are of this "
          "mesh; f<n>-extrapolated-error-percent is Richardson's limit of it and of one with half as many cells.",
          beam.length * 1e3, beam.side * 1e3, beam.poisson, meshed.mesh.tets.size(), cells));
  }
  for (int n = 1; n <= k_frequencies; ++n) {
    const auto i = static_cast<std::size_t>(n - 1);
    const double expected = timoshenko_omega(beam, n);
    report.add(fmt::format("beam/f{}-error-percent", n), 100 * (of_fine.at(i) / expected - 1), "%");
    // Errors of linear elements fall with the square of their size.
    const double limit = of_fine.at(i) + (of_fine.at(i) - of_coarse.at(i)) / 3;
    report.add(fmt::format("beam/f{}-extrapolated-error-percent", n), 100 * (limit / expected - 1), "%");
    report.add(fmt::format("beam/f{}-hz", n), of_fine.at(i) / (2 * std::numbers::pi), "Hz (theory in the peer column)",
               {}, expected / (2 * std::numbers::pi));
  }

  report.notes.push_back(
      "Frequencies against Timoshenko's theory (cross-sections turn and shear; Cowper's factor); positive: too fast.");
}

void measure_large_bending(const ExperimentOptions& options, ExperimentReport& report) {
  SquareBeam beam;
  const Material material = material_of(beam);
  const std::uint32_t cells = options.quick ? 4 : 8, coordinates = options.quick ? 12 : 20;
  const MeshedBeam meshed = mesh_beam(beam, cells);
  const FemSystem system = assemble(meshed.mesh, material, meshed.clamped);
  const FemSolver solver(meshed.mesh, system, *options.progress);
  const Modes modes = lowest_modes(solver, coordinates, *options.progress);
  const Shapes shapes =
      stvk_basis(meshed.mesh, material, solver, first_of(modes, coordinates / 2), coordinates, *options.progress);
  const StvkPolynomials reduced = reduce_stvk(meshed.mesh, material, shapes, *options.progress);
  const ElasticModel warped = warped_model(beam, meshed, modes, *options.progress);

  const std::vector<ElasticaPoint> theory = elastica(k_bending_load);
  const ElasticaPoint expected = theory.back();
  const double load = k_bending_load * beam.young * beam.inertia() / (beam.length * beam.length);
  const BentBeam stvk_bent = bend(beam, meshed, reduced, shapes, {0, 0, load});
  const BentBeam warped_bent = bend(meshed, warped, {0, 0, load});
  const BentTip stvk_tip = tip_of(beam, meshed, stvk_bent), warped_tip = tip_of(beam, meshed, warped_bent);
  report.add("beam/large-bend-error-percent", error_percent(stvk_tip, expected), "% of the length");
  report.add("beam/warped-large-bend-error-percent", error_percent(warped_tip, expected), "% of the length");
  const auto add_tip = [&](const char* name, const BentTip& tip) {
    report.add(fmt::format("beam/{}-tip-along", name), tip.along, "lengths (elastica in the peer column)", {},
               expected.along);
    report.add(fmt::format("beam/{}-tip-aside", name), tip.aside, "lengths (elastica in the peer column)", {},
               expected.across);
  };
  add_tip("stvk", stvk_tip);
  add_tip("warped", warped_tip);
  const BentBeam linear = bend_linearly(meshed, modes, {0, 0, load});
  report.add("beam/linear-length", length_of(beam, meshed, linear), "lengths at rest");
  report.add("beam/warped-length", length_of(beam, meshed, warped_bent), "lengths at rest");
  report.add("beam/stvk-length", length_of(beam, meshed, stvk_bent), "lengths at rest");
  // What is left of it if the mesh were as stiff as theory says.
  const double ratio = bending_omegas(beam, meshed, modes).at(0) / timoshenko_omega(beam, 1);
  const Vec3d stiffer{0, 0, load * ratio * ratio};
  report.add("beam/large-bend-without-mesh-error-percent",
             error_percent(tip_of(beam, meshed, bend(beam, meshed, reduced, shapes, stiffer)), expected),
             "% of the length");
  report.add("beam/warped-large-bend-without-mesh-error-percent",
             error_percent(tip_of(beam, meshed, bend(meshed, warped, stiffer)), expected), "% of the length");
  report.notes.push_back(fmt::format(
      "large-bend: a dead weight of P L^2 / (E I) = {} at the end of a bar {} mm long and {} mm square, {} tetrahedra "
      "({} cells across), {} coordinates; how far the end is from that of the elastica. large-bend is of St. "
      "Venant-Kirchhoff's law, warped-large-bend of warped modes. Linear tetrahedra are too stiff in bending, here by "
      "{:.1f} %; without-mesh: with a weight that is larger by as much. length: of the middle line, which should stay "
      "as long as it was.",
      k_bending_load, beam.length * 1e3, beam.side * 1e3, meshed.mesh.tets.size(), cells, coordinates,
      100 * (ratio * ratio - 1)));

  PlotSeries line{"theory (elastica)", {}, {}};
  for (const ElasticaPoint& point : theory) {
    line.x.push_back(point.along);
    line.y.push_back(point.across);
  }
  Plot plot;
  plot.title = "The same bar under the same weight at its end";
  plot.x_label = "along (lengths)";
  plot.width = 600;
  plot.panel_height = 540;
  plot.panels.resize(1);
  plot.panels[0].y_label = "aside (lengths)";
  plot.panels[0].series = {line, outline("linear modes", beam, meshed, linear),
                           outline("warped", beam, meshed, warped_bent),
                           outline("St. Venant-Kirchhoff", beam, meshed, stvk_bent)};
  const std::filesystem::path path = options.folder / "beam.svg";
  write_svg(plot, path);
  report.figures.push_back(path);
}

}  // namespace

ExperimentReport run_beam(const ExperimentOptions& options) {
  ExperimentReport report;
  measure_frequencies(options, report);
  measure_large_bending(options, report);
  return report;
}

}  // namespace cotouch
