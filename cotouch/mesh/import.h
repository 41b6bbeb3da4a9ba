// Reads meshes from files: STL, OBJ, PLY and OFF with our own readers, glTF, GLB, 3MF and everything else through
// assimp (see read_scene.h).
//
// Anything with at least one triangle that has area is accepted, and the report says what is odd about it. Refused with
// an Error that names the file: a file that is missing, empty, cut short or of unknown kind, coordinates that are not
// finite or beyond the limits, and more triangles than the limits allow.
#pragma once

#include <cotouch/mesh/mesh.h>
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
  // Collada, 3MF, AMF and FBX: as written in them), otherwise metres. The report says which.
  std::optional<std::string> unit;
  // The axis of the file that points up, "x", "y" or "z", turned to become z. Without it: what the file or its format
  // states (glTF and X3D: y, 3MF, AMF and 3DS: z, Collada and FBX: as written in them), otherwise z. The report says
  // which.
  std::optional<std::string> up_axis;
  MeshLimits limits;
};

struct ImportedMesh {
  TriangleMesh mesh;  // metres, z up, cleaned, named after the file
  MeshReport report;
  std::vector<std::filesystem::path> further_files;  // beside the one named, read because it refers to them
};

ImportedMesh load_mesh(const std::filesystem::path& path, const ImportOptions& options = {});

// The same for a file in memory. `name` stands for the file in messages; its ending says what the bytes are. Formats
// that keep part of their data in further files cannot be read this way.
ImportedMesh load_mesh_from_memory(FileBytes bytes, std::string_view name, const ImportOptions& options = {});

}  // namespace cotouch
