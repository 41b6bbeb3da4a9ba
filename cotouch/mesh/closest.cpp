#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/triangle_tree.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace cotouch {
namespace {

constexpr std::uint32_t k_leaf_size = 4;

float round_down(double x) {
  const float f = static_cast<float>(x);
  return static_cast<double>(f) <= x ? f : std::nextafter(f, -std::numeric_limits<float>::infinity());
}
float round_up(double x) {
  return -round_down(-x);
}

// Four numbers side by side, in a register where the machine has them; each lane is plain float arithmetic.
using Four = float __attribute__((vector_size(16)));

Four all(double value) {
  const float f = static_cast<float>(value);
  return Four{f, f, f, f};
}

Four load(const float* values) {
  Four four;
  std::memcpy(&four, values, sizeof four);
  return four;
}

// How far x lies outside [low, high], lane by lane.
Four outside(const Four& x, const float* low, const float* high) {
  const Four below = load(low) - x, above = x - load(high), zero{};
  const Four larger = below > above ? below : above;
  return larger > zero ? larger : zero;
}

// Each level of nodes leaves at most three behind while the fourth is opened.
constexpr std::size_t k_most_entries = 3 * (TriangleTree::k_max_depth / 2 + 1) + 4;

// The closest point of segment ab, as the weight of b.
double along_segment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d ab = b - a;
  const double length_squared = norm_squared(ab);
  if (!(length_squared > 0)) return 0;
  return std::clamp(dot(p - a, ab) / length_squared, 0.0, 1.0);
}

// The closest point among the three edges.
ClosestOnTriangle closest_on_edges(const Vec3d& p, const std::array<Vec3d, 3>& corners) {
  ClosestOnTriangle best{std::numeric_limits<double>::infinity(), {}, {}};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3;
    const double t = along_segment(p, corners[i], corners[j]);
    const Vec3d q = t == 1 ? corners[j] : corners[i] + (corners[j] - corners[i]) * t;
    const double d = norm_squared(p - q);
    if (d < best.distance_squared) {
      best = {d, q, {}};
      best.weights[i] = 1 - t;
      best.weights[j] = t;
    }
  }
  return best;
}

}  // namespace

// By the regions in which p projects to a corner, an edge or the face (Ericson, Real-Time Collision Detection, 5.1.5).
ClosestOnTriangle closest_on_triangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) noexcept {
  const auto at = [&](const Vec3d& q, const Vec3d& weights) {
    return ClosestOnTriangle{norm_squared(p - q), q, weights};
  };
  const Vec3d ab = b - a, ac = c - a, ap = p - a;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return at(a, {1, 0, 0});
  const Vec3d bp = p - b;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return at(b, {0, 1, 0});
  const Vec3d cp = p - c;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return at(c, {0, 0, 1});

  // The triangle's doubled area squared, and the share of each corner in it. Where the area vanishes beside the edges
  // the shares are noise, and the answer lies on an edge.
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  const double sum = va + vb + vc;
  if (!(sum > 1e-10 * norm_squared(ab) * norm_squared(ac))) return closest_on_edges(p, {a, b, c});

  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    const double t = d1 / (d1 - d3);
    return at(a + ab * t, {1 - t, t, 0});
  }
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    const double t = d2 / (d2 - d6);
    return at(a + ac * t, {1 - t, 0, t});
  }
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return at(b + (c - b) * t, {0, 1 - t, t});
  }
  const double v = vb / sum, w = vc / sum;
  return at(a + ab * v + ac * w, {1 - v - w, v, w});
}

ClosestTriangle::Leaf::Leaf(std::span<const Corners> triangles, std::uint32_t index) : first(index) {
  Box3d box;
  for (const Corners& t : triangles)
    for (const Vec3d& v : {t.a, t.b, t.c}) box.add(v);
  origin = box.center();
  const Vec3d half = box.size() * 0.5;
  size = static_cast<float>(std::max({half.x, half.y, half.z}));
  for (std::size_t lane = 0; lane < triangles.size(); ++lane) {
    std::array<Vec3d, 3> v{triangles[lane].a, triangles[lane].b, triangles[lane].c};
    const auto squared = [&](std::size_t i) { return norm_squared(v[(i + 1) % 3] - v[i]); };
    const std::size_t longest = squared(0) >= squared(1) && squared(0) >= squared(2) ? 0
                                : squared(1) >= squared(2)                           ? 1
                                                                                     : 2;
    std::rotate(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(longest), v.end());
    // Whatever rounding leaves of a needle's width, the axes are at right angles; those that a needle or a point does
    // not have are zero, and then count for nothing.
    const Vec3d u = normalized(v[1] - v[0]);
    const auto upright = [&](const Vec3d& w) { return normalized(w - u * dot(u, w)); };
    const Vec3d w = upright(upright(v[2] - v[0]));
    const std::array<Vec3d, 3> axes{u, w, cross(u, w)};
    // The rectangle has the longest edge for a side, and the third corner on the opposite one.
    const double length_along = dot(u, v[1] - v[0]), length_across = dot(w, v[2] - v[0]);
    const Vec3d middle = u * (length_along / 2) + w * (length_across / 2);
    half_size[0][lane] = static_cast<float>(length_along / 2);
    half_size[1][lane] = static_cast<float>(length_across / 2);
    for (std::size_t k = 0; k < 3; ++k) {
      center[k][lane] = static_cast<float>(v[0][k] + middle[k] - origin[k]);
      for (std::size_t i = 0; i < 3; ++i) axis[i][k][lane] = static_cast<float>(axes[i][k]);
    }
  }
}

