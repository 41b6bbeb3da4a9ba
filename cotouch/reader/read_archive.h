// Reads the mesh files in a ZIP archive: parts that belong together, or a glTF with the files it refers to.
//
// Archives come from strangers: they are unpacked in memory, up to the limits and no further, and one that names a file
// outside of itself (../../x) is refused, although nothing would be written there.
#pragma once

#include <cotouch/reader/read_any.h>

#include <vector>

namespace cotouch {

// One for each mesh file, named after it, in the order of their names. What is no mesh file is passed over.
std::vector<RawMesh> read_archive(FileBytes bytes, const ReadSettings& settings);

}  // namespace cotouch
