#include <cotouch/elastic/proxies.h>

#include <cotouch/base/cancel.h>
#include <cotouch/elastic/tet_gradient.h>
#include <cotouch/field/build.h>
#include <cotouch/mesh/closest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_overlap = 8;  // cells, along the body, by which a domain reaches beyond its own half
constexpr double k_infinite = std::numeric_limits<double>::infinity();

using Neighbours = std::vector<std::vector<std::uint32_t>>;

Neighbours tets_around_nodes(const TetMesh& mesh) {
  Neighbours around(mesh.nodes.size());
  for (std::uint32_t t = 0; t < mesh.tets.size(); ++t)
    for (const std::uint32_t node : mesh.tets[t]) around[node].push_back(t);
  return around;
}

// The mean of the tetrahedra around the proxy's own, by volume: one alone is rough.
void add_slopes(const TetMesh& mesh, const Shapes& shapes, const Neighbours& around, const EmbeddedPoint& proxy,
                std::uint32_t stride, std::vector<float>& out) {
  std::vector<std::uint32_t> near;
  for (const std::uint32_t node : proxy.node) near.insert(near.end(), around[node].begin(), around[node].end());
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  std::vector<Mat3> slope(shapes.count);
  double volume = 0;
  for (const std::uint32_t t : near) {
    const TetGradient gradient = tet_gradient(mesh, t);
    volume += gradient.volume;
    for (std::size_t j = 0; j < shapes.count; ++j) slope[j] = slope[j] + gradient.of(shapes[j]) * gradient.volume;
  }
  const std::size_t begin = out.size();
  out.resize(begin + std::size_t{9} * stride);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < shapes.count; ++j)
      out[begin + i * stride + j] = static_cast<float>(slope[j].m[i] / volume);
}

// Lengths of ways along the mesh's edges from a node to all others.
std::vector<double> ways_from(std::uint32_t start, const TetMesh& mesh, const Neighbours& around) {
  std::vector<double> way(mesh.nodes.size(), k_infinite);
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  way[start] = 0;
  open.push({0, start});
  while (!open.empty()) {
    throw_if_cancelled();
    const auto [length, node] = open.top();
    open.pop();
    if (length > way[node]) continue;
    for (const std::uint32_t t : around[node])
      for (const std::uint32_t other : mesh.tets[t]) {
        const double next = length + norm(mesh.nodes[other] - mesh.nodes[node]);
        if (!(next < way[other])) continue;
        way[other] = next;
        open.push({next, other});
      }
  }
  return way;
}

// How far every point is, along the body, from so many of them that are as far from each other as can be: a list for
// each. The places between which the body is split are looked for among the first `candidates` points.
std::vector<std::vector<double>> ways_to_ends(const TetMesh& mesh, const Neighbours& around,
                                              std::span<const EmbeddedPoint> points, std::uint32_t candidates,
                                              std::uint32_t domains) {
  if (domains < 2) return {std::vector<double>(points.size())};
  const auto farthest = [&](const std::vector<double>& ways) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < candidates; ++i)
      if (ways[i] > ways[best]) best = i;
    return best;
  };
  const auto ways_of = [&](std::size_t point) {
    const std::vector<double> way = ways_from(points[point].node[0], mesh, around);
    std::vector<double> out;
    for (const EmbeddedPoint& p : points) out.push_back(way[p.node[0]]);
    return out;
  };
  std::vector<std::vector<double>> ways;
  std::vector<double> least(points.size(), k_infinite);
  // The first is the one farthest from the first point: an end of the body.
  std::size_t seed = farthest(ways_of(0));
  for (std::uint32_t d = 0; d < domains; ++d) {
    ways.push_back(ways_of(seed));
    for (std::size_t i = 0; i < points.size(); ++i) least[i] = std::min(least[i], ways.back()[i]);
    seed = farthest(least);
  }
  return ways;
}

double longest_edge(const TetMesh& mesh) {
  double longest = 0;
  for (const Tet& tet : mesh.tets)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = i + 1; k < 4; ++k)
        longest = std::max(longest, norm_squared(mesh.nodes[tet[i]] - mesh.nodes[tet[k]]));
  return std::sqrt(longest);
}

// The domain whose end is the nearest, the first among equals.
std::uint32_t domain_of(const std::vector<std::vector<double>>& ways, std::size_t point) {
  std::uint32_t best = 0;
  for (std::uint32_t d = 1; d < ways.size(); ++d)
    if (ways[d][point] < ways[best][point]) best = d;
  return best;
}

