// What is odd about a mesh, told to the user; and the little cleaning that loses nothing.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cotouch {

// How many triangles cross another one, estimated by looking at evenly spread triangles and all their neighbours.
// Touching along shared corners and overlap within one plane do not count.
struct SelfIntersections {
  std::size_t tested = 0;    // triangles looked at
  std::size_t crossing = 0;  // of those, how many cross another triangle
};
// Looks for no more than `most_triangles` triangles whether they cross others, and to that end at no more than
// `most_looks` boxes and triangles.
SelfIntersections find_self_intersections(const TriangleMesh& mesh, std::size_t most_triangles = 20'000,
                                          std::size_t most_looks = 10'000'000);

struct MeshReport {
  // As read.
  std::size_t vertices_read = 0, triangles_read = 0;
  // Taken away by cleaning.
  std::size_t welded = 0;        // vertices at the place of another one
  std::size_t without_area = 0;  // triangles whose height is lost in rounding
  std::size_t duplicates = 0;    // triangles with the same three corners as another one, in any order
  // What is left. An edge is open with one triangle, non-manifold with more than two, and inconsistent when its two
  // triangles face different ways.
  std::size_t vertices = 0, triangles = 0;
  std::size_t components = 0;  // connected through shared corners
  std::size_t open_edges = 0, nonmanifold_edges = 0, inconsistent_edges = 0;
  std::size_t openings = 0;  // groups of open edges that hang together: holes, and the rims of sheets
  SelfIntersections crossings;
  Box3d bounds;                     // metres
  double area = 0;                  // square metres
  std::optional<double> volume;     // cubic metres, of a closed mesh
  std::vector<std::string> notes;   // what was assumed about the file, a sentence each
  std::vector<std::string> doubts;  // what else looks wrong, a sentence each

  bool closed() const { return open_edges == 0 && nonmanifold_edges == 0 && inconsistent_edges == 0; }
  // What is odd, in lines for the user; empty for a sound mesh.
  std::vector<std::string> warnings() const;
  // The whole report: what it is, what was cleaned, what is odd, the notes.
  std::vector<std::string> lines() const;
};

// Joins vertices in the same place, drops triangles without area and repeated ones and the vertices nothing refers to,
// and reports what it found. The order of what stays is kept. Vertices must be finite; whether anything is left is for
// the caller to judge.
//
// The same place is where only rounding tells two vertices apart, such as the many poles of a sphere made from sines:
// those within 1e-10 of the mesh's diagonal are joined, and never any that are 3e-9 of it apart.
MeshReport clean_mesh(TriangleMesh& mesh);

}  // namespace cotouch
