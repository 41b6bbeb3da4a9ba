#include <cotouch/base/cancel.h>
#include <cotouch/base/error.h>
#include <cotouch/base/parallel.h>
#include <cotouch/elastic/embedding.h>
#include <cotouch/elastic/tet_faces.h>
#include <cotouch/mesh/closest.h>
#include <cotouch/mesh/triangle_tree.h>

#include <algorithm>
#include <cmath>

namespace cotouch {
namespace {

using Weights = std::array<double, 4>;

double least(const Weights& w) {
  return std::min({w[0], w[1], w[2], w[3]});
}

// Finds the tetrahedron that a point lies in, and the closest one.
class TetFinder {
 public:
  explicit TetFinder(const TetMesh& mesh) : surface_(surface_of(mesh)), closest_(surface_.mesh) {
    // The tree is made for triangles; one that leads from the low to the high corner of a tetrahedron's box has the
    // same box.
    TriangleMesh boxes;
    for (std::size_t i = 0; i < mesh.tets.size(); ++i) {
      const Tet& t = mesh.tets[i];
      const Vec3d a = mesh.nodes[t[0]], b = mesh.nodes[t[1]] - a, c = mesh.nodes[t[2]] - a, d = mesh.nodes[t[3]] - a;
      // In a flat one a point counts as its first corner.
      const double volumes = dot(cross(b, c), d), six_volumes = volumes > 0 ? volumes : 1e300;
      frames_.push_back({a, cross(c, d) / six_volumes, cross(d, b) / six_volumes, cross(b, c) / six_volumes});
      Box3d box;
      for (const std::uint32_t node : t) box.add(mesh.nodes[node]);
      const auto first = static_cast<std::uint32_t>(2 * i);
      boxes.vertices.push_back(box.low);
      boxes.vertices.push_back(box.high);
      boxes.triangles.push_back({first, first + 1, first});
    }
    constexpr std::uint32_t k_leaf_size = 4;
    tree_ = build_triangle_tree(boxes, k_leaf_size);
    // A point on a face must not fall between the two tetrahedra there by rounding.
    const Vec3d size = tree_.nodes.front().box.size();
    slack_ = 1e-9 * (size.x + size.y + size.z);
  }

  bool has_surface() const { return !surface_.tet.empty(); }

  struct Found {
    std::uint32_t tet;
    Weights weights;
  };
  Found find(const Vec3d& p) const {
    Found found = deepest_around(p);
    if (found.tet != k_none) return found;
    const ClosestHit hit = closest_.closest(p);
    found.tet = surface_.tet[hit.triangle];
    found.weights = weights(found.tet, p);
    const Weights at_surface = weights(found.tet, hit.point);
    double furthest = 0;
    for (std::size_t i = 0; i < 4; ++i) furthest = std::max(furthest, std::fabs(found.weights[i] - at_surface[i]));
    if (furthest > k_longest_extrapolation)
      for (std::size_t i = 0; i < 4; ++i)
        found.weights[i] = at_surface[i] + (found.weights[i] - at_surface[i]) * (k_longest_extrapolation / furthest);
    return found;
  }

 private:
  static constexpr std::uint32_t k_none = 0xffffffff;
  struct Frame {
    Vec3d origin, b, c, d;  // the first node, and the gradients of the other nodes' weights
  };

  Weights weights(std::uint32_t tet, const Vec3d& p) const {
    const Frame& f = frames_[tet];
    const Vec3d r = p - f.origin;
    const double b = dot(f.b, r), c = dot(f.c, r), d = dot(f.d, r);
    return {1 - b - c - d, b, c, d};
  }

  // The tetrahedron that the point is deepest in, by its least weight, and of those the first.
  Found deepest_around(const Vec3d& p) const {
    Found found{k_none, {}};
    double depth = -1e-9;
    std::array<std::uint32_t, TriangleTree::k_max_depth + 1> stack;
    std::size_t size = 0;
    stack[size++] = 0;
    while (size > 0) {
      const std::uint32_t at = stack[--size];
      const TriangleTree::Node& node = tree_.nodes[at];
      const bool near = (p.x >= node.box.low.x - slack_) & (p.x <= node.box.high.x + slack_) &
                        (p.y >= node.box.low.y - slack_) & (p.y <= node.box.high.y + slack_) &
                        (p.z >= node.box.low.z - slack_) & (p.z <= node.box.high.z + slack_);
      if (!near) continue;
      if (node.right) {
        stack[size++] = node.right;
        stack[size++] = at + 1;
        continue;
      }
      for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
        const std::uint32_t tet = tree_.order[i];
        const Weights w = weights(tet, p);
        const double d = least(w);
        if (d > depth || (d == depth && tet < found.tet)) {
          depth = d;
          found = {tet, w};
        }
      }
    }
    return found;
  }

  std::vector<Frame> frames_;
  TriangleTree tree_;
  double slack_ = 0;
  TetSurface surface_;
  ClosestTriangle closest_;
};

// Rounded so that they still add up to one.
std::array<float, 4> rounded(const Weights& w) {
  std::array<float, 4> result;
  for (std::size_t i = 0; i < 4; ++i) result[i] = static_cast<float>(w[i]);
  const auto largest = static_cast<std::size_t>(std::max_element(w.begin(), w.end()) - w.begin());
  double others = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (i != largest) others += static_cast<double>(result[i]);
  result[largest] = static_cast<float>(1 - others);
  return result;
}

}  // namespace

Embedding embed(const TetMesh& mesh, std::span<const Vec3f> points) {
  if (mesh.tets.empty())
    throw Error("Points cannot be embedded in a body without tetrahedra.", ErrorCode::invalid_argument);
  for (const Vec3f& p : points)
    if (!is_finite(p)) throw Error("A point to embed is not finite.", ErrorCode::invalid_argument);
  const TetFinder finder(mesh);
  if (!finder.has_surface())
    throw Error("Points cannot be embedded in tetrahedra that have no surface.", ErrorCode::invalid_argument);
  Embedding embedding;
  embedding.tet.resize(points.size());
  embedding.weight.resize(points.size());
  constexpr std::size_t k_grain = 1024;
  parallel_for(points.size(), k_grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      throw_if_cancelled();
      const auto [tet, weights] = finder.find(Vec3d(points[i]));
      embedding.tet[i] = tet;
      embedding.weight[i] = rounded(weights);
    }
  });
  return embedding;
}

}  // namespace cotouch