// Points as triangles without a size.
ClosestTriangle nearest_of(std::span<const Vec3f> points, const std::vector<bool>& chosen, bool which) {
  TriangleMesh mesh;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (chosen[i] != which) continue;
    const auto vertex = static_cast<std::uint32_t>(mesh.vertices.size());
    mesh.vertices.push_back(Vec3d(points[i]));
    mesh.triangles.push_back({vertex, vertex, vertex});
  }
  return ClosestTriangle(mesh);
}

// What of the part is nearer to the domain's points of the surface than to others: the intersection of the part and
// that region, and half the difference of two distances is 1-Lipschitz. A point belongs to the domain if it is, along
// the body, no farther beyond the middle between two ends than `overlap` metres: legs side by side stay apart, however
// near they are to each other.
Field domain_field(const Field& whole, std::span<const Vec3f> points, const std::vector<std::vector<double>>& ways,
                   std::uint32_t domain, double overlap) {
  const double cell = static_cast<double>(whole.spacing());
  std::vector<bool> own(points.size());
  bool all = true;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double other = k_infinite;
    for (std::uint32_t d = 0; d < ways.size(); ++d)
      if (d != domain) other = std::min(other, ways[d][i]);
    own[i] = (ways[domain][i] - other) / 2 <= overlap;
    all = all && own[i];
  }
  if (all) return whole;
  const ClosestTriangle inside = nearest_of(points, own, true), outside = nearest_of(points, own, false);
  const auto distance = [&](const Vec3d& at) {
    throw_if_cancelled();
    const double to_own = std::sqrt(inside.closest(at).distance_squared);
    const double to_other = std::sqrt(outside.closest(at).distance_squared);
    return std::max(static_cast<double>(whole.distance(Vec3f(at))), (to_own - to_other) / 2);
  };
  const Box3f box = whole.box();
  // As fine as the whole: the builder puts a margin around what it is given.
  const Vec3d margin = Vec3d{1, 1, 1} * (8 * cell);
  const Box3d inner{Vec3d(box.low) + margin, Vec3d(box.high) - margin};
  const Vec3d size = inner.size();
  FieldSettings settings;
  settings.resolution = std::clamp(static_cast<int>(std::ceil(std::max({size.x, size.y, size.z}) / cell)),
                                   k_lowest_resolution, k_highest_resolution);
  return build_field(distance, inner, settings);
}

}  // namespace

Proxies make_proxies(const TetMesh& mesh, const Shapes& shapes, const Field& field, const Shell& shell,
                     std::span<const EmbeddedPoint> embedded, std::uint32_t domains, std::uint32_t stride) {
  const Neighbours around = tets_around_nodes(mesh);
  const std::uint32_t count = shell.points_to_level(0);
  const std::vector<std::vector<double>> ways = ways_to_ends(mesh, around, embedded, count, domains);
  std::vector<std::uint32_t> domain_numbers;  // of those that are not empty
  Proxies out;
  for (std::uint32_t d = 0; d < domains; ++d) {
    const auto begin = static_cast<std::uint32_t>(out.proxies.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      if (domain_of(ways, i) != d) continue;
      out.proxies.push_back({shell.data().positions[i], embedded[i]});
      add_slopes(mesh, shapes, around, embedded[i], stride, out.slopes);
    }
    const auto end = static_cast<std::uint32_t>(out.proxies.size());
    if (end == begin) continue;
    out.domains.push_back({begin, end, 0});
    domain_numbers.push_back(d);
  }
  // To which domain a point of the surface belongs, its nearest proxy says.
  for (const Vec3f& point : shell.data().positions) {
    throw_if_cancelled();
    std::size_t best = 0;
    float least = std::numeric_limits<float>::max();
    for (std::size_t i = 0; i < out.proxies.size(); ++i) {
      const float distance = norm_squared(point - out.proxies[i].rest);
      if (!(distance < least)) continue;
      best = i;
      least = distance;
    }
    for (ElasticDomain& domain : out.domains)
      if (best >= domain.begin && best < domain.end) domain.cover = std::max(domain.cover, std::sqrt(least));
  }
  // Ways along edges are known to about an edge.
  const double overlap = k_overlap * static_cast<double>(field.spacing()) + longest_edge(mesh);
  if (out.domains.size() > 1)
    for (const std::uint32_t d : domain_numbers)
      out.fields.push_back(domain_field(field, shell.data().positions, ways, d, overlap));
  return out;
}

}  // namespace cotouch
