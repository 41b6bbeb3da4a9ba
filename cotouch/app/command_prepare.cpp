#include <cotouch/app/command.h>
#include <cotouch/app/elastic_report.h>
#include <cotouch/app/progress_bar.h>
#include <cotouch/app/say.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/realtime.h>
#include <cotouch/base/units.h>
#include <cotouch/elastic/read_tets.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/experiment/part_picture.h>
#include <cotouch/field/mass.h>
#include <cotouch/mesh/import.h>
#include <cotouch/part/asset.h>
#include <cotouch/part/cache.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

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

// Cubic metres. Nothing if the part is thinner than its cells everywhere, so that its field has no inside.
std::optional<double> volume_of(const Part& part) {
  try {
    return mass_properties(part.field, 1).mass;
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What the part holds, which its mesh cannot tell if it is open.
std::string volume_line(const Part& part, const MeshReport& mesh) {
  const std::optional<double> volume = volume_of(part);
  if (!volume) return "none: the part is thinner than a cell of its field everywhere; choose a finer --resolution";
  const std::string line = fmt::format("{:.4g} cm^3", *volume * 1e6);
  if (mesh.open_edges == 0) return line;
  const std::string openings = mesh.openings == 1 ? "1 opening" : fmt::format("{} openings", mesh.openings);
  return fmt::format("{} as it was {}: the mesh is open, with {}, and holds no volume by itself", line,
                     part.field_report.caps > 0     ? "filled"
                     : part.field_report.sheets > 0 ? "thickened"
                                                    : "closed",
                     openings);
}

// What a file has: a surface, and the tetrahedra behind it if it says more than that.
struct Input {
  ImportedMesh surface;
  std::optional<TetMesh> tets;
  std::vector<std::string> notes;
};

bool has_tets(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return ending == ".msh" || ending == ".node" || ending == ".ele";
}

Input read_input(const PrepareCommand& command, Progress& progress) {
  Input input;
  if (!has_tets(command.mesh)) {
    ImportOptions options;
    options.limits = limits_for_parts();
    if (!command.unit.empty()) options.unit = command.unit;
    if (!command.up_axis.empty()) options.up_axis = command.up_axis;
    input.surface = load_mesh(command.mesh, options, progress);
    input.notes = input.surface.report.lines();
    return input;
  }
  if (!command.up_axis.empty() && command.up_axis != "z")
    throw Error("Tetrahedra are taken as they stand; turn " + command.mesh.string() +
                    " in the program that made it, or leave --up out.",
                ErrorCode::invalid_argument);
  TetFileOptions options;
  if (!command.unit.empty()) options.metres_per_unit = metres_per(command.unit);
  input.tets = read_tets(command.mesh, options, input.notes);
  input.surface.mesh = surface_of(*input.tets).mesh;
  input.surface.mesh.name = command.mesh.stem().string();
  TriangleMesh looked_at = input.surface.mesh;
  input.surface.report = clean_mesh(looked_at);
  for (const std::string& line : input.surface.report.lines()) input.notes.push_back(line);
  return input;
}

// Preparing may take minutes, so what cannot be written is found out before.
void check_output(const PrepareCommand& command) {
  if (!command.preview.empty()) {
    check_not_input(command.preview, command.mesh);
    check_not_input(command.preview, command.output);
    check_writable(command.preview);
  }
  check_not_input(command.output, command.mesh);
  check_writable(command.output);
  std::error_code ignored;
  if (std::filesystem::exists(command.output, ignored) && !std::filesystem::is_regular_file(command.output, ignored))
    throw Error("Cannot write " + command.output.string() + ": a part needs a file of its own. Give its name with -o.");
}

}  // namespace

void run_prepare(const PrepareCommand& command) {
  check_output(command);
  PartSettings settings = command.settings;
  settings.elastic = elastic_settings(command.elastic);
  const std::int64_t start = monotonic_ns();
  ProgressBar bar(command.json);
  bar.update("Reading the mesh", 0);
  const Input input = read_input(command, bar);
  const ImportedMesh& imported = input.surface;
  const TetMesh* const tets = settings.elastic && input.tets ? &*input.tets : nullptr;
  if (tets != nullptr) settings.elastic->tets = {0, static_cast<std::uint32_t>(tets->tets.size())};
  for (const std::filesystem::path& file : imported.further_files) check_not_input(command.output, file);
  bar.clear();
  if (!command.json) {
    say(command.mesh.filename().string());
    for (const std::string& line : input.notes) say("  " + line);
  }
  const Part part = command.use_cache ? prepare_cached(imported.mesh, settings, bar, tets)
                                      : prepare_part(imported.mesh, settings, bar, tets);
  bar.update("Writing", 0);
  write_asset(part, command.output);
  if (!command.preview.empty())
    write_png(part.elastic ? draw_modes(part, 420, 420) : draw_mesh(part, 420, 420), command.preview);
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
    json["openings"] = imported.report.openings;
    json["notes"] = input.notes;
    json["points"] = part.shell.point_count();
    json["levels"] = part.shell.levels();
    json["spacing_m"] = part.field.spacing();
    json["field_bytes"] = part.field.memory_bytes();
    const std::optional<double> volume = volume_of(part);
    json["volume_m3"] = volume ? nlohmann::ordered_json(*volume) : nlohmann::ordered_json();
    if (part.elastic) json["elastic"] = elastic_json(part);
    fmt::print("{}\n", json.dump(2));
    return;
  }
  const std::string findings = field_findings(part.field_report);
  fmt::print("  Field: cells of {:.3g} mm in {:.1f} MB{}\n", static_cast<double>(part.field.spacing()) * 1e3,
             static_cast<double>(part.field.memory_bytes()) * 1e-6, findings.empty() ? "" : "; " + findings);
  fmt::print("  Shell: {} points in {} levels, spacing varies by {:.0f} % on the finest\n", part.shell.point_count(),
             part.shell.levels(),
             part.shell_quality.levels.empty() ? 0 : part.shell_quality.levels.back().variation * 100);
  fmt::print("  Volume: {}\n", volume_line(part, imported.report));
  const char* heading = "Elastic:";
  for (const std::string& line : elastic_lines(part)) fmt::print("  {:<8} {}\n", std::exchange(heading, ""), line);
  if (!command.preview.empty())
    fmt::print("{}: {}\n", command.preview.string(),
               part.elastic ? "the part at rest and in its slowest modes" : "the part");
  fmt::print("{} written: {:.1f} MB in {:.1f} s\n", command.output.string(), static_cast<double>(bytes) * 1e-6,
             seconds);
}

}  // namespace cotouch
