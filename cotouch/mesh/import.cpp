#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/read_file.h>
#include <cotouch/base/units.h>
#include <cotouch/mesh/import.h>
#include <cotouch/mesh/reader_process.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cotouch {
namespace {

// A largest extent of more than this is taken for millimetres: parts of ten metres are not for a hand.
constexpr double k_most_metres = 10;

struct OpenFile {
  int fd;
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
};

std::string lower_case_extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  std::string extension(dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1));
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

std::string in_three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// By its name if it has one.
std::string unit_text(double metres) {
  for (const char* name : {"m", "cm", "mm", "um", "in", "ft"})
    if (std::fabs(metres_per(name) - metres) < 1e-6 * metres) return name;
  char text[32];
  std::snprintf(text, sizeof text, "%g m", metres);
  return text;
}

double largest_of(const Vec3d& size) {
  return std::max({size.x, size.y, size.z});
}

// Of the files that state no unit: those that came together are of one size.
double largest_without_unit(const std::vector<RawMesh>& meshes) {
  double largest = 0;
  for (const RawMesh& raw : meshes) {
    if (raw.metres_per_unit > 0 || raw.mesh.vertices.empty()) continue;
    for (const Vec3d& v : raw.mesh.vertices)
      if (!is_finite(v)) throw Error("has a coordinate that is no finite number. Repair or export it again.");
    largest = std::max(largest, largest_of(raw.mesh.bounds().size()));
  }
  return largest;
}

ImportFacts facts_of(const RawMesh& raw, const ImportOptions& options, double largest) {
  using From = ImportFacts::From;
  ImportFacts facts;
  if (options.unit) {
    facts.unit_from = From::given;
    facts.unit = *options.unit;
    facts.metres_per_unit = metres_per(*options.unit);
  } else if (raw.metres_per_unit > 0) {
    facts.unit_from = From::stated;
    facts.metres_per_unit = raw.metres_per_unit;
    facts.unit = unit_text(raw.metres_per_unit);
  } else {
    const bool small = largest <= k_most_metres;
    const std::string across = in_three_digits(largest);
    facts.unit = small ? "m" : "mm";
    facts.metres_per_unit = metres_per(facts.unit);
    facts.guess = across + " across; read as " + facts.unit + " because a part of " + across + (small ? " mm" : " m") +
                  " is unlikely";
  }
  if (options.up_axis) {
    facts.up_from = From::given;
    facts.up_axis = options.up_axis->front();
  } else if (raw.up_axis != 0) {
    facts.up_from = From::stated;
    facts.up_axis = raw.up_axis;
  }
  return facts;
}

void add_notes(const ImportFacts& facts, std::vector<std::string>& notes) {
  using From = ImportFacts::From;
  switch (facts.unit_from) {
    case From::given: notes.push_back("unit: " + facts.unit + ", as given"); break;
    case From::stated: notes.push_back("unit: " + facts.unit + ", as stated by the file or its format"); break;
    case From::guessed: notes.push_back("unit: the file states none; " + facts.guess + " (change with --unit)"); break;
  }
  const std::string turned = facts.up_axis == 'z' ? "" : "; turned to z";
  const std::string axis(1, facts.up_axis);
  switch (facts.up_from) {
    case From::given: notes.push_back("up axis: " + axis + ", as given" + turned); break;
    case From::stated: notes.push_back("up axis: " + axis + ", as stated by the file or its format" + turned); break;
    case From::guessed: notes.emplace_back("up axis: the file states none, z assumed (change with --up)"); break;
  }
}

void to_metres(RawMesh& raw, const ImportFacts& facts, const MeshLimits& limits) {
  for (Vec3d& v : raw.mesh.vertices) {
    v *= facts.metres_per_unit;
    if (!is_finite(v)) throw Error("has a coordinate that is no finite number. Repair or export it again.");
    if (std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}) > limits.coordinate)
      throw Error("reaches more than 1000 km from its origin. Check its unit (--unit mm) or move it to the origin.");
  }
  turn_z_up(raw.mesh, facts.up_axis);
}

// The last step: in metres already.
ImportedMesh clean(TriangleMesh mesh, const ImportFacts& facts, std::vector<std::string> found) {
  ImportedMesh result{std::move(mesh), {}, facts, {}};
  throw_if_cancelled();
  result.report = clean_mesh(result.mesh);
  if (result.mesh.triangles.empty())
    throw Error("holds no triangle with area. Check that it is a surface mesh and not a point cloud or drawing.");
  add_notes(facts, result.report.notes);
  const double largest = largest_of(result.report.bounds.size());
  if (largest > 100 || largest < 1e-3)
    found.push_back("The part is " + in_three_digits(largest) +
                    " m long, which is hardly meant for a hand: check its unit" +
                    (largest > 100 ? " (--unit mm)" : ""));
  result.report.doubts = std::move(found);
  return result;
}

std::string stem_of(std::string_view name) {
  return std::filesystem::path(name).stem().string();
}

ImportedMesh all_in_one(std::vector<RawMesh> meshes, std::string_view name, const ImportOptions& options) {
  const double largest = options.unit ? 0 : largest_without_unit(meshes);
  const ImportFacts facts = facts_of(meshes.front(), options, largest);
  TriangleMesh all;
  std::vector<std::string> notes;
  for (RawMesh& raw : meshes) {
    throw_if_cancelled();
    to_metres(raw, facts_of(raw, options, largest), options.limits);
    for (std::string& note : raw.notes)
      notes.push_back(meshes.size() > 1 ? raw.mesh.name + ": " + note : std::move(note));
    if (all.triangles.empty())
      all = std::move(raw.mesh);
    else
      append(all, raw.mesh);
  }
  all.name = stem_of(name);
  ImportedMesh result = clean(std::move(all), facts, std::move(notes));
  result.further_files = std::move(meshes.front().further_files);
  return result;
}

