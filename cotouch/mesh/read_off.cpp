#include <cotouch/base/error.h>
#include <cotouch/mesh/readers.h>
#include <cotouch/mesh/scan.h>
#include <cotouch/mesh/triangulate.h>

namespace cotouch {
namespace {

[[noreturn]] void refuse(std::size_t line, const char* what) {
  throw Error("is damaged in line " + std::to_string(line) + ": " + what + ". Export it again.");
}

struct Counts {
  std::uint64_t vertices = 0, faces = 0;
};

// The word OFF, in some files with letters before it for what else the vertices carry, then the counts in the same
// line or the next one. Files without that word exist too.
Counts read_header(ContentLines& lines) {
  if (!lines.next()) throw Error("is no OFF file: it holds nothing but comments.");
  TextScanner after = lines.words();
  const std::string_view opening = after.word();
  if (opening.ends_with("OFF")) {
    if (opening.find_first_of("4n") != std::string_view::npos)
      throw Error("is an OFF file of more than three dimensions, which cannot be touched.", ErrorCode::unsupported);
    if (TextScanner(after).word() == "BINARY")
      throw Error("is a binary OFF file, which is not read. Export it as text, or as STL or PLY.",
                  ErrorCode::unsupported);
    lines.words() = after;
    if (TextScanner(after).word().empty() && !lines.next())
      throw Error("is cut short: it says nothing after 'OFF'. Export or download it again.");
  }
  Counts counts;
  if (!parse_number(lines.words().word(), counts.vertices) || !parse_number(lines.words().word(), counts.faces))
    throw Error("is no OFF file: it does not begin with the numbers of its vertices and faces. Check its ending.");
  return counts;
}

[[noreturn]] void cut_short(const char* what, std::uint64_t found, std::uint64_t promised) {
  throw Error("is cut short: it promises " + std::to_string(promised) + ' ' + what + " and has " +
              std::to_string(found) + ". Export or download it again.");
}

}  // namespace

TriangleMesh read_off(FileBytes file, const MeshLimits& limits, std::vector<std::string>& notes) {
  ContentLines lines(as_text(file));
  const Counts counts = read_header(lines);
  if (counts.vertices > limits.vertices)
    throw Error("has " + std::to_string(counts.vertices) + " vertices, more than the " +
                    std::to_string(limits.vertices) + " allowed. Simplify it first.",
                ErrorCode::too_large);
  TriangleMesh mesh;
  for (std::uint64_t i = 0; i < counts.vertices; ++i) {
    if (!lines.next()) cut_short("vertices", i, counts.vertices);
    Vec3d v;
    for (std::size_t k = 0; k < 3; ++k)
      if (!parse_number(lines.words().word(), v[k])) refuse(lines.number(), "it should hold three coordinates");
    mesh.vertices.push_back(v);
  }
  std::vector<std::uint32_t> corners;
  for (std::uint64_t i = 0; i < counts.faces; ++i) {
    if (!lines.next()) cut_short("faces", i, counts.faces);
    std::uint64_t size = 0;
    if (!parse_number(lines.words().word(), size)) refuse(lines.number(), "it should begin with a number of corners");
    corners.clear();
    // After the corners there may be a colour.
    for (std::uint64_t k = 0; k < size; ++k) {
      std::uint32_t index = 0;
      if (!parse_number(lines.words().word(), index)) refuse(lines.number(), "a face lacks a corner");
      if (index >= mesh.vertices.size())
        throw Error("is damaged: line " + std::to_string(lines.number()) + " refers to vertex " +
                    std::to_string(index) + " of " + std::to_string(mesh.vertices.size()) + ". Export it again.");
      corners.push_back(index);
    }
    add_polygon(mesh, corners);
    if (mesh.triangles.size() > limits.triangles)
      throw Error("has more than the " + std::to_string(limits.triangles) + " triangles allowed. Simplify it first.",
                  ErrorCode::too_large);
  }
  if (lines.next()) notes.emplace_back("The file goes on after its last face; the rest was ignored.");
  return mesh;
}

}  // namespace cotouch
