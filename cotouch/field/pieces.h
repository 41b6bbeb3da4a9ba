// Triangles in pieces: what is true of one end of a large triangle need not be true of the other.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <array>
#include <cstddef>
#include <optional>

namespace cotouch {

// The halves of a triangle whose longest edge is longer than `length`.
std::optional<std::array<std::array<Vec3d, 3>, 2>> halve(const std::array<Vec3d, 3>& triangle, double length);
// Into how many pieces without longer edges a triangle is cut by that; stops counting beyond `most`.
std::size_t count_pieces(const std::array<Vec3d, 3>& triangle, double length, std::size_t most);
// How long the edges of pieces should be: `shortest`, and more where the pieces of `mesh` would be more than its
// triangles and `most` together. So neither time nor memory grows beyond the input by more than that, however large the
// triangles are.
constexpr std::size_t k_most_pieces = 200'000;
double piece_length(const TriangleMesh& mesh, double shortest, std::size_t most = k_most_pieces);

void add_triangle(TriangleMesh& mesh, const std::array<Vec3d, 3>& corners);

}  // namespace cotouch
