#include <cotouch/base/file.h>
#include <cotouch/base/read_file.h>
#include <cotouch/mesh/readers.h>
#include <cotouch/part/asset_format.h>

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

std::string_view as_text(const char* text) {
  return text;
}

// What a file will hold, in order, with the hash in its header, which every byte of it leads to.
class Image {
 public:
  explicit Image(const Part& part) {
    add_known(part);
    for (const bool in_pieces : {false, true})
      for (const PartSection& section : part.sections)
        if (section.is_in_pieces() == in_pieces && section.size() > 0) add(section);
    header_.sections = static_cast<std::uint32_t>(table_.size());
    std::uint64_t end = sizeof(Header) + table_.size() * sizeof(TableEntry);
    for (std::size_t i = 0; i < table_.size(); ++i) {
      table_[i].offset = aligned(end);
      end = table_[i].offset + table_[i].size;
      if (contents_[i].pieced != nullptr) end = aligned(table_[i].offset + contents_[i].bytes.size()) + table_[i].size;
    }
    header_.file_size = end;
    header_.hash = header_hash(header_, std::as_bytes(std::span(table_)));
  }

  std::uint64_t hash() const { return header_.hash; }

  void write(const WriteBytes& write) const {
    std::uint64_t end = 0;
    const auto write_at = [&](std::uint64_t offset, Bytes bytes) {
      static constexpr std::array<std::byte, k_asset_alignment> k_zeros{};
      if (offset > end) write(Bytes(k_zeros).first(offset - end));
      write(bytes);
      end = offset + bytes.size();
    };
    write_at(0, bytes_of(header_));
    write_at(end, std::as_bytes(std::span(table_)));
    for (std::size_t i = 0; i < table_.size(); ++i) {
      write_at(aligned(end), contents_[i].bytes);
      const PartSection* const pieced = contents_[i].pieced;
      if (pieced == nullptr) continue;
      write_at(aligned(end), {});
      std::vector<std::byte> piece;
      for (std::uint64_t k = 0; k < pieced->piece_count(); ++k) {
        throw_if_cancelled();
        piece.resize(pieced->size_of_piece(k));
        pieced->read_piece(k, piece);
        write_at(end, piece);
      }
    }
  }

 private:
  struct Content {
    Bytes bytes;                          // or, of a section in pieces, their hashes
    const PartSection* pieced = nullptr;  // whose content follows
  };

  void add(const PartSection& section) {
    if (table_.size() >= k_most_sections) throw Error("A part has at most 256 sections.");
    const auto has_name = [&](const TableEntry& other) { return other.title() == section.name(); };
    const bool is_known = std::ranges::find(k_kind_names, section.name(), as_text) != k_kind_names.end();
    if (is_known || std::ranges::any_of(table_, has_name))
      throw Error("A part cannot have another section '" + section.name() + "'.");
    const Bytes bytes = section.is_in_pieces() ? std::as_bytes(section.hashes()) : section.bytes();
    table_.push_back(entry_of(section.name(), 0, section.size(), hash_bytes(bytes), section.piece_size()));
    contents_.push_back({bytes, section.is_in_pieces() ? &section : nullptr});
  }

  template <class T>
  Bytes keep(T value) {
    const auto kept = std::make_shared<const T>(std::move(value));
    memory_.push_back(kept);
    if constexpr (std::is_trivially_copyable_v<T>)
      return bytes_of(*kept);
    else
      return std::as_bytes(std::span(*kept));
  }

  void add_known(const Part& part);

  Header header_;
  std::vector<TableEntry> table_;
  std::vector<Content> contents_;
  std::vector<std::shared_ptr<const void>> memory_;
};

