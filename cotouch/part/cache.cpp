#include <cotouch/base/error.h>
#include <cotouch/base/hash.h>
#include <cotouch/part/asset.h>
#include <cotouch/part/cache.h>
#include <cotouch/part/preparation_version.h>  // made by cmake/preparation_version.cmake

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace cotouch {
namespace {

namespace fs = std::filesystem;

// A million-point part takes about 100 MB.
constexpr std::uintmax_t k_cache_limit = std::uintmax_t{4} << 30;

fs::path entry_path(std::uint64_t key) {
  const fs::path folder = cache_folder();
  return folder.empty() ? fs::path() : folder / (hex(key) + ".cot");
}

void drop_longest_unused(const fs::path& folder) {
  struct Entry {
    fs::file_time_type used;
    fs::path path;
    std::uintmax_t size;
  };
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    if (!file.is_regular_file() || file.path().extension() != ".cot") continue;
    entries.push_back({file.last_write_time(), file.path(), file.file_size()});
    total += entries.back().size;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used != b.used ? a.used < b.used : a.path < b.path; });
  for (const Entry& entry : entries) {
    if (total <= k_cache_limit) return;
    fs::remove(entry.path);
    total -= entry.size;
  }
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Nodes are kept in single precision.
bool has_tets(const Part& part, const TetMesh& tets) {
  if (!part.elastic) return false;
  const ElasticData& data = part.elastic->data();
  return std::equal(data.tets.begin(), data.tets.end(), tets.tets.begin(), tets.tets.end()) &&
         std::equal(data.nodes.begin(), data.nodes.end(), tets.nodes.begin(), tets.nodes.end(),
                    [](const Vec3f& kept, const Vec3d& node) { return kept == Vec3f(node); });
}

}  // namespace

fs::path cache_folder() {
  if (const char* folder = environment("COTOUCH_CACHE")) return folder;
  if (const char* folder = environment("XDG_CACHE_HOME")) return fs::path(folder) / "cotouch";
  if (const char* folder = environment("HOME")) return fs::path(folder) / ".cache" / "cotouch";
  return {};
}

std::uint64_t cache_key(const TriangleMesh& mesh, const PartSettings& settings, const TetMesh* tets) {
  Hasher hasher;
  hasher.add(k_asset_version);
  hasher.add(std::string_view(k_preparation_version));
  hasher.add(settings.field.resolution);
  hasher.add(settings.field.sheet_thickness);
  hasher.add(settings.shell.points);
  hasher.add(settings.shell.offset);
  hasher.add(settings.shell.seed);
  if (const std::optional<ElasticSettings>& elastic = settings.elastic) {
    const Material& m = elastic->material;
    for (const double v : {m.young, m.poisson, m.density, m.mass_damping, m.stiffness_damping, elastic->tets.edge})
      hasher.add(v);
    hasher.add(static_cast<std::uint32_t>(elastic->law));
    for (const std::uint32_t v : {elastic->coordinates, elastic->domains, elastic->tets.target_tets}) hasher.add(v);
    for (const Anchor& anchor : elastic->anchors) hasher.add(std::string_view(to_string(anchor)));
  }
  // Counts first: without them, bytes could move between the two arrays unnoticed.
  hasher.add(mesh.vertices.size());
  hasher.add(mesh.triangles.size());
  hasher.add_bytes(std::as_bytes(std::span(mesh.vertices)));
  hasher.add_bytes(std::as_bytes(std::span(mesh.triangles)));
  if (tets != nullptr) {
    hasher.add(tets->nodes.size());
    hasher.add(tets->tets.size());
    hasher.add_bytes(std::as_bytes(std::span(tets->nodes)));
    hasher.add_bytes(std::as_bytes(std::span(tets->tets)));
  }
  return hasher.digest();
}

std::optional<Part> load_cached(std::uint64_t key) {
  const fs::path path = entry_path(key);
  std::error_code error;
  if (path.empty() || !fs::is_regular_file(path, error)) return {};
  try {
    Part part = read_asset(path);
    fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // when it was last of use
    return part;
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& refused) {
    // Too many open files or too little memory are not the entry's fault.
    if (refused.code() == ErrorCode::damaged_file || refused.code() == ErrorCode::unsupported) fs::remove(path, error);
    return {};
  }
}

void store_cached(std::uint64_t key, const Part& part) noexcept {
  try {
    const fs::path path = entry_path(key);
    if (path.empty()) return;
    fs::create_directories(path.parent_path());
    write_asset(part, path);
    drop_longest_unused(path.parent_path());
  } catch (const std::exception&) {
    // A read-only home or a full disk: the next run prepares again.
  }
}

Part prepare_cached(const TriangleMesh& mesh, const PartSettings& settings, Progress& progress, const TetMesh* tets) {
  const std::uint64_t key = cache_key(mesh, settings, tets);
  std::optional<Part> kept = load_cached(key);
  // A different part under the same key is next to impossible, and cheap to rule out.
  if (kept && kept->settings == settings && kept->mesh.vertices == mesh.vertices &&
      kept->mesh.triangles == mesh.triangles && (tets == nullptr || has_tets(*kept, *tets))) {
    kept->name = kept->mesh.name = mesh.name;  // the name is not part of the content
    return std::move(*kept);
  }
  Part part = prepare_part(mesh, settings, progress, tets);
  store_cached(key, part);
  return part;
}

}  // namespace cotouch
