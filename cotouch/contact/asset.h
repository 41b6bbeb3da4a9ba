// The asset file (`.cot`): a prepared part on disk, whose sections are used as they are.
//
// Layout, in the byte order of the machine that wrote it (the header says which; the other one is refused):
//
//   0   magic            8 bytes: 89 'C' 'O' 'T' 0D 0A 1A 0A (shows damage by text conversion, as PNG does)
//   8   byte order       u32, 0x01020304
//   12  version          u32
//   16  file size        u64
//   24  sections         u32, then four zero bytes
//   32  header hash      u64: XXH3 of the 64 header bytes with this field zero, followed by the table
//   40  zeros            up to 64
//   64  table            for each section: kind u32, zero u32, offset u64, size u64, XXH3 of its bytes u64
//
// Sections follow in the table's order, each at the next multiple of 64 bytes, zeros between; nothing follows the last.
// Every byte of the file is thus either hashed or known, and any change is noticed.
#pragma once

#include <cotouch/contact/part.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace cotouch {

constexpr std::uint32_t k_asset_version = 2;  // version 1 had nothing that bends, and is read as well
constexpr std::size_t k_asset_alignment = 64;

// Leaves the old file or the new one under `path`, never half of one (see base/file.h).
void write_asset(const Part& part, const std::filesystem::path& path);

// The same under a name of its content, "part-<16 digits>.cot", which is returned. A file that is there already is left
// alone, so nobody who reads it is disturbed and what named it before still finds it.
std::filesystem::path write_asset_by_content(const Part& part, const std::filesystem::path& folder);

// Reads the file once, into memory of this process (base/read_file.h), and uses what was checked there: whatever is
// done to the file afterwards, the part stays. Throws Error saying what is wrong with the file: missing, foreign,
// truncated, damaged, from another byte order, or from a newer cotouch.
Part read_asset(const std::filesystem::path& path);

// The same from memory that begins at a multiple of k_asset_alignment and lives as long as `keep_alive`.
// `name` is what messages call it.
Part parse_asset(std::span<const std::byte> bytes, const std::shared_ptr<const void>& keep_alive,
                 const std::string& name);

}  // namespace cotouch
