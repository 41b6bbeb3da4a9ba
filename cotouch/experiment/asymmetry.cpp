// Figure 15: one body is pushed straight into another, and the contact force on it is computed with either of the two
// as the shell. The model is asymmetric; the question is by how much.
#include <cotouch/base/error.h>
#include <cotouch/experiment/inputs.h>
#include <cotouch/experiment/plot.h>
#include <cotouch/part/cache.h>
#include <cotouch/shapes/shapes.h>

#include <fmt/format.h>

#include <cmath>

namespace cotouch {
namespace {

Part figure_part(const ExperimentOptions& options, std::string& note) {
  PartSettings settings;
  settings.field.resolution = 256;
  settings.shell.points = 262144;
  settings.shell.seed = options.seed;
  const TriangleMesh dragon = scanned_model("dragon_res2.ply");
  if (!dragon.triangles.empty()) {
    note = "two copies of the scanned dragon, as in the paper";
    return prepare_cached(dragon, settings, *options.progress);
  }
  note = "two procedural creatures stand in for the paper's dragons (./dev models fetches the scan)";
  return prepare_cached(make_creature({}), settings, *options.progress);
}

}  // namespace

ExperimentReport run_asymmetry(const ExperimentOptions& options) {
  ExperimentReport report;
  std::string note;
  const Part part = figure_part(options, note);
  options.progress->update("Pushing one into the other", 0);

  // One above the other along z, the moving one turned half round about its own middle so that different surfaces meet.
  const Pose still{{0, 0, 0}, {}};
  const Quat turned = quat_from_rotation_vector({0, 0, 3.0});
  const std::shared_ptr<const ContactEngine> engine = default_engine_kind().make(part, part, {});
  const std::unique_ptr<ContactWorkspace> workspace = engine->make_workspace();
  const Box3d bounds = part.mesh.bounds();
  const double cell = static_cast<double>(part.field.spacing());

  // Lowered from above until the first contact, then four cells further in steps of a hundredth of a cell.
  PairContact as_shell, as_field;     // as the moving body brings its shell or its field
  Wrench shell_wrench, field_wrench;  // on the moving body
  Pose moving{bounds.center() - rotate(turned, bounds.center()), turned};
  const double lowest = moving.position.z - bounds.size().z;
  moving.position.z += bounds.size().z * 1.05;
  const auto evaluate = [&] {
    engine->evaluate({{moving}, {still}}, Detail::everything(), *workspace, nullptr, as_shell);
    shell_wrench = as_shell.on_shell.wrench;
    engine->evaluate({{still}, {moving}}, Detail::everything(), *workspace, nullptr, as_field);
    field_wrench = seen_from_field(as_field.on_shell, still.position - moving.position).wrench;
  };
  for (evaluate(); as_shell.stats.in_contact == 0 && moving.position.z > lowest; evaluate())
    moving.position.z -= cell * 0.05;
  if (as_shell.stats.in_contact == 0) throw Error("The two bodies pass each other without touching.");
  const double first_touch = moving.position.z;

  std::vector<double> depth_cells;
  std::vector<double> shell_force[3], field_force[3];
  double difference = 0, size = 0;
  for (int step = 0; step <= 400; ++step) {
    moving.position.z = first_touch - step * 0.01 * cell;
    evaluate();
    depth_cells.push_back(step * 0.01);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      shell_force[axis].push_back(shell_wrench.force[axis]);
      field_force[axis].push_back(field_wrench.force[axis]);
    }
    if (depth_cells.back() <= 1) {
      difference += norm_squared(shell_wrench.force - field_wrench.force);
      size += norm_squared(shell_wrench.force + field_wrench.force) / 4;
    }
  }
  report.add("asymmetry/difference-to-one-cell", size > 0 ? std::sqrt(difference / size) : 0, "rms share of the force");
  report.add("asymmetry/normal-force-as-shell", shell_force[2][100], "N at one cell of approach");
  report.add("asymmetry/normal-force-as-field", field_force[2][100], "N at one cell of approach");
  report.add("asymmetry/contacts-as-shell", as_shell.stats.in_contact, "points at four cells");
  report.add("asymmetry/contacts-as-field", as_field.stats.in_contact, "points at four cells");
  report.notes.push_back(note + "; moved along -z, force without coupling. The paper gives the curves, no figure.");

  Plot plot;
  plot.title = "Force on the moving body, as shell and as field";
  plot.x_label = "approach after first touch (cells of the field)";
  const char* const k_axes[] = {"x", "y", "z"};
  for (const std::size_t axis : {2U, 0U, 1U}) {
    PlotPanel panel;
    panel.y_label = fmt::format("{} force (N)", k_axes[axis]);
    panel.series.push_back({"moving body is the shell", depth_cells, shell_force[axis], PlotSeries::Style::line});
    panel.series.push_back({"moving body is the field", depth_cells, field_force[axis], PlotSeries::Style::line});
    plot.panels.push_back(panel);
  }
  report.figures.push_back(options.folder / "asymmetry.svg");
  write_svg(plot, report.figures.back());
  return report;
}

}  // namespace cotouch
