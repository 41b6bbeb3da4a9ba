// Reads the formats that hold whole scenes (glTF, 3MF, Collada, FBX and many more) through assimp. Throws Error as the
// readers in mesh/readers.h do.
#pragma once

#include <cotouch/mesh/raw_mesh.h>
#include <cotouch/reader/further_files.h>
#include <cotouch/reader/read_any.h>

#include <string>

namespace cotouch {

bool is_scene_format(const std::string& extension);

// `extension` is in lower case and without its dot.
RawMesh read_scene(FileBytes bytes, const std::string& extension, const ReadSettings& settings, FurtherFiles& further);

}  // namespace cotouch
