#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/triangle_tree.h>

#include <algorithm>
#include <array>
#include <cstring>

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

// How far x lies outside [low, high], lane by lane.
Four outside(const Four& x, const float* low, const float* high) {
  Four l, h;
  std::memcpy(&l, low, sizeof l);
  std::memcpy(&h, high, sizeof h);
  const Four below = l - x, above = x - h, zero{};
  const Four larger = below > above ? below : above;
  return larger > zero ? larger : zero;
}

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
        node.child[i] = child.first;
        node.count[i] = static_cast<std::uint8_t>(child.count);
      } else {
        node.child[i] = static_cast<std::uint32_t>(pending.size());
        pending.push_back(children[i]);
      }
    }
    nodes_.resize(pending.size());
    nodes_[next] = node;
  }
}

ClosestHit ClosestTriangle::closest(const Vec3d& p, double upper_bound) const noexcept {
  ClosestHit best;
  if (nodes_.empty() || !(upper_bound >= 0)) return best;
  best.distance_squared = upper_bound * upper_bound;

  // Boxes are measured in float, four at a time, from the query rounded to float. A box rules out its triangles only
  // when it is further away than the best by more than rounding can explain: with coordinates up to s the measured
  // distance d is wrong by less than e = 2^-22 s, and (d + e)^2 <= (1 + 1e-3) d^2 + 1001 e^2. Kept below infinity,
  // which is where the unused places of a node are.
  const Vec3d from_center = p - center_;
  const double s = std::max({std::fabs(from_center.x), std::fabs(from_center.y), std::fabs(from_center.z)});
  const double slack = 1001 * 0x1p-44 * s * s;
  const auto limit = [&] {
    const double with_room = best.distance_squared * (1 + 1.1e-3) + slack;
    return static_cast<float>(std::min(with_room, static_cast<double>(std::numeric_limits<float>::max())));
  };
  float limit_now = limit();
  const Four x = all(from_center.x), y = all(from_center.y), z = all(from_center.z);

  struct Entry {
    float distance_squared;
    std::uint32_t child;
    std::uint32_t count;
  };
  // Each level of nodes leaves at most three entries behind while the fourth is opened.
  Entry stack[3 * (TriangleTree::k_max_depth / 2 + 1) + 4];
  std::size_t size = 0;
  stack[size++] = {0, 0, 0};
  while (size > 0) {
    const Entry entry = stack[--size];
    if (entry.distance_squared > limit_now) continue;
    if (entry.count > 0) {
      for (std::uint32_t i = entry.child; i < entry.child + entry.count; ++i) {
        const Corners& t = triangles_[i];
        const ClosestOnTriangle on = closest_on_triangle(p, t.a, t.b, t.c);
        const bool closer = on.distance_squared < best.distance_squared ||
                            (on.distance_squared == best.distance_squared && t.index < best.triangle);
        if (closer) best = {on.distance_squared, on.point, on.weights, t.index};
      }
      limit_now = limit();
      continue;
    }
    const Node& node = nodes_[entry.child];
    const Four dx = outside(x, node.low[0], node.high[0]);
    const Four dy = outside(y, node.low[1], node.high[1]);
    const Four dz = outside(z, node.low[2], node.high[2]);
    const Four d = dx * dx + dy * dy + dz * dz;
    // The nearest child goes on top.
    const std::size_t floor = size;
    for (int i = 0; i < 4; ++i) {
      if (!(d[i] <= limit_now)) continue;
      std::size_t at = size++;
      for (; at > floor && stack[at - 1].distance_squared < d[i]; --at) stack[at] = stack[at - 1];
      stack[at] = {d[i], node.child[i], node.count[i]};
    }
  }
  if (!best) best.distance_squared = std::numeric_limits<double>::infinity();
  return best;
}

}  // namespace cotouch
