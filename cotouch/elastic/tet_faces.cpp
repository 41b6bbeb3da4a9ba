#include <cotouch/elastic/tet_faces.h>

#include <cotouch/base/cancel.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace cotouch {
namespace {

// The face opposite each corner, outward.
constexpr std::array<std::array<std::size_t, 3>, 4> k_faces{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};

Triangle face_of(const Tet& tet, std::size_t corner) {
  const auto& f = k_faces[corner];
  return {tet[f[0]], tet[f[1]], tet[f[2]]};
}

struct Face {
  Triangle nodes;        // ascending
  std::uint32_t of = 0;  // four times the tetrahedron, plus the corner opposite
  auto operator<=>(const Face&) const = default;
};

// All faces, those of the same nodes side by side.
std::vector<Face> sorted_faces(const TetMesh& mesh) {
  std::vector<Face> faces;
  faces.reserve(4 * mesh.tets.size());
  for_each_cancellable(mesh.tets.size(), [&](std::size_t t) {
    for (std::size_t corner = 0; corner < 4; ++corner) {
      Triangle nodes = face_of(mesh.tets[t], corner);
      std::sort(nodes.begin(), nodes.end());
      faces.push_back({nodes, static_cast<std::uint32_t>(4 * t + corner)});
    }
  });
  sort_cancellable(faces.begin(), faces.end());
  return faces;
}

// Whether the corners are those of the ascending order turned round, not mirrored.
bool is_even_order(const Triangle& t) {
  return ((t[0] < t[1]) + (t[1] < t[2]) + (t[2] < t[0])) == 2;
}

// The first face after those with the nodes of faces[begin].
std::size_t end_of_same(const std::vector<Face>& faces, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < faces.size() && faces[end].nodes == faces[begin].nodes) ++end;
  return end;
}

}  // namespace

TetSurface surface_of(const TetMesh& mesh) {
  const std::vector<Face> faces = sorted_faces(mesh);
  std::vector<std::uint32_t> single;
  for (std::size_t i = 0, end; i < faces.size(); i = end) {
    end = end_of_same(faces, i);
    if (end == i + 1) single.push_back(faces[i].of);
  }
  sort_cancellable(single.begin(), single.end());

  TetSurface surface;
  for (const std::uint32_t of : single) {
    surface.mesh.triangles.push_back(face_of(mesh.tets[of / 4], of % 4));
    surface.tet.push_back(of / 4);
  }
  std::vector<std::uint32_t> vertex_of(mesh.nodes.size(), 0);
  for (const Triangle& t : surface.mesh.triangles)
    for (const std::uint32_t node : t) vertex_of[node] = 1;
  for (std::uint32_t node = 0; node < mesh.nodes.size(); ++node) {
    if (!vertex_of[node]) continue;
    vertex_of[node] = static_cast<std::uint32_t>(surface.node.size());
    surface.node.push_back(node);
    surface.mesh.vertices.push_back(mesh.nodes[node]);
  }
  for (Triangle& t : surface.mesh.triangles)
    for (std::uint32_t& node : t) node = vertex_of[node];
  return surface;
}

std::size_t first_overlapping(const TetMesh& mesh) {
  const std::vector<Face> faces = sorted_faces(mesh);
  std::size_t found = mesh.tets.size();
  for (std::size_t i = 0, end; i < faces.size(); i = end) {
    end = end_of_same(faces, i);
    std::array<bool, 2> taken{};  // either side
    for (std::size_t k = i; k < end; ++k) {
      const std::size_t tet = faces[k].of / 4;
      bool& side = taken[is_even_order(face_of(mesh.tets[tet], faces[k].of % 4))];
      if (side) found = std::min(found, tet);
      side = true;
    }
  }
  return found;
}

TetPieces pieces_of(const TetMesh& mesh) {
  // Each tetrahedron points to one of a lower number in its piece, the first to itself.
  std::vector<std::uint32_t> towards(mesh.tets.size());
  std::iota(towards.begin(), towards.end(), 0U);
  const auto first = [&](std::uint32_t t) {
    while (towards[t] != t) t = towards[t] = towards[towards[t]];
    return t;
  };
  const std::vector<Face> faces = sorted_faces(mesh);
  for (std::size_t i = 1; i < faces.size(); ++i) {
    if (faces[i].nodes != faces[i - 1].nodes) continue;
    const std::uint32_t a = first(faces[i - 1].of / 4), b = first(faces[i].of / 4);
    towards[std::max(a, b)] = std::min(a, b);
  }
  TetPieces pieces;
  pieces.of_tet.resize(mesh.tets.size());
  for (std::uint32_t t = 0; t < mesh.tets.size(); ++t) {
    const std::uint32_t start = first(t);
    if (start == t) {
      pieces.of_tet[t] = static_cast<std::uint32_t>(pieces.volume.size());
      pieces.volume.push_back(0);
    } else {
      pieces.of_tet[t] = pieces.of_tet[start];
    }
    pieces.volume[pieces.of_tet[t]] += tet_volume(mesh, t);
  }
  return pieces;
}

std::uint32_t components(const TetMesh& mesh) {
  return static_cast<std::uint32_t>(pieces_of(mesh).volume.size());
}

std::string describe_pieces(const TetPieces& pieces) {
  if (pieces.volume.size() < 2) return {};
  double total = 0;
  for (const double volume : pieces.volume) total += volume;
  const double largest = *std::max_element(pieces.volume.begin(), pieces.volume.end());
  char text[160];
  std::snprintf(text, sizeof text,
                "The volume falls into %zu pieces that share no face; the largest has %.3g %% of it. Thin places may "
                "need a shorter edge.",
                pieces.volume.size(), 100 * largest / total);
  return text;
}

TetMesh largest_piece(const TetMesh& mesh, const TetPieces& pieces) {
  const auto largest =
      static_cast<std::uint32_t>(std::max_element(pieces.volume.begin(), pieces.volume.end()) - pieces.volume.begin());
  TetMesh result;
  result.nodes = mesh.nodes;
  for (std::size_t t = 0; t < mesh.tets.size(); ++t)
    if (pieces.of_tet[t] == largest) result.tets.push_back(mesh.tets[t]);
  drop_unused_nodes(result);
  return result;
}

std::size_t drop_unused_nodes(TetMesh& mesh) {
  std::vector<std::uint32_t> number(mesh.nodes.size(), 0);
  for (const Tet& tet : mesh.tets)
    for (const std::uint32_t node : tet) number[node] = 1;
  std::uint32_t kept = 0;
  for (std::size_t node = 0; node < mesh.nodes.size(); ++node) {
    if (!number[node]) continue;
    number[node] = kept;
    mesh.nodes[kept++] = mesh.nodes[node];
  }
  for (Tet& tet : mesh.tets)
    for (std::uint32_t& node : tet) node = number[node];
  const std::size_t dropped = mesh.nodes.size() - kept;
  mesh.nodes.resize(kept);
  return dropped;
}

}  // namespace cotouch
