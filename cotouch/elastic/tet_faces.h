// Which faces the tetrahedra of a mesh share: its surface, and the pieces that hold together.
#pragma once

#include <cotouch/elastic/tet_mesh.h>
#include <cotouch/mesh/mesh.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cotouch {

// The faces that belong to one tetrahedron only, facing outward, in the order of their tetrahedra.
struct TetSurface {
  TriangleMesh mesh;
  std::vector<std::uint32_t> node;  // of the tetrahedra, for each vertex; ascending
  std::vector<std::uint32_t> tet;   // behind each triangle
};
TetSurface surface_of(const TetMesh& mesh);

// The first tetrahedron that lies on the same side of one of its faces as an earlier one, so that both overlap, or
// tets.size(). Without such, no face has more than two tetrahedra.
std::size_t first_overlapping(const TetMesh& mesh);

// Tetrahedra are of one piece if a path from one to the other crosses faces only. What hangs on an edge or a corner is
// a piece of its own, because it can swing there: each piece that nothing anchors has rigid motions of its own.
struct TetPieces {
  std::vector<std::uint32_t> of_tet;  // the number of each tetrahedron's piece; numbered as they come
  std::vector<double> volume;         // of each piece, m^3
};
TetPieces pieces_of(const TetMesh& mesh);
std::uint32_t components(const TetMesh& mesh);
// A sentence for the user about a mesh of several pieces; empty if there is one.
std::string describe_pieces(const TetPieces& pieces);
// The piece with the largest volume alone, without the nodes of the others.
TetMesh largest_piece(const TetMesh& mesh, const TetPieces& pieces);

// Drops the nodes that no tetrahedron has; the others keep their order. Returns how many were dropped.
std::size_t drop_unused_nodes(TetMesh& mesh);

}  // namespace cotouch
