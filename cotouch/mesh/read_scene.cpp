#include <cotouch/base/error.h>
#include <cotouch/mesh/isolate.h>
#include <cotouch/mesh/read_scene.h>
#include <cotouch/mesh/scan.h>
#include <cotouch/mesh/triangulate.h>
#include <cotouch/mesh/zip.h>

#include <assimp/BaseImporter.h>
#include <assimp/DefaultIOSystem.h>
#include <assimp/config.h>
#include <assimp/scene.h>
#include <assimp/DefaultLogger.hpp>
#include <assimp/Importer.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <new>
#include <set>
#include <string_view>
#include <utility>

namespace cotouch {
namespace {

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// ---------------------------------------------------------------- what a file says about itself

// The value of an attribute in the first `element` of an XML text; empty where there is none.
std::string_view xml_attribute(std::string_view text, std::string_view element, std::string_view attribute) {
  const std::size_t begin = text.find(element);
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find('>', begin) - begin);
  for (const char quote : {'"', '\''}) {
    const std::string opening = ' ' + std::string(attribute) + '=' + quote;
    const std::size_t at = text.find(opening);
    if (at == std::string_view::npos) continue;
    text.remove_prefix(at + opening.size());
    return text.substr(0, text.find(quote));
  }
  return {};
}

// By the names 3MF and AMF use. Both mean millimetres where none is given.
double unit_named(std::string_view name) {
  static constexpr std::pair<std::string_view, double> k_units[] = {
      {"", 1e-3},       {"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 1e-2},
      {"inch", 0.0254}, {"foot", 0.3048}, {"feet", 0.3048},     {"meter", 1.0}};
  for (const auto& [known, metres] : k_units)
    if (known == name) return metres;
  throw Error("states its unit as '" + std::string(name.substr(0, 40)) +
              "', which is none that its format knows. Give the right one (--unit mm).");
}

// The text in which Collada files state unit and axes, before anything else.
std::string collada_asset(FileBytes bytes, const std::string& extension) {
  constexpr std::size_t k_beginning = 1 << 16;
  std::string text = extension == "zae" ? zip_beginning(bytes, ".dae", k_beginning)
                                        : std::string(as_text(bytes).substr(0, k_beginning));
  return text.substr(0, text.find("</asset>"));
}

bool is_collada(const std::string& extension) {
  return extension == "dae" || extension == "zae";
}

double stated_unit(const std::string& extension, FileBytes bytes, const aiScene& scene) {
  constexpr std::size_t k_beginning = 4096;
  if (extension == "gltf" || extension == "glb") return 1;
  if (is_collada(extension)) {
    double metres = 0;
    const bool stated = parse_number(xml_attribute(collada_asset(bytes, extension), "<unit", "meter"), metres);
    return stated && metres > 0 && std::isfinite(metres) ? metres : 1;
  }
  if (extension == "3mf")
    return unit_named(xml_attribute(zip_beginning(bytes, ".model", k_beginning), "<model", "unit"));
  if (extension == "amf") {
    const std::string unpacked = zip_beginning(bytes, ".amf", k_beginning);
    return unit_named(
        xml_attribute(unpacked.empty() ? as_text(bytes).substr(0, k_beginning) : unpacked, "<amf", "unit"));
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

char stated_up_axis(const std::string& extension, FileBytes bytes, const aiScene& scene) {
  for (const char* y_up : {"gltf", "glb", "x3d", "x3db", "wrl", "vrml"})
    if (extension == y_up) return 'y';
  for (const char* z_up : {"3mf", "amf", "3ds"})
    if (extension == z_up) return 'z';
  if (is_collada(extension)) {
    const std::string asset = collada_asset(bytes, extension);
    constexpr std::string_view k_element = "<up_axis>";
    const std::size_t at = asset.find(k_element);
    if (at == std::string::npos) return 'y';
    const std::string_view axis = TextScanner(std::string_view(asset).substr(at + k_element.size())).word();
    return axis.starts_with("X_UP") ? 'x' : axis.starts_with("Z_UP") ? 'z' : 'y';
  }
  std::int32_t axis = 0, sign = 0;
  if (extension == "fbx" && scene.mMetaData && scene.mMetaData->Get("UpAxis", axis) &&
      scene.mMetaData->Get("UpAxisSign", sign) && axis >= 0 && axis < 3 && sign > 0)
    return "xyz"[axis];
  return 0;
}

// ---------------------------------------------------------------- assimp

// Remembers which files were asked for.
class RememberedFiles : public Assimp::DefaultIOSystem {
 public:
  Assimp::IOStream* Open(const char* file, const char* mode) override {
    Assimp::IOStream* stream = DefaultIOSystem::Open(file, mode);
    (stream ? read : missing).emplace_back(file);
    return stream;
  }
  std::vector<std::string> read, missing;
};

// assimp's glTF reader leaves out triangles that lack a corner, and says so nowhere but in its log.
class DroppedTriangles : public Assimp::Logger {
 public:
  bool found = false;
  bool attachStream(Assimp::LogStream*, unsigned) override { return false; }
  bool detachStream(Assimp::LogStream*, unsigned) override { return false; }

 protected:
  void OnVerboseDebug(const char*) override {}
  void OnDebug(const char*) override {}
  void OnInfo(const char*) override {}
  void OnWarn(const char* message) override {
    if (std::strstr(message, "faces were dropped") || std::strstr(message, "TRIANGLES mode")) found = true;
  }
  void OnError(const char*) override {}
};

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

[[noreturn]] void refuse(std::string reason, const std::string& extension, const std::filesystem::path* path,
                         const RememberedFiles& files) {
  if (reason.find("bad_alloc") != std::string::npos) throw std::bad_alloc();
  if (!files.missing.empty())
    throw Error("needs the file " + std::filesystem::path(files.missing.front()).filename().string() +
                    ", which cannot be read. Put it beside, or export everything into one file.",
                ErrorCode::not_found);
  // Where the reason names the file or a function, it says nothing that helps.
  for (const std::string& internal : {path ? path->string() : std::string("$$$"), std::string("::")})
    if (reason.find(internal) != std::string::npos) reason.clear();
  std::replace_if(
      reason.begin(), reason.end(), [](unsigned char c) { return std::iscntrl(c); }, ' ');
  if (reason.starts_with("GLTF: ")) reason.erase(0, 6);
  if (reason.size() > 200) reason.resize(200);
  if (reason.ends_with('.')) reason.pop_back();
  throw Error("is damaged or no " + upper_case(extension) + " file" + (reason.empty() ? "" : " (" + reason + ")") +
              ". Export or download it again.");
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
      if (node->mMeshes[i] >= scene.mNumMeshes)
        throw Error("is damaged: it refers to a mesh it does not have. Export it again.");
      const aiMesh* mesh = scene.mMeshes[node->mMeshes[i]];
      if (!mesh || !mesh->mVertices) continue;
      const std::size_t first = out.vertices.size();
      if (first + mesh->mNumVertices > limits.vertices)
        throw Error("has more than the " + std::to_string(limits.vertices) + " vertices allowed. Simplify it first.",
                    ErrorCode::too_large);
      for (unsigned v = 0; v < mesh->mNumVertices; ++v) {
        const aiVector3D p = m * mesh->mVertices[v];
        out.vertices.push_back(Vec3d(Vec3f{p.x, p.y, p.z}));
      }
      for (unsigned f = 0; f < mesh->mNumFaces; ++f) {
        const aiFace& face = mesh->mFaces[f];
        corners.clear();
        for (unsigned k = 0; k < face.mNumIndices; ++k) {
          if (face.mIndices[k] >= mesh->mNumVertices)
            throw Error("is damaged: a face refers to no vertex. Export it again.");
          corners.push_back(static_cast<std::uint32_t>(first + face.mIndices[k]));
        }
        if (mirrored) std::reverse(corners.begin(), corners.end());
        add_polygon(out, corners);
      }
      if (out.triangles.size() > limits.triangles)
        throw Error("has more than the " + std::to_string(limits.triangles) + " triangles allowed. Simplify it first.",
                    ErrorCode::too_large);
    }
  }
}

// The scene's triangles in the numbers and axes of its file.
TriangleMesh read_triangles(Assimp::Importer& importer, FileBytes bytes, const std::string& extension,
                            const std::filesystem::path* path, const MeshLimits& limits, const RememberedFiles& files,
                            DroppedTriangles& dropped) {
  Assimp::DefaultLogger::set(&dropped);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  const aiScene* scene = path ? importer.ReadFile(path->string(), 0)
                              : importer.ReadFileFromMemory(bytes.data(), bytes.size(), 0, extension.c_str());
  if (!scene) refuse(importer.GetErrorString(), extension, path, files);
  if (dropped.found)
    throw Error("is damaged: some of its triangles lack a corner or refer to one that is not there. Export it again.");
  TriangleMesh mesh;
  flatten(*scene, limits, mesh);
  // What assimp changed on its own is changed back: Collada's numbers became metres, the z axis of 3DS became y.
  if (is_collada(extension)) {
    const double metres = stated_unit(extension, bytes, *scene);
    for (Vec3d& v : mesh.vertices) v *= 1 / metres;
  }
  if (extension == "3ds") turn_z_up(mesh, 'y');
  return mesh;
}

// ---------------------------------------------------------------- from child to parent

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
bool take(FileBytes& bytes, std::vector<T>& items) {
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

}  // namespace

bool is_scene_format(const std::string& extension) {
  return !extension.empty() && Assimp::Importer().IsExtensionSupported("." + extension);
}

SceneMesh read_scene(FileBytes bytes, const std::string& extension, const std::filesystem::path* path,
                     const MeshLimits& limits, bool unit_is_known) {
  IsolationLimits isolation;
  isolation.memory_bytes += 40 * std::uint64_t{bytes.size()};
  isolation.seconds = limits.seconds + (bytes.size() >> 20);
  isolation.may_open_files = path != nullptr;
  Assimp::Importer importer;
  keep_readers_of(extension, importer);
  auto* files = new RememberedFiles;
  importer.SetIOHandler(files);  // which owns it from now on
  // Made here, not in the child: the undefined-behaviour sanitizer looks at a new class by way of a pipe, and a child
  // that may open no files can have none.
  DroppedTriangles dropped;
  const std::vector<std::byte> sent = run_isolated(
      [&] {
        const TriangleMesh mesh = read_triangles(importer, bytes, extension, path, limits, *files, dropped);
        const aiScene& scene = *importer.GetScene();
        std::vector<std::byte> out;
        put(out, std::vector<double>{unit_is_known ? 0 : stated_unit(extension, bytes, scene)});
        put(out, std::vector<char>{stated_up_axis(extension, bytes, scene)});
        put(out, mesh.vertices);
        put(out, mesh.triangles);
        for (const std::string& name : files->read) put(out, std::vector<char>(name.begin(), name.end()));
        return out;
      },
      isolation);

  SceneMesh result;
  std::vector<double> unit;
  std::vector<char> up_axis, name;
  FileBytes rest(sent);
  bool whole = take(rest, unit) && take(rest, up_axis) && take(rest, result.mesh.vertices) &&
               take(rest, result.mesh.triangles) && unit.size() == 1 && up_axis.size() == 1;
  for (const Triangle& t : result.mesh.triangles)
    for (const std::uint32_t index : t) whole = whole && index < result.mesh.vertices.size();
  while (whole && take(rest, name)) {
    std::filesystem::path file(std::string(name.begin(), name.end()));
    if (path && file != *path) result.further_files.push_back(std::move(file));
  }
  if (!whole) throw Error("is damaged or no " + upper_case(extension) + " file. Export or download it again.");
  if (unit.front() > 0 && std::isfinite(unit.front())) result.metres_per_unit = unit.front();
  if (std::string_view("xyz").find(up_axis.front()) != std::string_view::npos) result.up_axis = up_axis.front();
  return result;
}

void turn_z_up(TriangleMesh& mesh, char up_axis) {
  if (up_axis == 'y')
    for (Vec3d& v : mesh.vertices) v = {v.x, -v.z, v.y};
  if (up_axis == 'x')
    for (Vec3d& v : mesh.vertices) v = {-v.y, -v.z, v.x};
}

}  // namespace cotouch
