#include <cotouch/base/error.h>
#include <cotouch/base/units.h>
#include <cotouch/mesh/import.h>
#include <cotouch/mesh/read_scene.h>
#include <cotouch/mesh/scan.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <new>
#include <utility>

namespace cotouch {
namespace {

std::string lower_case_extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  std::string extension(dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1));
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

SceneMesh read_any(FileBytes bytes, const std::string& extension, const std::filesystem::path* path,
                   const ImportOptions& options, std::vector<std::string>& notes) {
  // The beginning of a part's file (see contact/asset.h), whatever it is named.
  if (as_text(bytes).starts_with("\x89"
                                 "COT\r\n"))
    throw Error("is a part that is prepared already. Look at it with 'cotouch inspect' or use it in a scene.",
                ErrorCode::unsupported);
  SceneMesh raw;
  if (extension == "stl")
    raw.mesh = read_stl(bytes, options.limits, notes);
  else if (extension == "obj")
    raw.mesh = read_obj(bytes, options.limits, notes);
  else if (extension == "ply")
    raw.mesh = read_ply(bytes, options.limits, notes);
  else if (extension == "off")
    raw.mesh = read_off(bytes, options.limits, notes);
  else if (is_scene_format(extension))
    raw = read_scene(bytes, extension, path, options.limits, options.unit.has_value());
  else
    throw Error(
        "is of an unknown kind. Use STL, OBJ, PLY, glTF, GLB, 3MF or another mesh format with its usual ending.",
        ErrorCode::unsupported);
  return raw;
}

// By its name where it has one.
std::string unit_text(double metres) {
  for (const char* name : {"m", "cm", "mm", "um", "in", "ft"})
    if (std::fabs(metres_per(name) - metres) < 1e-6 * metres) return name;
  char text[32];
  std::snprintf(text, sizeof text, "%g m", metres);
  return text;
}

double choose_unit(const ImportOptions& options, const SceneMesh& raw, std::vector<std::string>& notes) {
  if (options.unit) {
    notes.push_back("unit: " + *options.unit + ", as given");
    return metres_per(*options.unit);
  }
  if (raw.metres_per_unit > 0) {
    notes.push_back("unit: " + unit_text(raw.metres_per_unit) + ", as stated by the file or its format");
    return raw.metres_per_unit;
  }
  notes.emplace_back("unit: the file states none, metres assumed (change with --unit)");
  return 1;
}

char choose_up_axis(const ImportOptions& options, const SceneMesh& raw, std::vector<std::string>& notes) {
  const char stated = raw.up_axis != 0 ? raw.up_axis : 'z';
  const char axis = options.up_axis ? options.up_axis->front() : stated;
  const std::string turned = axis == 'z' ? "" : "; turned to z";
  if (options.up_axis)
    notes.push_back("up axis: " + *options.up_axis + ", as given" + turned);
  else if (raw.up_axis != 0)
    notes.push_back(std::string("up axis: ") + axis + ", as stated by the file or its format" + turned);
  else
    notes.emplace_back("up axis: the file states none, z assumed (change with --up)");
  return axis;
}

// Wrong options are not the file's fault, and known before it is read.
void check_options(const ImportOptions& options) {
  if (options.unit) metres_per(*options.unit);
  if (options.up_axis && *options.up_axis != "x" && *options.up_axis != "y" && *options.up_axis != "z")
    throw Error("Unknown up axis '" + *options.up_axis + "'. Use one of x, y, z.", ErrorCode::invalid_argument);
}

ImportedMesh import_bytes(FileBytes bytes, std::string_view name, const std::filesystem::path* path,
                          const ImportOptions& options) {
  try {
    if (bytes.empty()) throw Error("is empty. Export or download it again.");
    if (bytes.size() > options.limits.file_bytes)
      throw Error(
          "is larger than the " + std::to_string(options.limits.file_bytes) + " bytes allowed. Simplify it first.",
          ErrorCode::too_large);
    const std::string extension = lower_case_extension(name);
    std::vector<std::string> notes;
    SceneMesh raw = read_any(bytes, extension, path, options, notes);
    const double metres = choose_unit(options, raw, notes);
    for (Vec3d& v : raw.mesh.vertices) {
      v *= metres;
      if (!is_finite(v)) throw Error("has a coordinate that is no finite number. Repair or export it again.");
      if (std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}) > options.limits.coordinate)
        throw Error("reaches more than 1000 km from its origin. Check its unit (--unit mm) or move it to the origin.");
    }
    turn_z_up(raw.mesh, choose_up_axis(options, raw, notes));

    ImportedMesh result{std::move(raw.mesh), {}, std::move(raw.further_files)};
    result.mesh.name = std::filesystem::path(name).stem().string();
    result.report = clean_mesh(result.mesh);
    if (result.mesh.triangles.empty())
      throw Error("holds no triangle with area. Check that it is a surface mesh and not a point cloud or drawing.");
    const Vec3d size = result.report.bounds.size();
    const double largest = std::max({size.x, size.y, size.z});
    if (largest > 100 || largest < 1e-3) {
      char text[128];
      std::snprintf(text, sizeof text, "The part is %.3g m long, which is hardly meant for a hand: check its unit%s",
                    largest, largest > 100 ? " (--unit mm)" : "");
      notes.emplace_back(text);
    }
    result.report.notes = std::move(notes);
    return result;
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    // A reader that names no code found something wrong with the file.
    const ErrorCode code = error.code() == ErrorCode::other ? ErrorCode::damaged_file : error.code();
    throw Error(std::string(name) + ' ' + error.what(), code);
  } catch (const std::bad_alloc&) {
    throw Error(std::string(name) + " needs more memory than there is. Simplify it first.", ErrorCode::too_large);
  }
}

}  // namespace

ImportedMesh load_mesh(const std::filesystem::path& path, const ImportOptions& options) {
  check_options(options);
  const std::string name = path.filename().string();
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw Error(path.string() + " does not exist. Check the name.", ErrorCode::not_found);
  if (std::filesystem::is_directory(status))
    throw Error(path.string() + " is a folder. Name a mesh file in it.", ErrorCode::invalid_argument);
  if (!std::filesystem::is_regular_file(status))
    throw Error(path.string() + " is not a file.", ErrorCode::invalid_argument);
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw Error(path.string() + " cannot be opened. Check who may read it.", ErrorCode::io);
  if (size > options.limits.file_bytes)
    throw Error(name + " is larger than the " + std::to_string(options.limits.file_bytes) +
                    " bytes allowed. Simplify it first.",
                ErrorCode::too_large);
  std::vector<std::byte> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size)
    throw Error(path.string() + " cannot be read to its end.", ErrorCode::io);
  return import_bytes(bytes, name, &path, options);
}

ImportedMesh load_mesh_from_memory(FileBytes bytes, std::string_view name, const ImportOptions& options) {
  check_options(options);
  return import_bytes(bytes, name, nullptr, options);
}

}  // namespace cotouch
