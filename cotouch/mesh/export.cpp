#include <cotouch/base/error.h>
#include <cotouch/base/file.h>
#include <cotouch/mesh/export.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

namespace cotouch {
namespace {

static_assert(std::endian::native == std::endian::little, "binary files are little-endian");

template <class T>
void put(std::string& out, const T& value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

// The shortest text that reads back as the same number.
void put_text(std::string& out, double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

}  // namespace

void write_obj(const TriangleMesh& mesh, const std::filesystem::path& path) {
  std::string out = "# metres\n";
  for (const Vec3d& v : mesh.vertices) {
    out += "v ";
    put_text(out, v.x);
    out += ' ';
    put_text(out, v.y);
    out += ' ';
    put_text(out, v.z);
    out += '\n';
  }
  for (const auto& [a, b, c] : mesh.triangles)
    out += "f " + std::to_string(a + 1) + ' ' + std::to_string(b + 1) + ' ' + std::to_string(c + 1) + '\n';
  write_file(path, out);
}

void write_stl(const TriangleMesh& mesh, const std::filesystem::path& path) {
  if (mesh.triangles.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error("Cannot write " + path.string() + ": STL files count their triangles with 32 bits.");
  std::string out(80, ' ');
  put(out, static_cast<std::uint32_t>(mesh.triangles.size()));
  out.reserve(84 + 50 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.corners(t);
    for (const Vec3d& v : {normalized(cross(b - a, c - a)), a, b, c}) put(out, Vec3f(v));
    put(out, std::uint16_t{0});
  }
  write_file(path, out);
}

void write_ply(const TriangleMesh& mesh, const std::filesystem::path& path) {
  std::string out = "ply\nformat binary_little_endian 1.0\ncomment metres\nelement vertex " +
                    std::to_string(mesh.vertices.size()) +
                    "\nproperty double x\nproperty double y\nproperty double z\nelement face " +
                    std::to_string(mesh.triangles.size()) + "\nproperty list uchar uint vertex_indices\nend_header\n";
  out.reserve(out.size() + 24 * mesh.vertices.size() + 13 * mesh.triangles.size());
  for (const Vec3d& v : mesh.vertices) put(out, v);
  for (const Triangle& t : mesh.triangles) {
    put(out, std::uint8_t{3});
    put(out, t);
  }
  write_file(path, out);
}

}  // namespace cotouch
