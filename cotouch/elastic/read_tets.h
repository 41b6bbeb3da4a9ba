// Reads tetrahedra from files: Gmsh's .msh (versions 2 and 4) and TetGen's pairs of .node and .ele.
//
// Only tetrahedra with four nodes are read; triangles, lines and points, which such files have for their surfaces, are
// skipped, and so are other volumes, with a note. Inverted tetrahedra are turned and unused nodes dropped. Refused with
// an Error that names the file: files that are missing, cut short, damaged or beyond the limits, tetrahedra of higher
// order, flat ones, and two on the same side of a face.
#pragma once

#include <cotouch/elastic/tet_mesh.h>
#include <cotouch/mesh/readers.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cotouch {

struct TetFileOptions {
  double metres_per_unit = 1;  // of the file's numbers (see base/units.h)
  // What is refused as absurdly large.
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::size_t most_tets = 2'000'000;
  std::size_t most_nodes = 8'000'000;
  double furthest = 1e4;  // from the origin along each axis, metres
};

// Of TetGen's two files either may be named. Things to tell the user go to `notes`.
TetMesh read_tets(const std::filesystem::path& path, const TetFileOptions& options, std::vector<std::string>& notes);
TetMesh read_tets(const std::filesystem::path& path, const TetFileOptions& options = {});

// The same for files in memory. The Error is the rest of a sentence that begins with the file's name.
TetMesh read_msh(FileBytes file, const TetFileOptions& options, std::vector<std::string>& notes);
TetMesh read_tetgen(FileBytes node_file, FileBytes ele_file, const TetFileOptions& options,
                    std::vector<std::string>& notes);

}  // namespace cotouch
