#include <cotouch/field/soup.h>

#include <cotouch/base/cancel.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace cotouch {
namespace {

constexpr std::uint32_t k_none = 0xffffffff;

// Gives corners at exactly the same place one number. Files that store every triangle by itself repeat its corners bit
// for bit; joining what is merely close would close slits that the user may have meant.
void weld(const TriangleMesh& from, TriangleMesh& to) {
  std::vector<std::uint32_t> order(from.vertices.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) {
    const Vec3d& v = from.vertices[i];
    return std::tuple(v.x, v.y, v.z, i);
  };
  sort_cancellable(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> number(from.vertices.size());
  for_each_cancellable(order.size(), [&](std::size_t i) {
    const Vec3d& v = from.vertices[order[i]];
    if (i == 0 || !(v == from.vertices[order[i - 1]])) to.vertices.push_back(v);
    number[order[i]] = static_cast<std::uint32_t>(to.vertices.size() - 1);
  });
  to.triangles.reserve(from.triangles.size());
  for (const Triangle& t : from.triangles) to.triangles.push_back({number[t[0]], number[t[1]], number[t[2]]});
}

// Leaves out triangles without area and all but the first of those with the same three corners.
void drop_useless(TriangleMesh& mesh) {
  struct Corners {
    Triangle sorted;
    std::uint32_t index;
    bool operator<(const Corners& o) const { return std::tie(sorted, index) < std::tie(o.sorted, o.index); }
  };
  std::vector<Corners> corners;
  for (std::uint32_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto [a, b, c] = mesh.corners(i);
    if (!(norm_squared(cross(b - a, c - a)) > 0)) continue;
    Triangle sorted = mesh.triangles[i];
    std::sort(sorted.begin(), sorted.end());
    corners.push_back({sorted, i});
  }
  sort_cancellable(corners.begin(), corners.end());
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < corners.size(); ++i)
    if (i == 0 || corners[i].sorted != corners[i - 1].sorted) kept.push_back(corners[i].index);
  sort_cancellable(kept.begin(), kept.end());
  for (std::size_t i = 0; i < kept.size(); ++i) mesh.triangles[i] = mesh.triangles[kept[i]];
  mesh.triangles.resize(kept.size());
}

// The neighbour of each triangle across each of its edges, where exactly two triangles share the edge.
struct Neighbours {
  std::vector<std::array<std::uint32_t, 3>> across;  // k_none where there is none
  std::vector<std::uint8_t> border;                  // of each triangle: has it an edge that no other triangle shares?
};

Neighbours find_neighbours(const TriangleMesh& mesh) {
  struct Edge {
    std::uint32_t low, high, triangle, side;
    bool operator<(const Edge& o) const {
      return std::tie(low, high, triangle, side) < std::tie(o.low, o.high, o.triangle, o.side);
    }
  };
  std::vector<Edge> edges;
  edges.reserve(mesh.triangles.size() * 3);
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t)
    for (std::uint32_t side = 0; side < 3; ++side) {
      const std::uint32_t a = mesh.triangles[t][side], b = mesh.triangles[t][(side + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), t, side});
    }
  sort_cancellable(edges.begin(), edges.end());
  Neighbours result{std::vector<std::array<std::uint32_t, 3>>(mesh.triangles.size(), {k_none, k_none, k_none}),
                    std::vector<std::uint8_t>(mesh.triangles.size())};
  for (std::size_t begin = 0, end; begin < edges.size(); begin = end) {
    for (end = begin; end < edges.size() && edges[end].low == edges[begin].low && edges[end].high == edges[begin].high;)
      ++end;
    const Edge& e = edges[begin];
    if (end - begin == 1) result.border[e.triangle] = 1;
    if (end - begin != 2) continue;
    const Edge& f = edges[begin + 1];
    result.across[e.triangle][e.side] = f.triangle;
    result.across[f.triangle][f.side] = e.triangle;
  }
  return result;
}

// Do two neighbours run along their shared edge in opposite directions, as they should?
bool agree(const Triangle& t, std::uint32_t a, std::uint32_t b) {
  for (std::size_t i = 0; i < 3; ++i)
    if (t[i] == b && t[(i + 1) % 3] == a) return true;
  return false;
}

void orient_patches(Soup& soup) {
  const Neighbours neighbours = find_neighbours(soup.mesh);
  const auto& triangles = soup.mesh.triangles;
  soup.patch.assign(triangles.size(), k_none);
  soup.turned.assign(triangles.size(), 0);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t seed = 0; seed < triangles.size(); ++seed) {
    if (soup.patch[seed] != k_none) continue;
    const auto patch = static_cast<std::uint32_t>(soup.patch_open.size());
    soup.patch_open.push_back(0);
    soup.patch[seed] = patch;
    queue.assign(1, seed);
    for (std::size_t next = 0; next < queue.size(); ++next) {
      throw_if_cancelled();
      const std::uint32_t t = queue[next];
      if (neighbours.border[t]) soup.patch_open[patch] = 1;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::uint32_t a = triangles[t][i], b = triangles[t][(i + 1) % 3];
        for (const std::uint32_t other : neighbours.across[t]) {
          if (other == k_none || soup.patch[other] != k_none) continue;
          // `across` is by the sides the triangle came with, which turning it has renamed: find the shared edge.
          const Triangle& o = triangles[other];
          const auto has = [&](std::uint32_t v) { return o[0] == v || o[1] == v || o[2] == v; };
          if (!has(a) || !has(b)) continue;
          if (!agree(o, a, b)) soup.turn(other);
          soup.patch[other] = patch;
          queue.push_back(other);
        }
      }
    }
  }
}

}  // namespace

Soup clean_soup(const TriangleMesh& mesh) {
  Soup soup;
  soup.mesh.name = mesh.name;
  weld(mesh, soup.mesh);
  drop_useless(soup.mesh);
  orient_patches(soup);
  return soup;
}

}  // namespace cotouch