void Image::add_known(const Part& part) {
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

  // In the order of Kind.
  std::vector<Bytes> sections{std::as_bytes(std::span(part.name)),
                              keep(info),
                              keep(std::move(quality)),
                              std::as_bytes(std::span(part.mesh.vertices)),
                              std::as_bytes(std::span(part.mesh.triangles)),
                              field.brick_index.empty() ? Bytes() : keep(header_of(field)),
                              std::as_bytes(field.brick_index),
                              std::as_bytes(field.samples),
                              std::as_bytes(field.coarse),
                              std::as_bytes(shell.nodes),
                              std::as_bytes(shell.level_begin),
                              std::as_bytes(shell.positions),
                              std::as_bytes(shell.inward_normals)};
  for (const Bytes bytes : elastic_sections(part, memory_)) sections.push_back(bytes);
  for (std::size_t i = 0; i < k_kinds; ++i) {
    if (sections[i].empty()) continue;
    table_.push_back(entry_of(k_kind_names[i + 1], 0, sections[i].size(), hash_bytes(sections[i]), 0));
    contents_.push_back({sections[i]});
  }
}

// Whether a file holds just that, as far as it can be read.
bool holds(const std::filesystem::path& path, const Image& image) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  const ReadableFile file(path);
  std::uint64_t place = 0;
  bool same = true;
  std::vector<std::byte> there;
  image.write([&](Bytes bytes) {
    if (!same || bytes.size() > file.size() - std::min(place, file.size())) {
      same = false;
      return;
    }
    there.resize(bytes.size());
    file.read_at(place, there);
    same = std::ranges::equal(there, bytes);
    place += bytes.size();
  });
  return same && place == file.size();
}

// Sections in pieces, read when they are used.
class OpenFile final : public SectionSource {
 public:
  explicit OpenFile(const std::filesystem::path& path) : file(path) {}
  void read(std::uint64_t offset, std::span<std::byte> buffer) const override { file.read_at(offset, buffer); }

  const ReadableFile file;
};

Part read_part(const Reader& reader, const std::shared_ptr<const void>& keep_alive, const std::string& name) {
  Part part;
  const auto text = reader.array<char>(Kind::name);
  part.name.assign(text.begin(), text.end());
  read_info(reader, part);
  part.mesh = read_mesh(reader, part.name);
  part.bounds = part.mesh.bounds();
  part.sections = reader.others();
  try {
    if (reader.has(Kind::field)) part.field = read_field(reader, keep_alive);
    if (reader.has(Kind::level_begin)) part.shell = read_shell(reader, keep_alive);
    read_elastic(reader, keep_alive, part);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error(name + ": " + error.what(), error.code());
  }
  return part;
}

}  // namespace

void write_asset(const Part& part, const std::filesystem::path& path) {
  const Image image(part);
  write_file(path, [&](const WriteBytes& write) { image.write(write); });
}

std::filesystem::path write_asset_by_content(const Part& part, const std::filesystem::path& folder) {
  const Image image(part);
  const std::filesystem::path name = "part-" + hex(image.hash()) + ".cot";
  if (!holds(folder / name, image)) write_file(folder / name, [&](const WriteBytes& write) { image.write(write); });
  return name;
}

Part parse_asset(Bytes bytes, const std::shared_ptr<const void>& keep_alive, const std::string& name) {
  return read_part(Reader(bytes, keep_alive, name), keep_alive, name);
}

std::uint32_t asset_version(const std::filesystem::path& path) {
  const ReadableFile file(path);
  std::array<std::byte, sizeof(Header)> beginning;
  return read_header(Bytes(beginning).first(file.read_beginning(beginning)), file.size(), path.string()).version;
}

Part read_asset(const std::filesystem::path& path) {
  const auto open = std::make_shared<const OpenFile>(path);
  const std::uint64_t size = open->file.size();
  // What is no part is refused before all of it is read, however large it is.
  const std::uint64_t first = Reader::bytes_before_pieces(*open, size, path.string());
  const FileCopy copy = open->file.copy(first);
  if (first == size) return parse_asset(copy.bytes, copy.keep_alive, path.string());
  if (copy.bytes.size() < first) throw_damaged(path.string(), "it was cut short while it was read");
  return read_part(Reader(copy.bytes, copy.keep_alive, open, size, path.string()), copy.keep_alive, path.string());
}

}  // namespace cotouch
