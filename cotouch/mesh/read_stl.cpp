#include <cotouch/base/error.h>
#include <cotouch/mesh/readers.h>
#include <cotouch/mesh/scan.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace cotouch {
namespace {

static_assert(std::endian::native == std::endian::little, "binary files are little-endian");

// Eighty bytes of anything, a count, then fifty bytes a triangle: normal, three corners, a number.
constexpr std::size_t k_header = 84;
constexpr std::size_t k_record = 50;

void add_triangle(TriangleMesh& mesh, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), {a, b, c});
  mesh.triangles.push_back({first, first + 1, first + 2});
}

TriangleMesh read_binary(FileBytes file, std::uint32_t count, const MeshLimits& limits,
                         std::vector<std::string>& notes) {
  const std::size_t room = (file.size() - k_header) / k_record;
  if (room < count)
    throw Error("is cut short: it promises " + std::to_string(count) + " triangles and has " + std::to_string(room) +
                ". Export or download it again.");
  if (count > limits.triangles)
    throw Error("has " + std::to_string(count) + " triangles, more than the " + std::to_string(limits.triangles) +
                    " allowed. Simplify it first.",
                ErrorCode::too_large);
  if (file.size() > k_header + std::size_t{count} * k_record)
    notes.push_back("The file goes on after its last triangle; the rest was ignored.");
  TriangleMesh mesh;
  mesh.vertices.reserve(3 * std::size_t{count});
  mesh.triangles.reserve(count);
  for (std::size_t t = 0; t < count; ++t) {
    float values[12];
    std::memcpy(values, file.data() + k_header + t * k_record, sizeof values);
    const auto corner = [&](std::size_t i) { return Vec3d(Vec3f{values[i], values[i + 1], values[i + 2]}); };
    add_triangle(mesh, corner(3), corner(6), corner(9));
  }
  return mesh;
}

TriangleMesh read_text(std::string_view text, const MeshLimits& limits, std::vector<std::string>& notes) {
  TriangleMesh mesh;
  TextScanner scanner(text);
  std::vector<Vec3d> loop;
  bool ended = false, within_facet = false;
  for (std::string_view word = scanner.word(); !word.empty(); word = scanner.word()) {
    if (word == "vertex" || word == "VERTEX") {
      Vec3d v;
      for (std::size_t i = 0; i < 3; ++i)
        if (!parse_number(scanner.word(), v[i]))
          throw Error("is damaged or cut short in triangle " + std::to_string(mesh.triangles.size() + 1) +
                      ": a corner has no three numbers. Export or download it again.");
      loop.push_back(v);
      if (loop.size() > limits.triangles) throw Error("has a facet with too many corners. Export it again.");
    } else if (word == "facet" || word == "FACET") {
      within_facet = true;
    } else if (word == "endfacet" || word == "ENDFACET") {
      within_facet = false;
      // A facet is a triangle; a few programs write convex polygons.
      for (std::size_t i = 1; i + 1 < loop.size(); ++i) add_triangle(mesh, loop[0], loop[i], loop[i + 1]);
      loop.clear();
      if (mesh.triangles.size() > limits.triangles)
        throw Error("has more than the " + std::to_string(limits.triangles) + " triangles allowed. Simplify it first.",
                    ErrorCode::too_large);
    } else if (word == "solid" || word == "SOLID") {
      ended = false;
      std::string_view name;
      scanner.line(name);  // may be any words
    } else if (word == "endsolid" || word == "ENDSOLID") {
      ended = true;
      std::string_view name;
      scanner.line(name);
    }
  }
  if (within_facet || !loop.empty())
    throw Error("is cut short: it stops within triangle " + std::to_string(mesh.triangles.size() + 1) +
                ". Export or download it again.");
  if (!ended) notes.emplace_back("The file ends without its closing line; if triangles are missing, it was cut short.");
  return mesh;
}

// Some other kind of file: text all through its beginning, where a binary STL has its numbers, or one that says so.
bool is_something_else(std::string_view file) {
  for (const char* mark : {"\x89PNG", "\xFF\xD8\xFF", "GIF8", "%PDF", "PK\3\4", "\x1F\x8B", "glTF", "ply"})
    if (file.starts_with(mark)) return true;
  const std::string_view beginning = file.substr(0, 512);
  return std::all_of(beginning.begin(), beginning.end(),
                     [](unsigned char c) { return c >= ' ' || c == '\n' || c == '\r' || c == '\t'; });
}

}  // namespace

TriangleMesh read_stl(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes) {
  std::uint32_t count = 0;
  const bool has_header = file.size() >= k_header;
  if (has_header) std::memcpy(&count, file.data() + k_header - sizeof count, sizeof count);
  // Some programs begin binary files with "solid" too, so a size that fits the count decides first.
  if (has_header && file.size() == k_header + std::size_t{count} * k_record)
    return read_binary(file, count, limits, notes);
  const std::string_view text = as_text(file);
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const std::string_view opening = start == std::string_view::npos ? "" : text.substr(start, 5);
  const bool looks_like_text =
      (opening == "solid" || opening == "SOLID") && text.substr(0, 1024).find('\0') == std::string_view::npos;
  if (looks_like_text) return read_text(text, limits, notes);
  const bool fits = has_header && (file.size() - k_header) / k_record >= count;
  if (!fits && is_something_else(text))
    throw Error("is no STL file: it neither begins with 'solid' nor holds numbers as a binary one. Check its ending.");
  if (!has_header) throw Error("is cut short: an STL file has at least 84 bytes. Export or download it again.");
  return read_binary(file, count, limits, notes);
}

}  // namespace cotouch
