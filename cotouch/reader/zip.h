// ZIP archives from strangers, unpacked into memory by minizip. Nothing is ever written to a disk, every size is
// bounded before it is believed, and what is unpacked must have the size and the checksum that the archive promises.
#pragma once

#include <cotouch/mesh/readers.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cotouch {

struct ZipEntry {
  std::string name;  // with '/' between folders; ends with one if it is a folder
  std::uint64_t packed = 0, unpacked = 0;
  std::uint64_t at = 0, number = 0;  // where the archive's directory has it
  std::uint16_t method = 0, flags = 0;
};

// The archive's bytes must outlive it. Throws Error, the rest of a sentence that begins with the archive's name.
class ZipArchive {
 public:
  explicit ZipArchive(FileBytes bytes);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Null if there is none whose name ends like this.
  const ZipEntry* find_ending(std::string_view ending) const;

  // All of it, refused if it is more than `most` bytes.
  std::vector<std::byte> unpack(const ZipEntry& entry, std::uint64_t most) const;
  // The first `most` bytes, or fewer if it is shorter.
  std::string beginning(const ZipEntry& entry, std::size_t most) const;

 private:
  struct Reading;  // minizip's, and the place in the bytes
  class OpenEntry;

  std::unique_ptr<Reading> reading_;
  std::vector<ZipEntry> entries_;
};

}  // namespace cotouch
