// Reads a file of any format that cotouch knows. Throws Error as the readers in mesh/readers.h do.
#pragma once

#include <cotouch/mesh/raw_mesh.h>
#include <cotouch/reader/further_files.h>

#include <string>
#include <vector>

namespace cotouch {

struct ReadSettings {
  MeshLimits limits;
  // What the file says about its unit does not matter, even if it makes no sense.
  bool unit_is_known = false;
};

// `extension` is in lower case and without its dot.
bool is_mesh_format(const std::string& extension);

// One mesh, or one for each mesh file in a ZIP archive.
std::vector<RawMesh> read_any(FileBytes bytes, const std::string& extension, const ReadSettings& settings,
                              FurtherFiles& further);

}  // namespace cotouch