// How far the rectangles are from p.
struct ClosestTriangle::Leaf::Rough {
  Four squared;
  float size;  // of what was rounded
};

ClosestTriangle::Leaf::Rough ClosestTriangle::Leaf::measure(const Vec3d& p) const {
  const Vec3d q = p - origin;
  const Four x = all(q.x) - load(center[0]), y = all(q.y) - load(center[1]), z = all(q.z) - load(center[2]);
  const auto along = [&](std::size_t i) { return x * load(axis[i][0]) + y * load(axis[i][1]) + z * load(axis[i][2]); };
  const auto beyond = [&](std::size_t i) {
    const Four at = along(i), end = load(half_size[i]), zero{};
    const Four above = at - end, below = -end - at;
    const Four larger = above > below ? above : below;
    return larger > zero ? larger : zero;
  };
  const Four u = beyond(0), v = beyond(1), n = along(2);
  return {u * u + v * v + n * n, size + static_cast<float>(std::max({std::fabs(q.x), std::fabs(q.y), std::fabs(q.z)}))};
}

Four ClosestTriangle::Node::distances_squared(const Four& x, const Four& y, const Four& z) const {
  const Four dx = outside(x, low[0], high[0]), dy = outside(y, low[1], high[1]), dz = outside(z, low[2], high[2]);
  return dx * dx + dy * dy + dz * dz;
}

ClosestTriangle::ClosestTriangle(const TriangleMesh& mesh) {
  const TriangleTree tree = build_triangle_tree(mesh, k_leaf_size);
  triangles_.reserve(tree.order.size());
  for (const std::uint32_t index : tree.order) {
    const auto [a, b, c] = mesh.corners(index);
    triangles_.push_back({a, b, c, index});
  }
  if (tree.nodes.empty()) return;
  center_ = tree.nodes[0].box.center();

  // Two levels of the binary tree become one node here. `pending` holds binary nodes whose node is already numbered.
  std::vector<std::uint32_t> pending{0};
  nodes_.resize(1);
  for (std::size_t next = 0; next < pending.size(); ++next) {
    std::array<std::uint32_t, 4> children{};
    std::size_t count = 0;
    const auto open = [&](std::uint32_t n, auto&& take) {
      if (tree.nodes[n].right == 0) return take(n);
      take(n + 1);
      take(tree.nodes[n].right);
    };
    open(pending[next], [&](std::uint32_t child) {
      if (child == pending[next])
        children[count++] = child;
      else
        open(child, [&](std::uint32_t grandchild) { children[count++] = grandchild; });
    });

    Node node{};
    for (std::size_t i = 0; i < 4; ++i) {
      const bool used = i < count;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        // An unused place is infinitely far away.
        node.low[axis][i] = used ? round_down(tree.nodes[children[i]].box.low[axis] - center_[axis]) : INFINITY;
        node.high[axis][i] = used ? round_up(tree.nodes[children[i]].box.high[axis] - center_[axis]) : INFINITY;
      }
      if (!used) continue;
      const TriangleTree::Node& child = tree.nodes[children[i]];
      if (child.right == 0) {
        node.child[i] = static_cast<std::uint32_t>(leaves_.size());
        node.count[i] = static_cast<std::uint8_t>(child.count);
        leaves_.emplace_back(std::span(triangles_).subspan(child.first, child.count), child.first);
      } else {
        node.child[i] = static_cast<std::uint32_t>(pending.size());
        pending.push_back(children[i]);
      }
    }
    nodes_.resize(pending.size());
    nodes_[next] = node;
  }
}

// Boxes and triangles are measured in float, four at a time, from the query rounded to float. They are ruled out only
// when they are further away than a limit by more than rounding can explain: if the measured distance d is wrong by
// less than e, then (d + e)^2 <= (1 + 1e-3) d^2 + 1001 e^2. For boxes e = 2^-22 s with coordinates up to s, for
// triangles e = 2^-19 s. Kept below infinity, which is where the unused places of a node are.
struct ClosestTriangle::Limit {
  double slack;
  float squared = 0;

