// The inside of asset files (asset.h), shared by the sources that read and write them.
#pragma once

#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/part/asset.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cotouch::asset {

using Bytes = std::span<const std::byte>;

inline constexpr std::array<unsigned char, 8> k_magic{0x89, 'C', 'O', 'T', '\r', '\n', 0x1a, '\n'};
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
  elastic,
  anchors,
  tet_nodes,
  tets,
  shapes,
  rotations,
  stiffness,
  polynomials,
  weight,
  shell_embedding,
  mesh_embedding,
  spread,
  proxies,
  slopes,
  domains,
  domain_fields,
  domain_bricks,
  domain_samples,
  domain_coarse,
};
inline constexpr std::array<const char*, 33> k_kind_names{"",
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
                                                          "shell normals",
                                                          "elastic settings",
                                                          "anchors",
                                                          "nodes of tetrahedra",
                                                          "tetrahedra",
                                                          "shapes",
                                                          "rotations",
                                                          "stiffness",
                                                          "stiffness polynomials",
                                                          "weight",
                                                          "shell in tetrahedra",
                                                          "mesh in tetrahedra",
                                                          "spread of the shell",
                                                          "proxies",
                                                          "slopes at proxies",
                                                          "domains",
                                                          "field sizes of domains",
                                                          "field bricks of domains",
                                                          "field samples of domains",
                                                          "coarse fields of domains"};
constexpr std::size_t k_kinds = k_kind_names.size() - 1;
constexpr std::size_t k_kinds_of_version_1 = 13;  // nothing bent then
constexpr std::size_t k_most_sections = 256;
constexpr std::uint64_t k_most_pieces = std::uint64_t{1} << 22;  // of a section: 32 MiB of hashes

struct TableEntry {
  std::array<char, 32> name{};
  std::uint64_t offset = 0, size = 0, hash = 0, piece = 0;

  // Up to its first zero.
  std::string_view title() const { return {name.data(), ::strnlen(name.data(), name.size())}; }
};
static_assert(sizeof(TableEntry) == 64);

struct NumberedEntry {  // of versions 1 and 2
  std::uint32_t kind = 0, zero = 0;
  std::uint64_t offset = 0, size = 0, hash = 0;
};
static_assert(sizeof(NumberedEntry) == 32);

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

inline std::uint64_t aligned(std::uint64_t offset) {
  return (offset + k_asset_alignment - 1) / k_asset_alignment * k_asset_alignment;
}

inline std::uint64_t header_hash(Header header, Bytes table) {
  header.hash = 0;
  Hasher hasher;
  hasher.add_bytes(std::as_bytes(std::span(&header, 1)));
  hasher.add_bytes(table);
  return hasher.digest();
}

inline TableEntry entry_of(std::string_view name, std::uint64_t offset, std::uint64_t size, std::uint64_t hash,
                           std::uint64_t piece) {
  TableEntry entry;
  std::copy_n(name.begin(), std::min(name.size(), PartSection::k_longest_name), entry.name.begin());
  entry.offset = offset;
  entry.size = size;
  entry.hash = hash;
  entry.piece = piece;
  return entry;
}

template <class T>
Bytes bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

// hash_bytes() that can be ended.
inline std::uint64_t hash_cancellable(Bytes bytes) {
  constexpr std::size_t k_piece = 1U << 20U;
  Hasher hasher;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(k_piece, bytes.size()))) {
    throw_if_cancelled();
    hasher.add_bytes(bytes.first(std::min(k_piece, bytes.size())));
  }
  return hasher.digest();
}

[[noreturn]] void throw_damaged(const std::string& name, const std::string& what);
// Checks the first bytes of a file of this size, as many of them as there are: what they say about the file, or Error.
Header read_header(Bytes beginning, std::uint64_t size, const std::string& name);

// Reads sections of a file that anyone may have made: nothing is used before it is checked.
class Reader {
 public:
  // Of a whole file. Throws Error if something is wrong with it.
  Reader(Bytes bytes, const std::shared_ptr<const void>& keep_alive, const std::string& name);
  // The same of a file whose first bytes were read, up to its sections in pieces.
  Reader(Bytes beginning, const std::shared_ptr<const void>& keep_alive, std::shared_ptr<const SectionSource> file,
         std::uint64_t file_size, const std::string& name);
  // How many those are; what is wrong with the table is found later.
  static std::uint64_t bytes_before_pieces(const SectionSource& file, std::uint64_t size, const std::string& name);

  bool has(Kind kind) const { return !sections_[index(kind)].empty(); }
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
  // Those of other engines.
  const std::vector<PartSection>& others() const { return others_; }

  [[noreturn]] void damaged(const std::string& what) const { throw_damaged(name_, what); }

 private:
  static std::size_t index(Kind kind) { return static_cast<std::size_t>(kind); }
  std::vector<TableEntry> read_table();
  std::vector<TableEntry> read_numbered_table();
  void check_name(const TableEntry& entry, std::size_t& last_kind);
  // Nothing but zeros up to there.
  void skip_to(std::uint64_t begin, const std::string& what);
  void begin_section(const TableEntry& entry);
  void read_section(const TableEntry& entry);
  void read_section_in_pieces(const TableEntry& entry);

  Bytes bytes_;
  std::shared_ptr<const void> keep_alive_;
  std::shared_ptr<const SectionSource> file_;
  std::uint64_t file_size_;
  const std::string& name_;
  Header header_;
  std::uint64_t end_ = 0;  // of what was read so far
  std::array<Bytes, k_kinds + 1> sections_{};
  std::vector<PartSection> others_;
};

// The field's arrays are `samples`, `brick_index` and `coarse`; everything else is in its header.
FieldHeader header_of(const FieldData& field);
FieldData data_of(const FieldHeader& header);

// asset_elastic.cpp
// What bends, as sections in the order of Kind; all empty for a rigid part. `memory` keeps what was made for them.
std::vector<Bytes> elastic_sections(const Part& part, std::vector<std::shared_ptr<const void>>& memory);
void read_elastic(const Reader& reader, const std::shared_ptr<const void>& keep_alive, Part& part);

}  // namespace cotouch::asset
