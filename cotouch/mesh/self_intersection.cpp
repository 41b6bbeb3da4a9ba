#include <cotouch/mesh/report.h>
#include <cotouch/mesh/triangle_tree.h>

#include <algorithm>

namespace cotouch {
namespace {

using Corners = std::array<Vec3d, 3>;

// Six times the volume of the tetrahedron abcd; its sign says on which side of plane abc the point d lies.
double side(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return dot(cross(b - a, c - a), d - a);
}

// Does the segment pq pass through the inside of the triangle?
bool pierces(const Vec3d& p, const Vec3d& q, const Corners& t) {
  const double sp = side(t[0], t[1], t[2], p), sq = side(t[0], t[1], t[2], q);
  if (!(sp * sq < 0)) return false;
  const double u = side(p, q, t[0], t[1]), v = side(p, q, t[1], t[2]), w = side(p, q, t[2], t[0]);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

// Two triangles cross when an edge of one passes through the other.
bool cross_each_other(const Corners& a, const Corners& b) {
  for (std::size_t i = 0; i < 3; ++i)
    if (pierces(a[i], a[(i + 1) % 3], b) || pierces(b[i], b[(i + 1) % 3], a)) return true;
  return false;
}

bool overlap(const Box3d& a, const Box3d& b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
         a.low.z <= b.high.z && b.low.z <= a.high.z;
}

bool share_a_corner(const Triangle& a, const Triangle& b) {
  return std::any_of(a.begin(), a.end(), [&](std::uint32_t i) { return i == b[0] || i == b[1] || i == b[2]; });
}

}  // namespace

SelfIntersections find_self_intersections(const TriangleMesh& mesh, std::size_t most_triangles,
                                          std::size_t most_pairs) {
  SelfIntersections found;
  if (mesh.triangles.empty()) return found;
  const TriangleTree tree = build_triangle_tree(mesh, 4);
  const std::size_t count = std::min(mesh.triangles.size(), most_triangles);
  std::size_t pairs = 0;
  std::vector<std::uint32_t> stack;
  for (std::size_t i = 0; i < count && pairs < most_pairs; ++i) {
    const std::size_t t = i * mesh.triangles.size() / count;
    const Corners corners = mesh.corners(t);
    Box3d box;
    for (const Vec3d& v : corners) box.add(v);
    bool crossing = false;
    stack.assign(1, 0);
    while (!stack.empty() && !crossing && pairs < most_pairs) {
      const std::uint32_t n = stack.back();
      stack.pop_back();
      const TriangleTree::Node& node = tree.nodes[n];
      if (!overlap(box, node.box)) continue;
      if (node.right != 0) {
        stack.push_back(node.right);
        stack.push_back(n + 1);
        continue;
      }
      for (std::uint32_t k = node.first; k < node.first + node.count && !crossing; ++k) {
        const std::uint32_t other = tree.order[k];
        if (share_a_corner(mesh.triangles[t], mesh.triangles[other])) continue;
        ++pairs;
        crossing = cross_each_other(corners, mesh.corners(other));
      }
    }
    ++found.tested;
    if (crossing) ++found.crossing;
  }
  return found;
}

}  // namespace cotouch
