#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/contact/asset_format.h>
#include <cotouch/mesh/readers.h>

#include <algorithm>
#include <cmath>

namespace cotouch {

using namespace asset;

namespace {

TriangleMesh read_mesh(const Reader& reader, const std::string& name) {
  const auto vertices = reader.array<Vec3d>(Kind::vertices);
  const auto triangles = reader.array<Triangle>(Kind::triangles);
  if (triangles.size() > k_most_part_triangles || vertices.size() > 3 * k_most_part_triangles)
    reader.damaged("its mesh is larger than that of any part");
  for_each_cancellable(vertices.size(), [&](std::size_t i) {
    if (!is_finite(vertices[i])) reader.damaged("a mesh vertex is not a number");
  });
  for_each_cancellable(triangles.size(), [&](std::size_t i) {
    for (const std::uint32_t corner : triangles[i])
      if (corner >= vertices.size()) reader.damaged("a mesh triangle names a vertex that is not there");
  });
  TriangleMesh mesh;
  mesh.name = name;
  mesh.vertices.assign(vertices.begin(), vertices.end());
  mesh.triangles.assign(triangles.begin(), triangles.end());
  return mesh;
}

void read_info(const Reader& reader, Part& part) {
  const Info& info = reader.one<Info>(Kind::info);
  part.settings.field.resolution = info.resolution;
  part.settings.field.sheet_thickness = info.sheet_thickness;
  part.settings.shell.points = info.points;
  part.settings.shell.offset = info.offset;
  part.settings.shell.seed = info.seed;
  if (info.resolution < 1 || !std::isfinite(info.sheet_thickness) || !std::isfinite(info.offset))
    reader.damaged("its settings are not numbers");
  part.field_report = {info.flipped, info.enclosed, info.sheets, info.caps};
  for (const QualityLevel& level : reader.array<QualityLevel>(Kind::quality))
    part.shell_quality.levels.push_back({level.points, level.mean_spacing, level.variation});
}

Field read_field(const Reader& reader, const std::shared_ptr<const void>& keep_alive) {
  FieldData data = data_of(reader.one<FieldHeader>(Kind::field));
  data.brick_index = reader.array<std::uint32_t>(Kind::brick_index);
  data.samples = reader.array<std::int16_t>(Kind::samples);
  data.coarse = reader.array<float>(Kind::coarse);
  return Field(data, keep_alive);
}

Shell read_shell(const Reader& reader, const std::shared_ptr<const void>& keep_alive) {
  ShellData data;
  data.nodes = reader.array<ShellNode>(Kind::nodes);
  data.level_begin = reader.array<std::uint32_t>(Kind::level_begin);
  data.positions = reader.array<Vec3f>(Kind::positions);
  data.inward_normals = reader.array<Vec3f>(Kind::normals);
  return Shell(data, keep_alive);
}

}  // namespace

void asset::throw_damaged(const std::string& name, const std::string& what) {
  throw Error(name + " is damaged: " + what + "; prepare the part again.", ErrorCode::damaged_file);
}

Header asset::read_header(Bytes beginning, std::uint64_t size, const std::string& name) {
  const auto truncated = [&](std::uint64_t whole) {
    throw Error(name + " is truncated: it has " + std::to_string(size) + " of " + std::to_string(whole) +
                    " bytes; copy it again or prepare the part again.",
                ErrorCode::damaged_file);
  };
  if (beginning.empty()) throw Error(name + " is empty, not a cotouch part.", ErrorCode::damaged_file);
  const std::size_t known = std::min(beginning.size(), k_magic.size());
  if (std::memcmp(beginning.data(), k_magic.data(), known) != 0) {
    // The first byte and the letters right, the line ends wrong: sent as text.
    if (beginning.size() >= 4 && std::memcmp(beginning.data(), k_magic.data(), 4) == 0)
      throw_damaged(name, "its line ends were changed, as when a file is sent as text");
    throw Error(name + " is not a cotouch part; make one with 'cotouch prepare'.", ErrorCode::damaged_file);
  }
  Header header;
  if (beginning.size() < sizeof header) truncated(sizeof header);
  std::memcpy(&header, beginning.data(), sizeof header);
  if (header.byte_order == k_other_byte_order)
    throw Error(name + " was made on a machine with another byte order; prepare the part again on this one.",
                ErrorCode::unsupported);
  if (header.byte_order != k_byte_order) throw_damaged(name, "its byte-order mark is none");
  if (header.version > k_asset_version)
    throw Error(name + " was made by a newer cotouch (format " + std::to_string(header.version) +
                    ", this one reads up to " + std::to_string(k_asset_version) + "); update cotouch or prepare again.",
                ErrorCode::unsupported);
  if (header.version == 0) throw_damaged(name, "its version is 0");
  if (header.file_size > size) truncated(header.file_size);
  if (header.file_size < size) throw_damaged(name, "something follows its end");
  return header;
}

FieldHeader asset::header_of(const FieldData& field) {
  return {field.origin, field.spacing, field.bricks, field.quantum, field.band, field.boundary, field.lipschitz, 0};
}

FieldData asset::data_of(const FieldHeader& header) {
  FieldData data;
  data.origin = header.origin;
  data.spacing = header.spacing;
  data.bricks = header.bricks;
  data.quantum = header.quantum;
  data.band = header.band;
  data.boundary = header.boundary;
  data.lipschitz = header.lipschitz;
  return data;
}

namespace {

// The pieces of the file, with the hash in its header, which every byte of it leads to.
template <class Use>
void with_pieces(const Part& part, const Use& use) {
  const FieldData& field = part.field.data();
  const ShellData& shell = part.shell.data();
  Info info;
  info.resolution = part.settings.field.resolution;
  info.sheet_thickness = part.settings.field.sheet_thickness;
  info.points = part.settings.shell.points;
  info.offset = part.settings.shell.offset;
  info.seed = part.settings.shell.seed;
  info.flipped = part.field_report.flipped;
  info.enclosed = part.field_report.enclosed;
  info.sheets = part.field_report.sheets;
  info.caps = part.field_report.caps;
  std::vector<QualityLevel> quality;
  for (const ShellQuality::Level& level : part.shell_quality.levels)
    quality.push_back({level.mean_spacing, level.variation, level.points, 0});
  const FieldHeader field_header = header_of(field);

  // In the order of Kind.
  std::vector<Bytes> sections{std::as_bytes(std::span(part.name)),
                              bytes_of(info),
                              std::as_bytes(std::span(quality)),
                              std::as_bytes(std::span(part.mesh.vertices)),
                              std::as_bytes(std::span(part.mesh.triangles)),
                              bytes_of(field_header),
                              std::as_bytes(field.brick_index),
                              std::as_bytes(field.samples),
                              std::as_bytes(field.coarse),
                              std::as_bytes(shell.nodes),
                              std::as_bytes(shell.level_begin),
                              std::as_bytes(shell.positions),
                              std::as_bytes(shell.inward_normals)};
  std::vector<std::shared_ptr<const void>> memory;
  for (const Bytes bytes : elastic_sections(part, memory)) sections.push_back(bytes);

  static constexpr std::array<std::byte, k_asset_alignment> k_zeros{};
  std::array<TableEntry, k_kinds> table;
  Header header;
  header.sections = k_kinds;
  std::vector<Bytes> pieces{bytes_of(header), std::as_bytes(std::span(table))};
  std::uint64_t end = sizeof(Header) + sizeof(table);
  for (std::size_t i = 0; i < k_kinds; ++i) {
    table[i] = {static_cast<Kind>(i + 1), 0, aligned(end), sections[i].size(), hash_bytes(sections[i])};
    pieces.push_back(Bytes(k_zeros).first(table[i].offset - end));
    pieces.push_back(sections[i]);
    end = table[i].offset + table[i].size;
  }
  header.file_size = end;
  header.hash = header_hash(header, std::as_bytes(std::span(table)));
  use(header.hash, pieces);
}

bool holds(const std::filesystem::path& path, std::span<const Bytes> pieces) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  const FileCopy file = read_file(path);
  Bytes rest = file.bytes;
  for (const Bytes piece : pieces) {
    if (rest.size() < piece.size() || !std::equal(piece.begin(), piece.end(), rest.begin())) return false;
    rest = rest.subspan(piece.size());
  }
  return rest.empty();
}

}  // namespace

