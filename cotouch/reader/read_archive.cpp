#include <cotouch/base/error.h>
#include <cotouch/reader/cad_format.h>
#include <cotouch/reader/read_archive.h>
#include <cotouch/reader/zip.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string_view>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

std::string lower_case_extension(const std::string& name) {
  std::string extension = fs::path(name).extension().string();
  if (!extension.empty()) extension.erase(0, 1);
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

bool points_outside(const fs::path& name) {
  return name.is_absolute() || name.string().find(':') != std::string::npos ||
         std::any_of(name.begin(), name.end(), [](const fs::path& step) { return step == ".."; });
}

// What some programs add for themselves.
bool is_clutter(const fs::path& name) {
  return name.begin() != name.end() && (*name.begin() == "__MACOSX" || name.filename().string().starts_with('.'));
}

// The archive's files, unpacked when somebody asks for them and kept; all of them together within the limit.
class Unpacked {
 public:
  Unpacked(const ZipArchive& archive, std::uint64_t most) : archive_(archive), left_(most) {
    for (const ZipEntry& entry : archive.entries()) entries_[fs::path(entry.name).lexically_normal().string()] = &entry;
  }

  std::optional<FileBytes> find(const std::string& name) {
    const auto known = files_.find(name);
    if (known != files_.end()) return known->second;
    const auto found = entries_.find(name);
    if (found == entries_.end()) return std::nullopt;
    std::vector<std::byte> bytes = archive_.unpack(*found->second, left_);
    left_ -= bytes.size();
    return files_[name] = std::move(bytes);
  }

 private:
  const ZipArchive& archive_;
  std::uint64_t left_;
  std::map<std::string, const ZipEntry*> entries_;
  std::map<std::string, std::vector<std::byte>> files_;
};

// Names are relative to the folder of the file that refers to them.
class BesideInArchive final : public FurtherFiles {
 public:
  BesideInArchive(Unpacked& files, fs::path folder) : files_(files), folder_(std::move(folder)) {}
  std::optional<FileBytes> find(const std::string& name) override {
    return files_.find((folder_ / name).lexically_normal().string());
  }

 private:
  Unpacked& files_;
  fs::path folder_;
};

}  // namespace

std::vector<RawMesh> read_archive(FileBytes bytes, const ReadSettings& settings) {
  const ZipArchive archive(bytes);
  std::vector<std::string> names;
  bool holds_cad = false;
  for (const ZipEntry& entry : archive.entries()) {
    if (points_outside(entry.name))
      throw Error("holds a file named '" + entry.name.substr(0, 80) + "', which points outside of it. Pack it again.",
                  ErrorCode::damaged_file);
    const std::string name = fs::path(entry.name).lexically_normal().string();
    const std::string extension = lower_case_extension(name);
    if (name.ends_with('/') || is_clutter(name)) continue;
    const bool is_cad = !cad_format_named(extension).empty();
    holds_cad = holds_cad || is_cad;
    // An archive within an archive is for somebody else to open.
    if (!is_cad && is_mesh_format(extension)) names.push_back(name);
  }
  if (names.empty())
    throw Error(std::string("holds no mesh file") + (holds_cad ? ", only CAD files, which are not read yet" : "") +
                    ". Pack STL, OBJ, PLY, glTF, GLB or 3MF files.",
                ErrorCode::unsupported);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());

  Unpacked files(archive, settings.limits.unpacked_bytes);
  std::vector<RawMesh> meshes;
  ReadSettings left = settings;
  for (const std::string& name : names) {
    try {
      const std::optional<FileBytes> file = files.find(name);
      BesideInArchive beside(files, fs::path(name).parent_path());
      for (RawMesh& raw : read_any(*file, lower_case_extension(name), left, beside)) {
        raw.mesh.name = fs::path(name).stem().string();
        left.limits.triangles -= std::min(left.limits.triangles, raw.mesh.triangles.size());
        left.limits.vertices -= std::min(left.limits.vertices, raw.mesh.vertices.size());
        meshes.push_back(std::move(raw));
      }
    } catch (const Error& error) {
      throw Error("cannot be used: its file " + name.substr(0, 200) + ' ' + error.what(), error.code());
    }
  }
  return meshes;
}

}  // namespace cotouch
