#include <cotouch/app/command.h>
#include <cotouch/app/elastic_report.h>
#include <cotouch/app/say.h>
#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/contact/engine.h>
#include <cotouch/experiment/part_picture.h>
#include <cotouch/mesh/report.h>
#include <cotouch/part/asset.h>

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace cotouch {
namespace {

std::size_t fine_bricks(const FieldData& data) {
  return data.samples.size() / FieldData::k_brick_samples;
}

nlohmann::ordered_json mesh_json(TriangleMesh mesh) {
  const MeshReport report = clean_mesh(mesh);
  const auto numbers = [](const Vec3d& v) { return nlohmann::ordered_json{v.x, v.y, v.z}; };
  nlohmann::ordered_json json;
  json["vertices"] = report.vertices_read;
  json["triangles"] = report.triangles_read;
  json["size_m"] = numbers(report.bounds.size());
  json["bounds_m"] = {numbers(report.bounds.low), numbers(report.bounds.high)};
  json["area_m2"] = report.area;
  json["openings"] = report.openings;
  json["volume_m3"] = report.volume ? nlohmann::ordered_json(*report.volume) : nlohmann::ordered_json();
  return json;
}

void print_json(const InspectCommand& command, const Part& part) {
  const FieldData& field = part.field.data();
  nlohmann::ordered_json json;
  json["part"] = command.part.string();
  json["name"] = part.name;
  json["format"] = asset_version(command.part);
  json["bytes"] = std::filesystem::file_size(command.part);
  json["settings"] = {{"resolution", part.settings.field.resolution},
                      {"sheet_thickness_cells", part.settings.field.sheet_thickness},
                      {"points", part.settings.shell.points},
                      {"offset_cells", part.settings.shell.offset},
                      {"seed", part.settings.shell.seed}};
  json["mesh"] = mesh_json(part.mesh);
  json["field"] = {{"spacing_m", field.spacing},
                   {"bricks", {field.bricks.x, field.bricks.y, field.bricks.z}},
                   {"fine_bricks", fine_bricks(field)},
                   {"bytes", part.field.memory_bytes()},
                   {"triangles_flipped", part.field_report.flipped},
                   {"triangles_enclosed", part.field_report.enclosed},
                   {"triangles_thickened", part.field_report.sheets},
                   {"triangles_added", part.field_report.caps}};
  json["shell"] = {{"points", part.shell.point_count()}, {"levels", nlohmann::ordered_json::array()}};
  for (const ShellQuality::Level& level : part.shell_quality.levels)
    json["shell"]["levels"].push_back(
        {{"points", level.points}, {"mean_spacing_m", level.mean_spacing}, {"variation", level.variation}});
  if (part.elastic) json["elastic"] = elastic_json(part);
  json["sections"] = nlohmann::ordered_json::array();
  for (const PartSection& section : part.sections)
    json["sections"].push_back(
        {{"name", section.name()}, {"bytes", section.size()}, {"pieces", section.piece_count()}});
  json["engines"] = nlohmann::ordered_json::array();
  for (const EngineKind* kind : engine_kinds())
    json["engines"].push_back({{"name", kind->name()},
                               {"summary", kind->summary()},
                               {"missing_as_shell", kind->missing_as_shell(part)},
                               {"missing_as_field", kind->missing_as_field(part)}});
  fmt::print("{}\n", json.dump(2));
}

void print_text(const InspectCommand& command, const Part& part) {
  const FieldData& field = part.field.data();
  const Vec3d size = part.mesh.bounds().size() * 1e3;
  say(fmt::format("{}: '{}', asset format {}, {:.1f} MB", command.part.string(), part.name, asset_version(command.part),
                  static_cast<double>(std::filesystem::file_size(command.part)) * 1e-6));
  fmt::print("  mesh    {} triangles, {:.4g} x {:.4g} x {:.4g} mm\n", part.mesh.triangles.size(), size.x, size.y,
             size.z);
  const std::size_t bricks = field.brick_index.size();
  fmt::print("  field   cells of {:.4g} mm, {} of {} bricks fine ({:.0f} %), {:.1f} MB\n",
             static_cast<double>(field.spacing) * 1e3, fine_bricks(field), bricks,
             100.0 * static_cast<double>(fine_bricks(field)) / static_cast<double>(bricks),
             static_cast<double>(part.field.memory_bytes()) * 1e-6);
  fmt::print("          {} triangles turned round, {} enclosed, {} thickened, {} added over holes\n",
             part.field_report.flipped, part.field_report.enclosed, part.field_report.sheets, part.field_report.caps);
  fmt::print("  shell   {} points, {} cells outside the surface, seed {}\n", part.shell.point_count(),
             part.settings.shell.offset, part.settings.shell.seed);
  fmt::print("          level    points    spacing   varies by\n");
  for (std::size_t l = 0; l < part.shell_quality.levels.size(); ++l) {
    const ShellQuality::Level& level = part.shell_quality.levels[l];
    fmt::print("          {:>5}  {:>8}  {:>6.4g} mm  {:>8.1f} %\n", l, level.points, level.mean_spacing * 1e3,
               level.variation * 100);
  }
  for (const PartSection& section : part.sections)
    fmt::print("  section '{}', {:.1f} MB{}\n", section.name(), static_cast<double>(section.size()) * 1e-6,
               section.is_in_pieces() ? ", read in pieces" : "");
  for (const EngineKind* kind : engine_kinds()) {
    fmt::print("  engine  '{}': {}\n", kind->name(), kind->summary());
    for (const std::string& missing : {kind->missing_as_shell(part), kind->missing_as_field(part)})
      if (!missing.empty()) fmt::print("          not for this part: it {}\n", missing);
  }
  const char* heading = "elastic";
  for (const std::string& line : elastic_lines(part)) fmt::print("  {:<7} {}\n", std::exchange(heading, ""), line);
}

}  // namespace

void run_inspect(const InspectCommand& command) {
  check_not_input(command.png, command.part);
  const Part part = read_asset(command.part);
  if (command.json)
    print_json(command, part);
  else
    print_text(command, part);
  if (command.png.empty()) return;
  if (part.shell.point_count() == 0 || part.field.data().brick_index.empty())
    throw Error("There is no picture of a part that was prepared without a pointshell or a distance field.");
  constexpr int k_side = 420;
  const std::array<Image, 3> images{draw_mesh(part, k_side, k_side), draw_field_slice(part.field, k_side, k_side),
                                    draw_shell(part, k_side, k_side)};
  write_png(beside(images, 8, {255, 255, 255}), command.png);
  if (!command.json)
    fmt::print("{}: the mesh; a slice of the field (blue inside, red outside, black the surface); the shell by level\n",
               command.png.string());
}

}  // namespace cotouch
