#include <cotouch/base/error.h>
#include <cotouch/mesh/scan.h>
#include <cotouch/reader/cad_format.h>
#include <cotouch/reader/read_any.h>
#include <cotouch/reader/read_archive.h>
#include <cotouch/reader/read_scene.h>

#include <utility>

namespace cotouch {
namespace {

RawMesh read_single(FileBytes bytes, const std::string& extension, const ReadSettings& settings,
                    FurtherFiles& further) {
  RawMesh raw;
  if (extension == "stl")
    raw.mesh = read_stl(bytes, settings.limits, raw.notes);
  else if (extension == "obj")
    raw.mesh = read_obj(bytes, settings.limits, raw.notes);
  else if (extension == "ply")
    raw.mesh = read_ply(bytes, settings.limits, raw.notes);
  else if (extension == "off")
    raw.mesh = read_off(bytes, settings.limits, raw.notes);
  else
    raw = read_scene(bytes, extension, settings, further);
  return raw;
}

}  // namespace

bool is_mesh_format(const std::string& extension) {
  for (const char* own : {"stl", "obj", "ply", "off"})
    if (extension == own) return true;
  return is_scene_format(extension);
}

std::vector<RawMesh> read_any(FileBytes bytes, const std::string& extension, const ReadSettings& settings,
                              FurtherFiles& further) {
  // The beginning of a part's file (see part/asset.h), whatever it is named.
  if (as_text(bytes).starts_with("\x89"
                                 "COT\r\n"))
    throw Error("is a part that is prepared already. Look at it with 'cotouch inspect' or use it in a scene.",
                ErrorCode::unsupported);
  refuse_cad_format(bytes, extension);
  if (extension == "zip") return read_archive(bytes, settings);
  if (!is_mesh_format(extension))
    throw Error(
        "is of an unknown kind. Use STL, OBJ, PLY, glTF, GLB, 3MF or another mesh format with its usual ending.",
        ErrorCode::unsupported);
  std::vector<RawMesh> meshes;
  meshes.push_back(read_single(bytes, extension, settings, further));
  return meshes;
}

}  // namespace cotouch
