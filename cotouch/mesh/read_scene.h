// Reads the formats that hold whole scenes (glTF, 3MF, Collada, FBX and many more) through assimp. It runs in a child
// process, because damaged files crash it (see isolate.h). Throws Error as the readers in readers.h do.
#pragma once

#include <cotouch/mesh/mesh.h>
#include <cotouch/mesh/readers.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cotouch {

// A mesh in the numbers and axes of its file, and what the file or its format says about them.
struct SceneMesh {
  TriangleMesh mesh;
  double metres_per_unit = 0;                        // zero: not stated
  char up_axis = 0;                                  // 'x', 'y' or 'z'; zero: not stated
  std::vector<std::filesystem::path> further_files;  // that hold part of it and were read too
};

bool is_scene_format(const std::string& extension);

// `extension` is in lower case and without its dot. Without a path, further files cannot be read. Where
// `unit_is_known`, what the file says about its unit does not matter, even if it makes no sense.
SceneMesh read_scene(FileBytes bytes, const std::string& extension, const std::filesystem::path* path,
                     const MeshLimits& limits, bool unit_is_known);

// Turns a mesh with the given axis up into one with z up, as Collada defines it: what is to the right becomes x.
void turn_z_up(TriangleMesh& mesh, char up_axis);

}  // namespace cotouch
