#include <cotouch/field/pieces.h>

#include <cotouch/base/cancel.h>

namespace cotouch {

std::optional<std::array<std::array<Vec3d, 3>, 2>> halve(const std::array<Vec3d, 3>& t, double length) {
  std::size_t longest = 0;
  double squared = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double l = norm_squared(t[(i + 1) % 3] - t[i]);
    if (l > squared) {
      squared = l;
      longest = i;
    }
  }
  if (squared <= length * length) return std::nullopt;
  const Vec3d &a = t[longest], &b = t[(longest + 1) % 3], &c = t[(longest + 2) % 3];
  const Vec3d middle = (a + b) * 0.5;
  return {{{{a, middle, c}, {middle, b, c}}}};
}

std::size_t count_pieces(const std::array<Vec3d, 3>& triangle, double length, std::size_t most) {
  const auto halves = halve(triangle, length);
  if (!halves) return 1;
  const std::size_t first = count_pieces((*halves)[0], length, most);
  return first > most ? first : first + count_pieces((*halves)[1], length, most - first);
}

double piece_length(const TriangleMesh& mesh, double shortest, std::size_t most) {
  most += mesh.triangles.size();
  for (double length = shortest;; length *= 1.25) {
    throw_if_cancelled();
    std::size_t pieces = 0;
    for (std::size_t t = 0; t < mesh.triangles.size() && pieces <= most; ++t)
      pieces += count_pieces(mesh.corners(t), length, most - pieces);
    if (pieces <= most) return length;
  }
}

void add_triangle(TriangleMesh& mesh, const std::array<Vec3d, 3>& corners) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), corners.begin(), corners.end());
  mesh.triangles.push_back({first, first + 1, first + 2});
}

}  // namespace cotouch
