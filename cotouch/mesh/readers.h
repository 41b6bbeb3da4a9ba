// Our own readers for the plain formats. They are a page each, keep double precision, and can say exactly what is
// wrong with a file. They throw Error with the rest of a sentence that begins with the file's name ("is cut short:
// ...").
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cotouch {

// What is refused as absurdly large.
struct MeshLimits {
  std::uint64_t file_bytes = std::uint64_t{4} << 30;
  std::size_t triangles = 50'000'000;
  std::size_t vertices = 150'000'000;                     // before equal ones are joined
  double coordinate = 1e6;                                // metres
  std::uint64_t unpacked_bytes = std::uint64_t{1} << 30;  // of all files in an archive
  // For reading: so long for a small file, and a second more for each megabyte.
  std::uint64_t seconds = 20;
};

using FileBytes = std::span<const std::byte>;

// Things to tell the user about a file go to `notes`.
TriangleMesh read_stl(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);  // text and binary
TriangleMesh read_obj(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);
TriangleMesh read_ply(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);  // text and binary
TriangleMesh read_off(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);  // text

}  // namespace cotouch
