// Reads meshes from files: STL, OBJ, PLY and OFF with our own readers, glTF, GLB, 3MF and everything else through
// assimp, and ZIP archives of any of them. All of it happens in a program of its own (see reader_process.h).
//
// Anything with at least one triangle that has area is accepted, and the report says what is odd about it. Refused with
// an Error that names the file: a file that is missing, empty, cut short or of unknown kind, coordinates that are not
// finite or beyond the limits, and more triangles than the limits allow.
#pragma once

#include <cotouch/base/progress.h>
#include <cotouch/mesh/import_facts.h>
#include <cotouch/mesh/mesh.h>
#include <cotouch/mesh/raw_mesh.h>
#include <cotouch/mesh/readers.h>
#include <cotouch/mesh/report.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cotouch {

struct ImportOptions {
  // The unit of the file's numbers (see base/units.h). Without it: what the file or its format states (glTF: metres,
  // Collada, 3MF, AMF, FBX and X3D: as written in them), otherwise a guess from its size.
  std::optional<std::string> unit;
  // The axis of the file that points up, "x", "y" or "z", turned to become z. Without it: what the file or its format
  // states (glTF and X3D: y, 3MF, AMF and 3DS: z, Collada and FBX: as written in them), otherwise z.
  std::optional<std::string> up_axis;
  MeshLimits limits;
};

struct ImportedMesh {
  TriangleMesh mesh;  // metres, z up, cleaned, named after the file
  MeshReport report;
  ImportFacts facts;
  std::vector<std::filesystem::path> further_files;  // beside the one named, read because it refers to them
};

// `progress` may end it by throwing; the reader is gone when that arrives at the caller. The file may refer to others
// in its folder or below.
ImportedMesh load_mesh(const std::filesystem::path& path, const ImportOptions& options, Progress& progress);
ImportedMesh load_mesh(const std::filesystem::path& path, const ImportOptions& options = {});

// The same for an open file that can be mapped. `name` stands for it in messages; its ending says what the bytes are.
// Further files cannot be read this way, unless they are in the same archive.
ImportedMesh load_mesh_from_descriptor(int file, std::string_view name, const ImportOptions& options,
                                       Progress& progress);
// The same, but every file of an archive and every named part of a file by itself, named after them, each where it is
// in the file.
std::vector<ImportedMesh> load_parts_from_descriptor(int file, std::string_view name, const ImportOptions& options,
                                                     Progress& progress);

// For a file in memory.
ImportedMesh load_mesh_from_memory(FileBytes bytes, std::string_view name, const ImportOptions& options = {});

// What is done with meshes once they are read, for programs that read them in another way (the fuzzers do).
ImportedMesh finish_import(std::vector<RawMesh> meshes, std::string_view name, const ImportOptions& options = {});

}  // namespace cotouch
