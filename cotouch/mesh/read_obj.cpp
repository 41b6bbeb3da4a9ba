#include <cotouch/base/error.h>
#include <cotouch/mesh/readers.h>
#include <cotouch/mesh/scan.h>
#include <cotouch/mesh/triangulate.h>

namespace cotouch {
namespace {

bool is_keyword(std::string_view word) {
  for (const char* known : {"v", "f", "vt", "vn", "vp", "o", "g", "s", "l", "p", "mtllib", "usemtl", "curv", "surf"})
    if (word == known) return true;
  return false;
}

// The vertex a face refers to: counted from one, or backwards from the last with a minus. Texture and normal indices
// follow after slashes.
std::uint32_t vertex_index(std::string_view word, std::size_t vertices, std::size_t line) {
  long long index = 0;
  if (!parse_number(word.substr(0, word.find('/')), index) || index == 0)
    throw Error("is damaged in line " + std::to_string(line) + ": '" + std::string(word.substr(0, 40)) +
                "' is no vertex number. Export it again.");
  const long long at = index > 0 ? index - 1 : static_cast<long long>(vertices) + index;
  if (at < 0 || at >= static_cast<long long>(vertices))
    throw Error("is damaged or cut short: line " + std::to_string(line) + " refers to vertex " + std::to_string(index) +
                " of " + std::to_string(vertices) + ". Export it again.");
  return static_cast<std::uint32_t>(at);
}

}  // namespace

TriangleMesh read_obj(FileBytes file, const MeshLimits& limits, std::vector<std::string>&) {
  TriangleMesh mesh;
  TextScanner lines(as_text(file));
  std::string_view line;
  std::string joined;
  std::vector<std::uint32_t> corners;
  bool understood = false;
  for (std::size_t number = 1; lines.line(line); ++number) {
    // A backslash at the end continues the line.
    joined.clear();
    std::string_view next = line;
    while (!next.empty() && next.back() == '\\') {
      joined.append(next.substr(0, next.size() - 1)).push_back(' ');
      ++number;
      if (!lines.line(next)) next = {};
      if (next.empty() || next.back() != '\\') joined.append(next);
    }
    const std::string_view whole = joined.empty() ? line : std::string_view(joined);
    TextScanner words(whole.substr(0, whole.find('#')));  // the rest is a comment
    const std::string_view kind = words.word();
    understood = understood || is_keyword(kind);
    if (kind == "v") {
      Vec3d v;
      for (std::size_t i = 0; i < 3; ++i)
        if (!parse_number(words.word(), v[i]))
          throw Error("is damaged or cut short: line " + std::to_string(number) +
                      " should hold three coordinates. Export it again.");
      mesh.vertices.push_back(v);
      if (mesh.vertices.size() > limits.vertices)
        throw Error("has more than the " + std::to_string(limits.vertices) + " vertices allowed. Simplify it first.",
                    ErrorCode::too_large);
    } else if (kind == "f") {
      corners.clear();
      for (std::string_view word = words.word(); !word.empty(); word = words.word())
        corners.push_back(vertex_index(word, mesh.vertices.size(), number));
      add_polygon(mesh, corners);
      if (mesh.triangles.size() > limits.triangles)
        throw Error("has more than the " + std::to_string(limits.triangles) + " triangles allowed. Simplify it first.",
                    ErrorCode::too_large);
    }
  }
  if (!understood)
    throw Error("is no OBJ file: not one of its lines is of the kind that OBJ files have. Check its ending.");
  return mesh;
}

}  // namespace cotouch
