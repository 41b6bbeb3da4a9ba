// The asset file (`.cot`): a prepared part on disk, a table of named sections that are used as they are.
//
// Layout, in the byte order of the machine that wrote it (the header says which; the other one is refused):
//
//   0   magic            8 bytes: 89 'C' 'O' 'T' 0D 0A 1A 0A (shows damage by text conversion, as PNG does)
//   8   byte order       u32, 0x01020304
//   12  version          u32
//   16  file size        u64
//   24  sections         u32, at most 256, then four zero bytes
//   32  header hash      u64: XXH3 of the 64 header bytes with this field zero, followed by the table
//   40  zeros            up to 64
//   64  table            for each section: name (32 bytes, zeros after it), offset u64, size u64, hash u64, piece u64
//
// The sections that every part may have come first, in the order of asset::Kind, then those of other engines, of which
// those in pieces come last; what is empty is left out. Sections follow in the table's order, each at the next multiple
// of 64 bytes, zeros between; nothing follows the last. `piece` is 0 for a section that is checked as a whole: `hash`
// is XXH3 of its bytes. Else a section begins with the XXH3 of each of its pieces (u64 each), of which `hash` is the
// XXH3, and its content follows at the next multiple of 64 bytes; `size` is the content's alone. Every byte of the file
// is thus either hashed or known, and any change is noticed, in a piece as soon as that is read.
//
// Versions 1 and 2 numbered their sections (the order of asset::Kind), all of which were there: an entry of the table
// was kind u32, zero u32, offset u64, size u64, hash u64. Version 1 had nothing that bends.
#pragma once

#include <cotouch/part/part.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace cotouch {

constexpr std::uint32_t k_asset_version = 3;  // older ones are read as well
constexpr std::size_t k_asset_alignment = 64;

// Leaves the old file or the new one under `path`, never half of one (see base/file.h).
void write_asset(const Part& part, const std::filesystem::path& path);

// The same under a name of its content, "part-<16 digits>.cot", which is returned. A file that is there already is left
// alone, so nobody who reads it is disturbed and what named it before still finds it.
std::filesystem::path write_asset_by_content(const Part& part, const std::filesystem::path& folder);

// Reads the file once, into memory of this process (base/read_file.h), and uses what was checked there: whatever is
// done to the file afterwards, the part stays. Of sections in pieces only the hashes are read; the file stays open for
// the rest, and a piece that was changed meanwhile is refused when it is read. Throws Error saying what is wrong with
// the file: missing, foreign, truncated, damaged, from another byte order, or from a newer cotouch.
Part read_asset(const std::filesystem::path& path);

// The version of its format, if it is a part. Throws Error like read_asset.
std::uint32_t asset_version(const std::filesystem::path& path);

// The same from memory that begins at a multiple of k_asset_alignment and lives as long as `keep_alive`.
// `name` is what messages call it.
Part parse_asset(std::span<const std::byte> bytes, const std::shared_ptr<const void>& keep_alive,
                 const std::string& name);

}  // namespace cotouch
