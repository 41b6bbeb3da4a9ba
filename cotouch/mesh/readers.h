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

// What a part can be made of: building its field takes a kilobyte for each (field/assemble.h). Soup has three vertices
// for each.
inline constexpr std::size_t k_most_part_triangles = std::size_t{1} << 22U;

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

// For meshes of which parts are to be made: what could not become one is refused while it is read, before it is looked
// at with several times its own memory. For all meshes of a file together.
inline MeshLimits limits_for_parts() {
  MeshLimits limits;
  limits.triangles = k_most_part_triangles;
  limits.vertices = 3 * k_most_part_triangles;
  return limits;
}

using FileBytes = std::span<const std::byte>;

// Things to tell the user about a file go to `notes`.
TriangleMesh read_stl(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);  // text and binary
TriangleMesh read_obj(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);
TriangleMesh read_ply(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);  // text and binary
TriangleMesh read_off(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes);  // text

}  // namespace cotouch
