#include <cotouch/app/command.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/realtime.h>
#include <cotouch/contact/asset.h>
#include <cotouch/contact/cache.h>
#include <cotouch/mesh/import.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cotouch {
namespace {

std::string field_findings(const FieldReport& report) {
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(report.flipped, "triangles turned round");
  add(report.enclosed, "inside the solid, dropped");
  add(report.sheets,
      "of open sheets or walls thinner than a cell, thickened (a finer --resolution keeps walls as they are)");
  add(report.caps, "added where wide holes were closed");
  return text;
}

// Preparing may take minutes, so what cannot be written is found out before.
void check_output(const PrepareCommand& command) {
  check_not_input(command.output, command.mesh);
  check_writable(command.output);
  std::error_code ignored;
  if (std::filesystem::exists(command.output, ignored) && !std::filesystem::is_regular_file(command.output, ignored))
    throw Error("Cannot write " + command.output.string() + ": a part needs a file of its own. Give its name with -o.");
}

}  // namespace

void run_prepare(const PrepareCommand& command) {
  check_output(command);
  const std::int64_t start = monotonic_ns();
  ProgressBar bar(command.json);
  bar.update("Reading the mesh", 0);
  ImportOptions options;
  if (!command.unit.empty()) options.unit = command.unit;
  if (!command.up_axis.empty()) options.up_axis = command.up_axis;
  const ImportedMesh imported = load_mesh(command.mesh, options);
  for (const std::filesystem::path& file : imported.further_files) check_not_input(command.output, file);
  bar.clear();
  if (!command.json) {
    say(command.mesh.filename().string());
    for (const std::string& line : imported.report.lines()) say("  " + line);
  }
  const Part part = command.use_cache ? prepare_cached(imported.mesh, command.settings, bar)
                                      : prepare_part(imported.mesh, command.settings, bar);
  bar.update("Writing", 0);
  write_asset(part, command.output);
  bar.clear();

  const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  const auto bytes = std::filesystem::file_size(command.output);
  if (command.json) {
    nlohmann::ordered_json json;
    json["mesh"] = command.mesh.string();
    json["part"] = command.output.string();
    json["bytes"] = bytes;
    json["seconds"] = seconds;
    json["triangles_read"] = imported.report.triangles_read;
    json["triangles"] = imported.report.triangles;
    json["components"] = imported.report.components;
    json["closed"] = imported.report.closed();
    json["notes"] = imported.report.lines();
    json["points"] = part.shell.point_count();
    json["levels"] = part.shell.levels();
    json["spacing_m"] = part.field.spacing();
    json["field_bytes"] = part.field.memory_bytes();
    fmt::print("{}\n", json.dump(2));
    return;
  }
  const std::string findings = field_findings(part.field_report);
  fmt::print("  Field: cells of {:.3g} mm in {:.1f} MB{}\n", static_cast<double>(part.field.spacing()) * 1e3,
             static_cast<double>(part.field.memory_bytes()) * 1e-6, findings.empty() ? "" : "; " + findings);
  fmt::print("  Shell: {} points in {} levels, spacing varies by {:.0f} % on the finest\n", part.shell.point_count(),
             part.shell.levels(),
             part.shell_quality.levels.empty() ? 0 : part.shell_quality.levels.back().variation * 100);
  fmt::print("{} written: {:.1f} MB in {:.1f} s\n", command.output.string(), static_cast<double>(bytes) * 1e-6,
             seconds);
}

}  // namespace cotouch