TriangleMesh cut_out(const TriangleMesh& mesh, const MeshPiece& piece, std::uint64_t vertex, std::uint64_t triangle) {
  TriangleMesh out;
  const auto at = [](std::uint64_t index) { return static_cast<std::ptrdiff_t>(index); };
  out.vertices.assign(mesh.vertices.begin() + at(vertex), mesh.vertices.begin() + at(vertex + piece.vertices));
  out.triangles.assign(mesh.triangles.begin() + at(triangle), mesh.triangles.begin() + at(triangle + piece.triangles));
  for (Triangle& t : out.triangles)
    for (std::uint32_t& index : t) index -= static_cast<std::uint32_t>(vertex);
  return out;
}

std::vector<ImportedMesh> each_by_itself(std::vector<RawMesh> meshes, std::string_view name,
                                         const ImportOptions& options) {
  const double largest = options.unit ? 0 : largest_without_unit(meshes);
  std::vector<ImportedMesh> parts;
  for (RawMesh& raw : meshes) {
    const std::string file = raw.mesh.name.empty() ? stem_of(name) : raw.mesh.name;
    const ImportFacts facts = facts_of(raw, options, largest);
    to_metres(raw, facts, options.limits);
    if (raw.pieces.size() < 2) raw.pieces = {{file, raw.mesh.vertices.size(), raw.mesh.triangles.size()}};
    std::uint64_t vertex = 0, triangle = 0;
    for (const MeshPiece& piece : raw.pieces) {
      TriangleMesh mesh = cut_out(raw.mesh, piece, vertex, triangle);
      mesh.name = piece.name.empty() ? file : piece.name;
      vertex += piece.vertices;
      triangle += piece.triangles;
      try {
        parts.push_back(clean(std::move(mesh), facts, raw.notes));
      } catch (const Cancelled&) {
        throw;
      } catch (const Error&) {
        if (raw.pieces.size() == 1) throw;  // otherwise the others are worth having
      }
    }
  }
  if (parts.empty())
    throw Error("holds no triangle with area. Check that it is a surface mesh and not a point cloud or drawing.");
  return parts;
}

// Wrong options are not the file's fault, and known before it is read.
void check_options(const ImportOptions& options) {
  if (options.unit) metres_per(*options.unit);
  if (options.up_axis && *options.up_axis != "x" && *options.up_axis != "y" && *options.up_axis != "z")
    throw Error("Unknown up axis '" + *options.up_axis + "'. Use one of x, y, z.", ErrorCode::invalid_argument);
}

std::vector<RawMesh> read_raw(int file, std::string_view name, const std::filesystem::path& beside,
                              const ImportOptions& options, Progress& progress) {
  struct stat about {};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) throw Error("cannot be read.", ErrorCode::io);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size == 0) throw Error("is empty. Export or download it again.");
  if (size > options.limits.file_bytes)
    throw Error(
        "is larger than the " + std::to_string(options.limits.file_bytes) + " bytes allowed. Simplify it first.",
        ErrorCode::too_large);
  ReadingTask task;
  task.extension = lower_case_extension(name);
  task.limits = options.limits;
  task.limits.seconds += size >> 20;
  task.most_memory_bytes = free_memory() / 2;
  task.memory_bytes = std::min(k_memory_for_any_file + memory_to_read(file, size), task.most_memory_bytes);
  task.unit_is_known = options.unit.has_value();
  task.may_need_files = !beside.empty();
  return read_in_own_process(file, task, beside, progress);
}

// Calls `work`; what it throws begins with the file's name.
template <class Work>
auto naming_the_file(std::string_view name, const Work& work) {
  try {
    return work();
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

ImportedMesh load_open(int file, std::string_view name, const std::filesystem::path& beside,
                       const ImportOptions& options, Progress& progress) {
  return naming_the_file(name,
                         [&] { return all_in_one(read_raw(file, name, beside, options, progress), name, options); });
}

}  // namespace

ImportedMesh load_mesh(const std::filesystem::path& path, const ImportOptions& options, Progress& progress) {
  check_options(options);
  const ReadableFile file(path);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  return load_open(file.descriptor(), path.filename().string(), folder, options, progress);
}

ImportedMesh load_mesh(const std::filesystem::path& path, const ImportOptions& options) {
  NoProgress quiet;
  return load_mesh(path, options, quiet);
}

ImportedMesh load_mesh_from_descriptor(int file, std::string_view name, const ImportOptions& options,
                                       Progress& progress) {
  check_options(options);
  return load_open(file, name, {}, options, progress);
}

std::vector<ImportedMesh> load_parts_from_descriptor(int file, std::string_view name, const ImportOptions& options,
                                                     Progress& progress) {
  check_options(options);
  return naming_the_file(name,
                         [&] { return each_by_itself(read_raw(file, name, {}, options, progress), name, options); });
}

ImportedMesh load_mesh_from_memory(FileBytes bytes, std::string_view name, const ImportOptions& options) {
  check_options(options);
  const OpenFile file{memfd_create("mesh", MFD_CLOEXEC)};
  while (file.fd >= 0 && !bytes.empty()) {
    const ssize_t written = write(file.fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw Error(std::string(name) + " needs more memory than there is.", ErrorCode::too_large);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  NoProgress quiet;
  return load_open(file.fd, name, {}, options, quiet);
}

ImportedMesh finish_import(std::vector<RawMesh> meshes, std::string_view name, const ImportOptions& options) {
  return naming_the_file(name, [&] { return all_in_one(std::move(meshes), name, options); });
}

}  // namespace cotouch
