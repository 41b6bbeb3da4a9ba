// A beam, of which theory knows what linear tetrahedra, modes, warping and St. Venant-Kirchhoff's law should do.
#include <cotouch/contact/part.h>
#include <cotouch/elastic/modal_body.h>
#include <cotouch/elastic/modal_derivatives.h>
#include <cotouch/elastic/stvk_step.h>
#include <cotouch/experiment/beam.h>
#include <cotouch/experiment/elastica.h>
#include <cotouch/shapes/shapes.h>
#include <cotouch/shapes/solids.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cotouch {
namespace {

constexpr int k_frequencies = 5;
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

struct BentTip {
  double along, aside;  // in lengths of the beam
};
BentTip tip_of(const SquareBeam& beam, const Vec3d& moved) {
  return {1 + moved.x / beam.length, moved.z / beam.length};
}
double error_percent(const BentTip& tip, const ElasticaTip& expected) {
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

BentTip bend(const SquareBeam& beam, const MeshedBeam& meshed, const ElasticModel& model, const Vec3d& force) {
  const EmbeddedPoint tip{{meshed.tip, meshed.tip, meshed.tip, meshed.tip}, {1, 0, 0, 0}};
  ModalBody body(model, {k_settle_step, 0});
  std::vector<double> load(model.size());
  for (int i = 0; i < k_settle_steps; ++i) {
    std::fill(load.begin(), load.end(), 0.0);
    body.shape().add_gradient(tip, force, {}, load.data());
    body.step(load, {}, {});
  }
  return tip_of(beam, body.shape().displacement_at(tip));
}

BentTip bend(const SquareBeam& beam, const MeshedBeam& meshed, const StvkPolynomials& body, const Shapes& shapes,
             const Vec3d& force) {
  std::vector<double> load(shapes.count), q(shapes.count), v(shapes.count);
  for (std::size_t j = 0; j < load.size(); ++j)
    for (std::size_t k = 0; k < 3; ++k) load[j] += force[k] * shapes[j][3 * std::size_t{meshed.tip} + k];
  StvkStep settings;
  settings.time_step = k_settle_step;
  settings.mass_damping = material_of(beam).mass_damping;
  StvkScratch scratch;
  for (int i = 0; i < k_settle_steps; ++i) step_stvk(body, settings, load, q, v, scratch);
  Vec3d moved;
  for (std::size_t j = 0; j < q.size(); ++j)
    for (std::size_t k = 0; k < 3; ++k) moved[k] += q[j] * shapes[j][3 * std::size_t{meshed.tip} + k];
  return tip_of(beam, moved);
}

}  // namespace

MeshedBeam mesh_beam(const SquareBeam& beam, std::uint32_t cells) {
  MeshedBeam out;
  const auto along = static_cast<std::uint32_t>(std::lround(beam.length / beam.side)) * cells;
  out.mesh = tet_box({beam.length, beam.side, beam.side}, {along, cells, cells});
  for (std::uint32_t i = 0; i < out.mesh.nodes.size(); ++i)
    if (out.mesh.nodes[i].x < 1e-9) out.clamped.push_back(i);
  out.tip = node_at(out.mesh, {beam.length, beam.side / 2, beam.side / 2});
  return out;
}

std::vector<double> bending_omegas(const SquareBeam& beam, const MeshedBeam& meshed, const Modes& modes) {
  std::vector<double> bending;
  for (std::uint32_t i = 0; i < modes.shapes.count; ++i) {
    // Mass-orthonormal bending has the mean square 1 / mass across the beam; twisting and stretching have none on its
    // middle line.
    double sum = 0;
    int count = 0;
    for (std::uint32_t node = 0; node < meshed.mesh.nodes.size(); ++node) {
      const Vec3d at = meshed.mesh.nodes[node];
      if (std::fabs(at.y - beam.side / 2) > 1e-9 || std::fabs(at.z - beam.side / 2) > 1e-9) continue;
      const double* const moved = modes.shapes[i] + 3 * std::size_t{node};
      sum += moved[1] * moved[1] + moved[2] * moved[2];
      ++count;
    }
    if (sum / count * beam.mass() > 0.3) bending.push_back(std::sqrt(modes.omega_squared[i]));
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

  const ElasticaTip expected = elastica_tip(k_bending_load);
  const double load = k_bending_load * beam.young * beam.inertia() / (beam.length * beam.length);
  const BentTip stvk_tip = bend(beam, meshed, reduced, shapes, {0, 0, load});
  const BentTip warped_tip = bend(beam, meshed, warped, {0, 0, load});
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
  // What is left of it if the mesh were as stiff as theory says.
  const double ratio = bending_omegas(beam, meshed, modes).at(0) / timoshenko_omega(beam, 1);
  const Vec3d stiffer{0, 0, load * ratio * ratio};
  report.add("beam/large-bend-without-mesh-error-percent",
             error_percent(bend(beam, meshed, reduced, shapes, stiffer), expected), "% of the length");
  report.add("beam/warped-large-bend-without-mesh-error-percent",
             error_percent(bend(beam, meshed, warped, stiffer), expected), "% of the length");
  report.notes.push_back(fmt::format(
      "large-bend: a dead weight of P L^2 / (E I) = {} at the end of a bar {} mm long and {} mm square, {} tetrahedra "
      "({} cells across), {} coordinates; how far the end is from that of the elastica. large-bend is of St. "
      "Venant-Kirchhoff's law, warped-large-bend of warped modes. Linear tetrahedra are too stiff in bending, here by "
      "{:.1f} %; without-mesh: with a weight that is larger by as much.",
      k_bending_load, beam.length * 1e3, beam.side * 1e3, meshed.mesh.tets.size(), cells, coordinates,
      100 * (ratio * ratio - 1)));
}

}  // namespace

ExperimentReport run_beam(const ExperimentOptions& options) {
  ExperimentReport report;
  measure_frequencies(options, report);
  measure_large_bending(options, report);
  return report;
}

}  // namespace cotouch
