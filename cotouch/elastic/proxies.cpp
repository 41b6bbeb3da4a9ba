#include <cotouch/elastic/proxies.h>

#include <cotouch/elastic/tet_gradient.h>
#include <cotouch/field/build.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace cotouch {
namespace {

constexpr double k_overlap = 4;  // cells by which a domain reaches beyond its own proxies' surroundings
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

// Which domain each point belongs to: the nearest of so many points that are as far from each other as can be, along
// the body.
std::vector<std::uint32_t> split(const TetMesh& mesh, const Neighbours& around, std::span<const EmbeddedPoint> points,
                                 std::uint32_t domains) {
  std::vector<std::uint32_t> of(points.size(), 0);
  if (domains < 2) return of;
  std::vector<double> least(points.size(), k_infinite);
  // The first is the one farthest from the first point: an end of the body.
  const auto farthest = [&](const std::vector<double>& ways) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < points.size(); ++i)
      if (ways[i] > ways[best]) best = i;
    return best;
  };
  const auto ways_of = [&](std::size_t point) {
    const std::vector<double> way = ways_from(points[point].node[0], mesh, around);
    std::vector<double> out;
    for (const EmbeddedPoint& p : points) out.push_back(way[p.node[0]]);
    return out;
  };
  std::size_t seed = farthest(ways_of(0));
  for (std::uint32_t d = 0; d < domains; ++d) {
    const std::vector<double> ways = ways_of(seed);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (ways[i] < least[i]) {
        least[i] = ways[i];
        of[i] = d;
      }
    seed = farthest(least);
  }
  return of;
}

double nearest(std::span<const ElasticProxy> proxies, const Vec3d& at, std::uint32_t begin, std::uint32_t end,
               bool inside) {
  double least = k_infinite;
  for (std::uint32_t i = 0; i < proxies.size(); ++i)
    if ((i >= begin && i < end) == inside) least = std::min(least, norm_squared(Vec3d(proxies[i].rest) - at));
  return std::sqrt(least);
}

// What of the part is nearer to the domain's proxies than to others: the intersection of the part and that region, and
// half the difference of two distances is 1-Lipschitz.
Field domain_field(const Field& whole, const Proxies& all, const ElasticDomain& domain) {
  const double cell = static_cast<double>(whole.spacing());
  const auto distance = [&](const Vec3d& at) {
    const double own = nearest(all.proxies, at, domain.begin, domain.end, true);
    const double other = nearest(all.proxies, at, domain.begin, domain.end, false);
    return std::max(static_cast<double>(whole.distance(Vec3f(at))), (own - other) / 2 - k_overlap * cell);
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
  const std::vector<std::uint32_t> of = split(mesh, around, embedded.first(count), domains);
  Proxies out;
  for (std::uint32_t d = 0; d < domains; ++d) {
    const auto begin = static_cast<std::uint32_t>(out.proxies.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      if (of[i] != d) continue;
      out.proxies.push_back({shell.data().positions[i], embedded[i]});
      add_slopes(mesh, shapes, around, embedded[i], stride, out.slopes);
    }
    const auto end = static_cast<std::uint32_t>(out.proxies.size());
    if (end > begin) out.domains.push_back({begin, end, 0});
  }
  // To which domain a point of the surface belongs, its nearest proxy says.
  for (const Vec3f& point : shell.data().positions) {
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
  if (out.domains.size() > 1)
    for (const ElasticDomain& domain : out.domains) out.fields.push_back(domain_field(field, out, domain));
  return out;
}

}  // namespace cotouch
