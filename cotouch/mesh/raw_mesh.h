// A mesh between the program that reads files (cotouch/reader) and the one that wants it: in the numbers and axes of
// its file, with what the file or its format says about them.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cotouch {

// A named part of a file, which may come in as a body of its own. Pieces follow each other in the list of triangles and
// share no vertices.
struct MeshPiece {
  std::string name;
  std::uint64_t vertices = 0, triangles = 0;
};

struct RawMesh {
  TriangleMesh mesh;                                 // named after its file if that came out of an archive
  double metres_per_unit = 0;                        // zero: not stated
  char up_axis = 0;                                  // 'x', 'y' or 'z'; zero: not stated
  std::vector<MeshPiece> pieces;                     // empty: all of one piece
  std::vector<std::string> notes;                    // a sentence each, for the user
  std::vector<std::filesystem::path> further_files;  // that hold part of it and were read too
};

// Turns a mesh with the given axis up into one with z up, as Collada defines it: what is to the right becomes x.
void turn_z_up(TriangleMesh& mesh, char up_axis);
// And back.
void turn_from_z_up(TriangleMesh& mesh, char up_axis);

}  // namespace cotouch
