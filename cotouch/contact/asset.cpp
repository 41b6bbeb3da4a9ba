#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/base/hash.h>
#include <cotouch/contact/asset.h>

#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace cotouch {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::array<unsigned char, 8> k_magic{0x89, 'C', 'O', 'T', '\r', '\n', 0x1a, '\n'};
constexpr std::uint32_t k_byte_order = 0x01020304;
constexpr std::uint32_t k_other_byte_order = 0x04030201;

struct Header {
  std::array<unsigned char, 8> magic = k_magic;
  std::uint32_t byte_order = k_byte_order;
  std::uint32_t version = k_asset_version;
  std::uint64_t file_size = 0;
  std::uint32_t sections = 0;
  std::uint32_t zero = 0;
  std::uint64_t hash = 0;
  std::array<std::uint64_t, 3> zeros{};
};
static_assert(sizeof(Header) == 64);

enum class Kind : std::uint32_t {
  name = 1,
  info,
  quality,
  vertices,
  triangles,
  field,
  brick_index,
  samples,
  coarse,
  nodes,
  level_begin,
  positions,
  normals,
};
constexpr std::array<const char*, 14> k_kind_names{"",
                                                   "name",
                                                   "settings",
                                                   "shell quality",
                                                   "mesh vertices",
                                                   "mesh triangles",
                                                   "field size",
                                                   "field bricks",
                                                   "field samples",
                                                   "coarse field",
                                                   "shell tree",
                                                   "shell levels",
                                                   "shell points",
                                                   "shell normals"};
constexpr std::size_t k_kinds = k_kind_names.size() - 1;

struct TableEntry {
  Kind kind{};
  std::uint32_t zero = 0;
  std::uint64_t offset = 0, size = 0, hash = 0;
};
static_assert(sizeof(TableEntry) == 32);

// Settings and findings. A member added to these structs must be added here, and k_asset_version raised.
static_assert(sizeof(FieldSettings) == 16 && sizeof(ShellSettings) == 24, "extend the asset format");
struct Info {
  std::int32_t resolution = 0;
  std::uint32_t points = 0;
  double sheet_thickness = 0, offset = 0;
  std::uint64_t seed = 0;
  std::uint64_t flipped = 0, enclosed = 0, sheets = 0, caps = 0;
};
static_assert(sizeof(Info) == 64);

struct QualityLevel {
  double mean_spacing = 0, variation = 0;
  std::uint32_t points = 0, zero = 0;
};
static_assert(sizeof(QualityLevel) == 24);

struct FieldHeader {
  Vec3f origin;
  float spacing = 0;
  Index3 bricks;
  float quantum = 0, band = 0, boundary = 0, lipschitz = 0, zero = 0;
};
static_assert(sizeof(FieldHeader) == 48);

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + k_asset_alignment - 1) / k_asset_alignment * k_asset_alignment;
}

std::uint64_t header_hash(Header header, Bytes table) {
  header.hash = 0;
  Hasher hasher;
  hasher.add_bytes(std::as_bytes(std::span(&header, 1)));
  hasher.add_bytes(table);
  return hasher.digest();
}

template <class T>
Bytes bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

// Reads sections of a file that anyone may have made: nothing is used before it is checked.
class Reader {
 public:
  Reader(Bytes bytes, const std::string& name) : bytes_(bytes), name_(name) {
    check_header();
    check_sections();
  }

