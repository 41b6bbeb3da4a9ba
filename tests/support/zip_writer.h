// Writes ZIP archives for tests, sound ones and others.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cotouch {

inline std::string little_endian(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 255));
  return out;
}

inline std::uint32_t zip_checksum(const std::string& text) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// A file as it is in the archive.
struct ZippedFile {
  std::string name, packed;
  std::uint32_t checksum = 0;
  std::uint64_t unpacked = 0;
  int method = 0;
};

inline std::string zip(const std::vector<ZippedFile>& files) {
  const auto number = little_endian;
  std::string out, directory;
  for (const ZippedFile& file : files) {
    const std::string common = number(20, 2) + number(0, 2) + number(static_cast<std::uint64_t>(file.method), 2) +
                               number(0, 4) + number(file.checksum, 4) + number(file.packed.size(), 4) +
                               number(file.unpacked, 4) + number(file.name.size(), 2) + number(0, 2);
    directory += "PK\1\2" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(out.size(), 4) + file.name;
    out += "PK\3\4" + common + file.name + file.packed;
  }
  const std::string end = std::string("PK\5\6") + number(0, 4) + number(files.size(), 2) + number(files.size(), 2) +
                          number(directory.size(), 4) + number(out.size(), 4) + number(0, 2);
  return out + directory + end;
}

// Of stored (not packed) files.
inline std::string zip_stored(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<ZippedFile> stored;
  for (const auto& [name, content] : files) stored.push_back({name, content, zip_checksum(content), content.size(), 0});
  return zip(stored);
}

}  // namespace cotouch
