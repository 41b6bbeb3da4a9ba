#include <cotouch/base/error.h>
#include <cotouch/mesh/triangulate.h>
#include <cotouch/reader/read_scene.h>
#include <cotouch/reader/stated.h>

#include <assimp/BaseImporter.h>
#include <assimp/MemoryIOWrapper.h>
#include <assimp/config.h>
#include <assimp/scene.h>
#include <assimp/DefaultLogger.hpp>
#include <assimp/IOSystem.hpp>
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

// The name under which assimp gets to know the file. Its folder is nowhere.
constexpr const char* k_stem = "mesh-being-read";

// The file that is read and those that it refers to; assimp opens nothing by itself.
class GivenFiles final : public Assimp::IOSystem {
 public:
  GivenFiles(std::string name, FileBytes bytes, FurtherFiles& further)
      : name_(std::move(name)), bytes_(bytes), further_(further) {}

  bool Exists(const char* file) const override { return find(file).has_value(); }
  char getOsSeparator() const override { return '/'; }
  Assimp::IOStream* Open(const char* file, const char* mode) override {
    const std::optional<FileBytes> found = std::strchr(mode, 'w') == nullptr ? find(file) : std::nullopt;
    if (!found) {
      missing.emplace_back(file);
      return nullptr;
    }
    return new Assimp::MemoryIOStream(reinterpret_cast<const std::uint8_t*>(found->data()), found->size(), false);
  }
  void Close(Assimp::IOStream* stream) override { delete stream; }

  std::vector<std::string> missing;

 private:
  std::optional<FileBytes> find(std::string name) const {
    while (name.starts_with("./")) name.erase(0, 2);
    return name == name_ ? bytes_ : further_.find(name);
  }

  std::string name_;
  FileBytes bytes_;
  FurtherFiles& further_;
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

[[noreturn]] void refuse(std::string reason, const std::string& extension, const GivenFiles& files) {
  if (reason.find("bad_alloc") != std::string::npos) throw std::bad_alloc();
  if (!files.missing.empty())
    throw Error("needs the file " + std::filesystem::path(files.missing.front()).filename().string() +
                    ", which cannot be read. Put it beside, or export everything into one file.",
                ErrorCode::not_found);
  // Where the reason names the file or a function, it says nothing that helps.
  for (const char* internal : {k_stem, "::"})
    if (reason.find(internal) != std::string::npos) reason.clear();
  std::replace_if(
      reason.begin(), reason.end(), [](unsigned char c) { return std::iscntrl(c); }, ' ');
  if (reason.starts_with("GLTF: ")) reason.erase(0, 6);
  if (reason.size() > 200) reason.resize(200);
  if (reason.ends_with('.')) reason.pop_back();
  throw Error("is damaged or no " + upper_case(extension) + " file" + (reason.empty() ? "" : " (" + reason + ")") +
              ". Export or download it again.");
}

// What a user would call this node: its own name, or that of its first mesh.
std::string name_of(const aiScene& scene, const aiNode& node) {
  std::string name = node.mName.C_Str();
  if (name.empty() && scene.mMeshes[node.mMeshes[0]]) name = scene.mMeshes[node.mMeshes[0]]->mName.C_Str();
  return name;
}

// Adds every instance of every mesh in the scene, moved by the transforms of the nodes above it. Each node that has
// meshes is a piece.
void flatten(const aiScene& scene, const MeshLimits& limits, RawMesh& raw) {
  TriangleMesh& out = raw.mesh;
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
    const std::size_t vertices_before = out.vertices.size(), triangles_before = out.triangles.size();
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
    if (out.triangles.size() > triangles_before)
      raw.pieces.push_back(
          {name_of(scene, *node), out.vertices.size() - vertices_before, out.triangles.size() - triangles_before});
    else
      out.vertices.resize(vertices_before);
  }
}

}  // namespace

bool is_scene_format(const std::string& extension) {
  return !extension.empty() && Assimp::Importer().IsExtensionSupported("." + extension);
}

RawMesh read_scene(FileBytes bytes, const std::string& extension, const ReadSettings& settings, FurtherFiles& further) {
  Assimp::Importer importer;
  keep_readers_of(extension, importer);
  const std::string name = std::string(k_stem) + "." + extension;
  auto* files = new GivenFiles(name, bytes, further);
  importer.SetIOHandler(files);  // which owns it from now on
  // A new one each time: the importer deletes the logger that was there before.
  auto* dropped = new DroppedTriangles;
  Assimp::DefaultLogger::set(dropped);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  const aiScene* scene = importer.ReadFile(name, 0);
  const bool lacks_triangles = dropped->found;
  Assimp::DefaultLogger::kill();
  if (!scene) refuse(importer.GetErrorString(), extension, *files);
  if (lacks_triangles)
    throw Error("is damaged: some of its triangles lack a corner or refer to one that is not there. Export it again.");
  RawMesh raw;
  flatten(*scene, settings.limits, raw);
  const Stated stated = what_is_stated(extension, bytes, *scene, settings.unit_is_known);
  raw.metres_per_unit = stated.metres_per_unit;
  raw.up_axis = stated.up_axis;
  // What assimp changed on its own is changed back: Collada's numbers became metres, the z axis of 3DS became y.
  if (is_collada(extension))
    for (Vec3d& v : raw.mesh.vertices) v *= 1 / stated.metres_per_unit;
  if (extension == "3ds") turn_z_up(raw.mesh, 'y');
  return raw;
}

}  // namespace cotouch