  template <class T>
  std::span<const T> array(Kind kind) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const Bytes bytes = sections_[index(kind)];
    if (bytes.size() % sizeof(T) != 0)
      damaged(std::string("the section '") + k_kind_names[index(kind)] + "' ends in the middle of an item");
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  const T& one(Kind kind) const {
    const std::span<const T> items = array<T>(kind);
    if (items.size() != 1) damaged(std::string("the section '") + k_kind_names[index(kind)] + "' has a wrong size");
    return items[0];
  }

  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(name_ + " is damaged: " + what + "; prepare the part again.", ErrorCode::damaged_file);
  }

 private:
  static std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }

  void check_header() {
    if (bytes_.empty()) throw Error(name_ + " is empty, not a cotouch part.", ErrorCode::damaged_file);
    const std::size_t known = std::min(bytes_.size(), k_magic.size());
    if (std::memcmp(bytes_.data(), k_magic.data(), known) != 0) {
      // The first byte and the letters right, the line ends wrong: sent as text.
      if (bytes_.size() >= 4 && std::memcmp(bytes_.data(), k_magic.data(), 4) == 0)
        damaged("its line ends were changed, as when a file is sent as text");
      throw Error(name_ + " is not a cotouch part; make one with 'cotouch prepare'.", ErrorCode::damaged_file);
    }
    if (bytes_.size() < sizeof(Header)) truncated(sizeof(Header));
    std::memcpy(&header_, bytes_.data(), sizeof(Header));
    if (header_.byte_order == k_other_byte_order)
      throw Error(name_ + " was made on a machine with another byte order; prepare the part again on this one.",
                  ErrorCode::unsupported);
    if (header_.byte_order != k_byte_order) damaged("its byte-order mark is none");
    if (header_.version > k_asset_version)
      throw Error(name_ + " was made by a newer cotouch (format " + std::to_string(header_.version) +
                      ", this one reads up to " + std::to_string(k_asset_version) +
                      "); update cotouch or prepare again.",
                  ErrorCode::unsupported);
    if (header_.version == 0) damaged("its version is 0");
    if (header_.file_size > bytes_.size()) truncated(header_.file_size);
    if (header_.file_size < bytes_.size()) damaged("something follows its end");
    if (header_.sections != k_kinds) damaged("its number of sections is wrong");
    table_ = bytes_.subspan(sizeof(Header));
    if (table_.size() < k_kinds * sizeof(TableEntry)) damaged("its table of sections is incomplete");
    table_ = table_.first(k_kinds * sizeof(TableEntry));
    if (header_hash(header_, table_) != header_.hash) damaged("its header does not match its checksum");
  }

  void check_sections() {
    std::uint64_t end = sizeof(Header) + table_.size();
    for (std::size_t i = 0; i < k_kinds; ++i) {
      TableEntry entry;
      std::memcpy(&entry, table_.data() + i * sizeof(TableEntry), sizeof(TableEntry));
      const std::size_t kind = index(entry.kind);
      if (kind != i + 1 || entry.zero != 0) damaged("its table of sections is out of order");
      const char* section = k_kind_names[kind];
      if (entry.offset != aligned(end) || entry.offset > bytes_.size() || entry.size > bytes_.size() - entry.offset)
        damaged(std::string("the section '") + section + "' lies outside the file");
      for (const std::byte b : bytes_.subspan(end, entry.offset - end))
        if (b != std::byte{0}) damaged(std::string("there is something before the section '") + section + "'");
      sections_[kind] = bytes_.subspan(entry.offset, entry.size);
      if (hash_bytes(sections_[kind]) != entry.hash)
        damaged(std::string("the section '") + section + "' does not match its checksum");
      end = entry.offset + entry.size;
    }
    if (end != bytes_.size()) damaged("something follows its last section");
  }

  [[noreturn]] void truncated(std::uint64_t whole) const {
    throw Error(name_ + " is truncated: it has " + std::to_string(bytes_.size()) + " of " + std::to_string(whole) +
                    " bytes; copy it again or prepare the part again.",
                ErrorCode::damaged_file);
  }

  Bytes bytes_;
  const std::string& name_;
  Header header_;
  Bytes table_;
  std::array<Bytes, k_kinds + 1> sections_{};
};

TriangleMesh read_mesh(const Reader& reader, const std::string& name) {
  const auto vertices = reader.array<Vec3d>(Kind::vertices);
  const auto triangles = reader.array<Triangle>(Kind::triangles);
  for (const Vec3d& v : vertices)
    if (!is_finite(v)) reader.damaged("a mesh vertex is not a number");
  for (const Triangle& t : triangles)
    for (const std::uint32_t corner : t)
      if (corner >= vertices.size()) reader.damaged("a mesh triangle names a vertex that is not there");
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
  const FieldHeader& header = reader.one<FieldHeader>(Kind::field);
  FieldData data;
  data.origin = header.origin;
  data.spacing = header.spacing;
  data.bricks = header.bricks;
  data.quantum = header.quantum;
  data.band = header.band;
  data.boundary = header.boundary;
  data.lipschitz = header.lipschitz;
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

void write_asset(const Part& part, const std::filesystem::path& path) {
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
  const FieldHeader field_header{field.origin, field.spacing,  field.bricks,    field.quantum,
                                 field.band,   field.boundary, field.lipschitz, 0};

  // In the order of Kind.
  const std::array<Bytes, k_kinds> sections{std::as_bytes(std::span(part.name)),
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
  write_file(path, pieces);
}

Part parse_asset(Bytes bytes, const std::shared_ptr<const void>& keep_alive, const std::string& name) {
  const Reader reader(bytes, name);
  Part part;
  const auto text = reader.array<char>(Kind::name);
  part.name.assign(text.begin(), text.end());
  read_info(reader, part);
  part.mesh = read_mesh(reader, part.name);
  try {
    part.field = read_field(reader, keep_alive);
    part.shell = read_shell(reader, keep_alive);
  } catch (const Error& error) {
    throw Error(name + ": " + error.what(), error.code());
  }
  return part;
}

Part read_asset(const std::filesystem::path& path) {
  const MappedFile file = map_file(path);
  return parse_asset(file.bytes, file.keep_alive, path.string());
}

}  // namespace cotouch