void write_asset(const Part& part, const std::filesystem::path& path) {
  with_pieces(part, [&](std::uint64_t, std::span<const Bytes> pieces) { write_file(path, pieces); });
}

std::filesystem::path write_asset_by_content(const Part& part, const std::filesystem::path& folder) {
  std::filesystem::path name;
  with_pieces(part, [&](std::uint64_t hash, std::span<const Bytes> pieces) {
    name = "part-" + hex(hash) + ".cot";
    if (!holds(folder / name, pieces)) write_file(folder / name, pieces);
  });
  return name;
}

Part parse_asset(Bytes bytes, const std::shared_ptr<const void>& keep_alive, const std::string& name) {
  const Reader reader(bytes, name);
  Part part;
  const auto text = reader.array<char>(Kind::name);
  part.name.assign(text.begin(), text.end());
  read_info(reader, part);
  part.mesh = read_mesh(reader, part.name);
  part.bounds = part.mesh.bounds();
  try {
    part.field = read_field(reader, keep_alive);
    part.shell = read_shell(reader, keep_alive);
    read_elastic(reader, keep_alive, part);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error(name + ": " + error.what(), error.code());
  }
  return part;
}

Part read_asset(const std::filesystem::path& path) {
  const ReadableFile file(path);
  // What is no part is refused before all of it is read, however large it is.
  std::array<std::byte, sizeof(Header)> beginning;
  read_header(Bytes(beginning).first(file.read_beginning(beginning)), file.size(), path.string());
  const FileCopy copy = file.copy();
  return parse_asset(copy.bytes, copy.keep_alive, path.string());
}

}  // namespace cotouch
