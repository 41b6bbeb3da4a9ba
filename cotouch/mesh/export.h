// Writes meshes for other programs, whole or not at all (see base/file.h).
#pragma once

#include <cotouch/mesh/mesh.h>

#include <filesystem>

namespace cotouch {

// Lengths are written in metres, which the file itself cannot say. OBJ and PLY keep every bit of a coordinate; STL
// stores single precision.
void write_obj(const TriangleMesh& mesh, const std::filesystem::path& path);
void write_stl(const TriangleMesh& mesh, const std::filesystem::path& path);  // binary
void write_ply(const TriangleMesh& mesh, const std::filesystem::path& path);  // binary

}  // namespace cotouch
