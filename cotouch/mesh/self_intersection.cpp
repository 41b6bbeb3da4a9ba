#include <cotouch/base/cancel.h>
#include <cotouch/mesh/report.h>
#include <cotouch/mesh/triangle_tree.h>

#include <algorithm>
#include <optional>

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

// Every box and every triangle that is looked at counts: of a hundred thousand slivers around one vertex, each box
// meets each other.
class CrossingSearch {
 public:
  CrossingSearch(const TriangleMesh& mesh, std::size_t most_looks)
      : mesh_(mesh), tree_(build_triangle_tree(mesh, k_leaf_size)), looks_left_(most_looks) {}

  // Nothing if it cannot be told without more looks than are left.
  std::optional<bool> crosses_another(std::size_t t) {
    const Corners corners = mesh_.corners(t);
    Box3d box;
    for (const Vec3d& v : corners) box.add(v);
    stack_.assign(1, 0);
    while (!stack_.empty()) {
      throw_if_cancelled();
      const std::uint32_t n = stack_.back();
      stack_.pop_back();
      const TriangleTree::Node& node = tree_.nodes[n];
      if (looks_left_ < 1 + k_leaf_size) return std::nullopt;
      --looks_left_;
      if (!overlap(box, node.box)) continue;
      if (node.right != 0) {
        stack_.push_back(node.right);
        stack_.push_back(n + 1);
        continue;
      }
      looks_left_ -= node.count;
      for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
        const std::uint32_t other = tree_.order[k];
        if (share_a_corner(mesh_.triangles[t], mesh_.triangles[other])) continue;
        if (cross_each_other(corners, mesh_.corners(other))) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t k_leaf_size = 4;

  const TriangleMesh& mesh_;
  const TriangleTree tree_;
  std::size_t looks_left_;
  std::vector<std::uint32_t> stack_;
};

}  // namespace

SelfIntersections find_self_intersections(const TriangleMesh& mesh, std::size_t most_triangles,
                                          std::size_t most_looks) {
  SelfIntersections found;
  if (mesh.triangles.empty()) return found;
  CrossingSearch search(mesh, most_looks);
  const std::size_t count = std::min(mesh.triangles.size(), most_triangles);
  // In rounds, so that those looked at are spread evenly wherever the search has to stop.
  constexpr std::size_t k_rounds = 64;
  for (std::size_t round = 0; round < k_rounds; ++round)
    for (std::size_t i = round; i < count; i += k_rounds) {
      const std::optional<bool> crossing = search.crosses_another(i * mesh.triangles.size() / count);
      if (!crossing) return found;
      ++found.tested;
      if (*crossing) ++found.crossing;
    }
  return found;
}

}  // namespace cotouch
