#include <cotouch/base/error.h>
#include <cotouch/base/units.h>
#include <cotouch/mesh/import.h>
#include <cotouch/mesh/isolate.h>
#include <cotouch/mesh/triangulate.h>
#include <cotouch/mesh/zip.h>

#include <assimp/BaseImporter.h>
#include <assimp/scene.h>
#include <assimp/Importer.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <utility>

namespace cotouch {
namespace {

// A mesh as it stands in the file, with what the file says about its unit.
struct RawMesh {
  TriangleMesh mesh;
  double metres_per_unit = 0;  // zero: the file does not say
  std::vector<std::string> notes;
};

std::string lower_case_extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  std::string extension(dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1));
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

// The unit attribute of the first `element` in an XML text, by the names 3MF and AMF use. Both mean millimetres where
// it is left out.
double xml_unit(std::string_view text, std::string_view element) {
  static constexpr std::pair<std::string_view, double> k_units[] = {
      {"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 1e-2}, {"inch", 0.0254},
      {"foot", 0.3048}, {"feet", 0.3048},     {"meter", 1.0}};
  const std::size_t begin = text.find(element);
  if (begin == std::string_view::npos) return 1e-3;
  text = text.substr(begin, text.find('>', begin) - begin);
  for (const std::string_view quote : {"\"", "'"})
    for (const auto& [name, metres] : k_units)
      if (text.find("unit=" + std::string(quote) + std::string(name) + std::string(quote)) != std::string_view::npos)
        return metres;
  return 1e-3;
}

double stated_unit(const std::string& extension, Bytes bytes, const aiScene& scene) {
  constexpr std::size_t k_beginning = 4096;
  if (extension == "gltf" || extension == "glb" || extension == "dae") return 1;  // assimp scales Collada itself
  if (extension == "3mf") return xml_unit(zip_beginning(bytes, ".model", k_beginning), "<model");
  if (extension == "amf") {
    const std::string unpacked = zip_beginning(bytes, ".amf", k_beginning);
    const std::string_view plain(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), k_beginning));
    return xml_unit(unpacked.empty() ? plain : std::string_view(unpacked), "<amf");
  }
  // FBX counts in multiples of a centimetre.
  double centimetres = 0;
  float single = 0;
  if (extension == "fbx" && scene.mMetaData) {
    if (scene.mMetaData->Get("UnitScaleFactor", centimetres)) return centimetres / 100;
    if (scene.mMetaData->Get("UnitScaleFactor", single)) return static_cast<double>(single) / 100;
  }
  return 0;
}

// Adds every instance of every mesh in the scene, moved by the transforms of the nodes above it.
void flatten(const aiScene& scene, const MeshLimits& limits, TriangleMesh& out) {
  using Node = std::pair<const aiNode*, aiMatrix4x4>;
  std::vector<Node> pending;
  if (scene.mRootNode) pending.push_back({scene.mRootNode, aiMatrix4x4()});
  std::vector<std::uint32_t> corners;
  while (!pending.empty()) {
    const auto [node, above] = pending.back();
    pending.pop_back();
    const aiMatrix4x4 m = above * node->mTransformation;
    // In the file's order: the last pushed is the first taken.
    for (unsigned i = node->mNumChildren; i-- > 0;)
      if (node->mChildren[i]) pending.push_back({node->mChildren[i], m});
    const bool mirrored = m.Determinant() < 0;
    for (unsigned i = 0; i < node->mNumMeshes; ++i) {
      if (node->mMeshes[i] >= scene.mNumMeshes) throw Error("is damaged: it refers to a mesh it does not have.");
      const aiMesh* mesh = scene.mMeshes[node->mMeshes[i]];
      if (!mesh || !mesh->mVertices) continue;
      const std::size_t first = out.vertices.size();
      if (first + mesh->mNumVertices > limits.vertices)
        throw Error("has more than the " + std::to_string(limits.vertices) + " vertices allowed. Simplify it first.");
      for (unsigned v = 0; v < mesh->mNumVertices; ++v) {
        const aiVector3D p = m * mesh->mVertices[v];
        out.vertices.push_back(Vec3d(Vec3f{p.x, p.y, p.z}));
      }
      for (unsigned f = 0; f < mesh->mNumFaces; ++f) {
        const aiFace& face = mesh->mFaces[f];
        corners.clear();
        for (unsigned k = 0; k < face.mNumIndices; ++k) {
          if (face.mIndices[k] >= mesh->mNumVertices) throw Error("is damaged: a face refers to no vertex.");
          corners.push_back(static_cast<std::uint32_t>(first + face.mIndices[k]));
        }
        if (mirrored) std::reverse(corners.begin(), corners.end());
        add_polygon(out, corners);
      }
      if (out.triangles.size() > limits.triangles)
        throw Error("has more than the " + std::to_string(limits.triangles) + " triangles allowed. Simplify it first.");
    }
  }
}

