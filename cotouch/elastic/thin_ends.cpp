#include <cotouch/elastic/thin_ends.h>

#include <cotouch/base/cancel.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/mesh/closest.h>

#include <algorithm>
#include <numeric>

namespace cotouch {
namespace {

// The vertices within a place, each with the piece of the surface that it belongs to there.
class Pieces {
 public:
  Pieces(const TriangleMesh& surface, const std::function<bool(const Vec3d&)>& inside)
      : towards_(surface.vertices.size()), reached_(surface.vertices.size()) {
    std::iota(towards_.begin(), towards_.end(), 0U);
    for (std::uint32_t v = 0; v < towards_.size(); ++v)
      if (inside(surface.vertices[v])) vertices_.push_back(v);
    std::vector<bool> is_inside(towards_.size());
    for (const std::uint32_t v : vertices_) is_inside[v] = true;
    for (const Triangle& t : surface.triangles)
      for (std::size_t i = 0; i < 3; ++i)
        if (const std::uint32_t a = t[i], b = t[(i + 1) % 3]; is_inside[a] && is_inside[b]) join(a, b);
  }

  const std::vector<std::uint32_t>& vertices() const { return vertices_; }
  // A node is held at this vertex.
  void reach(std::uint32_t vertex) { reached_[piece_of(vertex)] = true; }
  bool is_reached(std::uint32_t vertex) { return reached_[piece_of(vertex)]; }

 private:
  std::uint32_t piece_of(std::uint32_t v) {
    while (towards_[v] != v) v = towards_[v] = towards_[towards_[v]];
    return v;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = piece_of(a);
    b = piece_of(b);
    towards_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<std::uint32_t> vertices_, towards_;
  std::vector<bool> reached_;  // of each piece, by its lowest vertex
};

// Points as triangles without a size.
ClosestTriangle nearest_of(const TriangleMesh& surface, const std::vector<std::uint32_t>& vertices) {
  TriangleMesh points;
  points.vertices = surface.vertices;
  for (const std::uint32_t v : vertices) points.triangles.push_back({v, v, v});
  return ClosestTriangle(points);
}

}  // namespace

std::vector<std::uint32_t> nodes_behind_thin_ends(const TetMesh& mesh, const TriangleMesh& surface,
                                                  const std::function<bool(const Vec3d&)>& inside,
                                                  std::span<const std::uint32_t> held, double reach) {
  Pieces pieces(surface, inside);
  if (pieces.vertices().empty()) return {};
  const ClosestTriangle vertices = nearest_of(surface, pieces.vertices());
  for (const std::uint32_t node : held) {
    throw_if_cancelled();
    pieces.reach(pieces.vertices()[vertices.closest(mesh.nodes[node]).triangle]);
  }
  const TetSurface faces = surface_of(mesh);
  const ClosestTriangle closest(faces.mesh);
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t v : pieces.vertices()) {
    throw_if_cancelled();
    if (pieces.is_reached(v)) continue;
    const ClosestHit hit = closest.closest(surface.vertices[v], reach);
    if (!hit) continue;
    for (const std::uint32_t corner : faces.mesh.triangles[hit.triangle]) nodes.push_back(faces.node[corner]);
  }
  return nodes;
}

}  // namespace cotouch