  Limit(const Vec3d& from_center, double distance_squared) {
    const double s = std::max({std::fabs(from_center.x), std::fabs(from_center.y), std::fabs(from_center.z)});
    slack = 1001 * 0x1p-44 * s * s;
    set(distance_squared);
  }
  void set(double distance_squared) {
    const double with_room = distance_squared * (1 + 1.1e-3) + slack;
    squared = static_cast<float>(std::min(with_room, static_cast<double>(std::numeric_limits<float>::max())));
  }
  float of(const Leaf::Rough& rough) const { return squared + 1001 * 0x1p-38F * rough.size * rough.size; }
};

ClosestHit ClosestTriangle::closest(const Vec3d& p, double upper_bound) const noexcept {
  ClosestHit bound;
  if (!(upper_bound >= 0)) return bound;
  bound.distance_squared = upper_bound * upper_bound;
  return closest(p, bound);
}

void ClosestTriangle::look_at(const Group& group, const Vec3d& p, ClosestHit& best, Limit& limit) const noexcept {
  const Leaf& leaf = leaves_[group.leaf];
  const Leaf::Rough rough = leaf.measure(p);
  for (std::uint32_t i = 0; i < group.count; ++i) {
    if (rough.squared[i] > limit.of(rough)) continue;
    const Corners& t = triangles_[leaf.first + i];
    if (t.index == best.triangle) continue;
    const ClosestOnTriangle on = closest_on_triangle(p, t.a, t.b, t.c);
    const bool closer = on.distance_squared < best.distance_squared ||
                        (on.distance_squared == best.distance_squared && t.index < best.triangle);
    if (!closer) continue;
    best = {on.distance_squared, on.point, on.weights, t.index};
    limit.set(on.distance_squared);
  }
}

ClosestHit ClosestTriangle::closest(const Vec3d& p, const ClosestHit& known) const noexcept {
  if (nodes_.empty()) return {};
  ClosestHit best = known;
  const Vec3d from_center = p - center_;
  Limit limit(from_center, best.distance_squared);
  const Four x = all(from_center.x), y = all(from_center.y), z = all(from_center.z);

  struct Entry {
    float distance_squared;
    std::uint32_t child;
    std::uint32_t count;
  };
  Entry stack[k_most_entries];
  std::size_t size = 0;
  stack[size++] = {0, 0, 0};
  while (size > 0) {
    const Entry entry = stack[--size];
    if (entry.distance_squared > limit.squared) continue;
    if (entry.count > 0) {
      look_at({entry.child, entry.count, 0}, p, best, limit);
      continue;
    }
    const Node& node = nodes_[entry.child];
    const Four d = node.distances_squared(x, y, z);
    // The nearest child goes on top.
    const std::size_t floor = size;
    for (int i = 0; i < 4; ++i) {
      if (!(d[i] <= limit.squared)) continue;
      std::size_t at = size++;
      for (; at > floor && stack[at - 1].distance_squared < d[i]; --at) stack[at] = stack[at - 1];
      stack[at] = {d[i], node.child[i], node.count[i]};
    }
  }
  if (!best) best.distance_squared = std::numeric_limits<double>::infinity();
  return best;
}

bool ClosestTriangle::collect(const Vec3d& center, double radius, double distance, Nearby& nearby) const noexcept {
  nearby.size = 0;
  if (nodes_.empty()) return true;
  const Vec3d from_center = center - center_;
  const double reach = distance + 2 * radius;
  const Limit limit(from_center, reach * reach);
  const Four x = all(from_center.x), y = all(from_center.y), z = all(from_center.z);
  std::uint32_t stack[k_most_entries];
  std::size_t size = 0;
  stack[size++] = 0;
  while (size > 0) {
    const Node& node = nodes_[stack[--size]];
    const Four d = node.distances_squared(x, y, z);
    for (int i = 0; i < 4; ++i) {
      if (!(d[i] <= limit.squared)) continue;
      if (node.count[i] == 0) {
        stack[size++] = node.child[i];
        continue;
      }
      const Leaf::Rough rough = leaves_[node.child[i]].measure(center);
      float nearest = rough.squared[0];
      for (int lane = 1; lane < node.count[i]; ++lane) nearest = std::min(nearest, rough.squared[lane]);
      if (nearest > limit.of(rough)) continue;
      if (nearby.size == nearby.groups.size()) return false;
      const float least = std::max(0.0F, std::sqrt(nearest) - static_cast<float>(radius));
      nearby.groups[nearby.size++] = {node.child[i], node.count[i], least * least};
    }
  }
  return true;
}

ClosestHit ClosestTriangle::closest(const Vec3d& p, const ClosestHit& known, const Nearby& nearby) const noexcept {
  ClosestHit best = known;
  Limit limit(p - center_, best.distance_squared);
  for (std::size_t i = 0; i < nearby.size; ++i)
    if (nearby.groups[i].least_squared <= limit.squared) look_at(nearby.groups[i], p, best, limit);
  return best;
}

}  // namespace cotouch