template <class T>
void put(std::vector<std::byte>& out, const std::vector<T>& items) {
  const std::uint64_t count = items.size();
  const auto* head = reinterpret_cast<const std::byte*>(&count);
  const auto* data = reinterpret_cast<const std::byte*>(items.data());
  out.insert(out.end(), head, head + sizeof count);
  out.insert(out.end(), data, data + count * sizeof(T));
}

// Does not trust what it reads: the child may have overwritten its own memory.
template <class T>
bool take(Bytes& bytes, std::vector<T>& items) {
  std::uint64_t count = 0;
  if (bytes.size() < sizeof count) return false;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes = bytes.subspan(sizeof count);
  if (count > bytes.size() / sizeof(T)) return false;
  items.resize(count);
  if (count > 0) std::memcpy(static_cast<void*>(items.data()), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return true;
}

// assimp gives a file that its format's reader refuses to whichever other reader likes the look of it. A file should be
// what its name says: a 3MF that begins like a PLY is damaged, and our own PLY reader is the one that is hardened.
void keep_readers_of(const std::string& extension, Assimp::Importer& importer) {
  std::vector<Assimp::BaseImporter*> others;
  for (std::size_t i = 0; i < importer.GetImporterCount(); ++i) {
    std::set<std::string> extensions;
    importer.GetImporter(i)->GetExtensionList(extensions);
    if (!extensions.contains(extension)) others.push_back(importer.GetImporter(i));
  }
  for (Assimp::BaseImporter* other : others) {
    importer.UnregisterLoader(other);
    delete other;
  }
}

// Reads with assimp in a child process. With a path, further files beside it can be read too.
RawMesh read_with_assimp(Bytes bytes, const std::string& extension, const std::filesystem::path* path,
                         const ImportOptions& options) {
  IsolationLimits isolation;
  isolation.memory_bytes += 40 * std::uint64_t{bytes.size()};
  isolation.seconds = options.limits.seconds + (bytes.size() >> 20);
  isolation.may_open_files = path != nullptr;
  Assimp::Importer importer;
  keep_readers_of(extension, importer);
  const std::vector<std::byte> sent = run_isolated(
      [&] {
        const aiScene* scene = path ? importer.ReadFile(path->string(), 0)
                                    : importer.ReadFileFromMemory(bytes.data(), bytes.size(), 0, extension.c_str());
        if (!scene) throw Error(std::string("cannot be read: ") + importer.GetErrorString());
        TriangleMesh mesh;
        flatten(*scene, options.limits, mesh);
        std::vector<std::byte> out;
        put(out, std::vector<double>{stated_unit(extension, bytes, *scene)});
        put(out, mesh.vertices);
        put(out, mesh.triangles);
        return out;
      },
      isolation);

  RawMesh raw;
  std::vector<double> unit;
  Bytes rest(sent);
  bool whole = take(rest, unit) && take(rest, raw.mesh.vertices) && take(rest, raw.mesh.triangles) && unit.size() == 1;
  for (const Triangle& t : raw.mesh.triangles)
    for (const std::uint32_t index : t) whole = whole && index < raw.mesh.vertices.size();
  if (!whole) throw Error("is damaged in a way that confused its reader");
  raw.metres_per_unit = unit.front();
  return raw;
}

RawMesh read_any(Bytes bytes, const std::string& extension, const std::filesystem::path* path,
                 const ImportOptions& options) {
  RawMesh raw;
  if (extension == "stl")
    raw.mesh = read_stl(bytes, options.limits, raw.notes);
  else if (extension == "obj")
    raw.mesh = read_obj(bytes, options.limits, raw.notes);
  else if (extension == "ply")
    raw.mesh = read_ply(bytes, options.limits, raw.notes);
  else if (!extension.empty() && Assimp::Importer().IsExtensionSupported("." + extension))
    raw = read_with_assimp(bytes, extension, path, options);
  else
    throw Error(
        "is of an unknown kind. Use STL, OBJ, PLY, glTF, GLB, 3MF or another mesh format with its usual ending.");
  return raw;
}

double choose_unit(const ImportOptions& options, const std::string& extension, RawMesh& raw) {
  // assimp turns Collada's numbers into metres before anyone sees them.
  if (options.unit && extension == "dae") {
    raw.notes.push_back("unit: Collada files state their own; the one given was not used");
    return 1;
  }
  if (options.unit) {
    raw.notes.push_back("unit: " + *options.unit + ", as given");
    return metres_per(*options.unit);
  }
  if (raw.metres_per_unit > 0 && std::isfinite(raw.metres_per_unit)) {
    char text[64];
    std::snprintf(text, sizeof text, "unit: %g m, as stated by the file or its format", raw.metres_per_unit);
    raw.notes.push_back(text);
    return raw.metres_per_unit;
  }
  raw.notes.push_back("unit: the file states none, metres assumed (change with --unit)");
  return 1;
}

// Cyclic, so that right-handed stays right-handed.
void turn_up(TriangleMesh& mesh, const std::optional<std::string>& axis) {
  if (!axis || *axis == "z") return;
  if (*axis != "x" && *axis != "y") throw Error("cannot be turned: the up axis is x, y or z, not '" + *axis + "'.");
  for (Vec3d& v : mesh.vertices) v = *axis == "x" ? Vec3d{v.y, v.z, v.x} : Vec3d{v.z, v.x, v.y};
}

ImportedMesh import_bytes(Bytes bytes, std::string_view name, const std::filesystem::path* path,
                          const ImportOptions& options) {
  if (options.unit) metres_per(*options.unit);  // an unknown unit is not the file's fault
  try {
    if (bytes.empty()) throw Error("is empty. Export or download it again.");
    if (bytes.size() > options.limits.file_bytes)
      throw Error("is larger than the " + std::to_string(options.limits.file_bytes) +
                  " bytes allowed. Simplify it first.");
    const std::string extension = lower_case_extension(name);
    RawMesh raw = read_any(bytes, extension, path, options);
    const double metres = choose_unit(options, extension, raw);
    for (Vec3d& v : raw.mesh.vertices) {
      v *= metres;
      if (!is_finite(v)) throw Error("has a coordinate that is no finite number. Repair or export it again.");
      if (std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}) > options.limits.coordinate)
        throw Error("reaches more than 1000 km from its origin. Check its unit (--unit mm) or move it to the origin.");
    }
    turn_up(raw.mesh, options.up_axis);

    ImportedMesh result{std::move(raw.mesh), {}};
    result.mesh.name = std::filesystem::path(name).stem().string();
    result.report = clean_mesh(result.mesh);
    if (result.mesh.triangles.empty())
      throw Error("holds no triangle with area. Check that it is a surface mesh and not a point cloud or drawing.");
    const Vec3d size = result.report.bounds.size();
    const double largest = std::max({size.x, size.y, size.z});
    if (largest > 100 || largest < 1e-3) {
      char text[128];
      std::snprintf(text, sizeof text, "The part is %.3g m long, which is hardly meant for a hand: is it --unit mm?",
                    largest);
      raw.notes.push_back(text);
    }
    result.report.notes = std::move(raw.notes);
    return result;
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw Error(std::string(name) + ' ' + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(std::string(name) + " needs more memory than there is. Simplify it first.");
  }
}

}  // namespace

ImportedMesh load_mesh(const std::filesystem::path& path, const ImportOptions& options) {
  const std::string name = path.filename().string();
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(path.string() + " does not exist. Check the name.");
  if (std::filesystem::is_directory(status)) throw Error(path.string() + " is a folder. Name a mesh file in it.");
  if (!std::filesystem::is_regular_file(status)) throw Error(path.string() + " is not a file.");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) throw Error(path.string() + " cannot be opened. Check who may read it.");
  if (size > options.limits.file_bytes)
    throw Error(name + " is larger than the " + std::to_string(options.limits.file_bytes) +
                " bytes allowed. Simplify it first.");
  std::vector<std::byte> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size) throw Error(path.string() + " cannot be read to its end.");
  return import_bytes(bytes, name, &path, options);
}

ImportedMesh load_mesh_from_memory(Bytes bytes, std::string_view name, const ImportOptions& options) {
  return import_bytes(bytes, name, nullptr, options);
}

}  // namespace cotouch
