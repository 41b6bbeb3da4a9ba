// The closest point of a triangle mesh, exactly.
//
// The answer is the minimum over all triangles of (squared distance as computed by closest_on_triangle, triangle
// index), whatever the order of the search: the boxes only rule out triangles that cannot win, with room for rounding.
// So it equals a search through all triangles bit for bit, and of two triangles at the same distance the lower index
// wins.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace cotouch {

struct ClosestHit {
  static constexpr std::uint32_t k_none = 0xffffffff;

  double distance_squared = std::numeric_limits<double>::infinity();  // square metres
  Vec3d point;
  // The point is weights . corners. A weight of exactly zero says the point lies on the opposite edge, two that it is a
  // corner.
  Vec3d weights;
  std::uint32_t triangle = k_none;

  explicit operator bool() const { return triangle != k_none; }
};

struct ClosestOnTriangle {
  double distance_squared;
  Vec3d point, weights;
};

// Works for triangles without area too: a needle is a segment, three equal corners are a point.
ClosestOnTriangle closest_on_triangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) noexcept;

class ClosestTriangle {
 public:
  ClosestTriangle() = default;
  // Keeps what it needs; the mesh may go.
  explicit ClosestTriangle(const TriangleMesh& mesh);

  // The closest point no further than `upper_bound` metres; no triangle where there is none. The closer the bound, the
  // quicker the answer: for a walk of queries, pass the last distance plus the length of the step.
  // Safe to call from several threads at once.
  ClosestHit closest(const Vec3d& p, double upper_bound = std::numeric_limits<double>::infinity()) const noexcept;
  // The same if one triangle is measured from p already: quickest if it is the answer. `known` holds what
  // closest_on_triangle says of it.
  ClosestHit closest(const Vec3d& p, const ClosestHit& known) const noexcept;

  // For many queries in one place: the groups of triangles of which any may be the closest to one of them.
  struct Group {
    std::uint32_t leaf = 0, count = 0;
    float least_squared = 0;  // no query in the place is nearer
  };
  struct Nearby {
    std::array<Group, 128> groups;
    std::size_t size = 0;
  };
  // Collects those for queries within `radius` of `center`, where a triangle is `distance` from the center (all that
  // can win are then within distance + 2 radius of it). False if they are more than there is room for.
  bool collect(const Vec3d& center, double radius, double distance, Nearby& nearby) const noexcept;
  ClosestHit closest(const Vec3d& p, const ClosestHit& known, const Nearby& nearby) const noexcept;

  bool empty() const { return triangles_.empty(); }

 private:
  using Four = float __attribute__((vector_size(16)));

  // Four children with their boxes side by side, so that one pass over two cache lines measures all four. The boxes are
  // relative to the mesh's center and rounded outward to float.
  struct alignas(64) Node {
    float low[3][4];
    float high[3][4];
    std::uint32_t child[4];  // a node, or a leaf of `count` triangles
    std::uint8_t count[4];   // zero: the child is a node

    Four distances_squared(const Four& x, const Four& y, const Four& z) const;  // of the boxes
  };
  struct Corners {
    Vec3d a, b, c;
    std::uint32_t index;
  };

  // Up to four triangles, each in a rectangle in its plane, side by side in float: to see which of them are worth
  // measuring.
  struct alignas(16) Leaf {
    float center[3][4] = {};   // relative to `origin`
    float axis[3][3][4] = {};  // along the longest edge, across it, normal
    float half_size[2][4] = {};
    Vec3d origin;
    float size = 0;  // no corner is farther from the origin along an axis
    std::uint32_t first = 0;

    Leaf(std::span<const Corners> triangles, std::uint32_t first);
    struct Rough;
    Rough measure(const Vec3d& p) const;
  };

  struct Limit;
  // Measures those of a group that may be closer than `best`, which it replaces.
  void look_at(const Group& group, const Vec3d& p, ClosestHit& best, Limit& limit) const noexcept;

  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
  std::vector<Corners> triangles_;  // in the order of the tree
  Vec3d center_;                    // what the boxes are relative to
};

}  // namespace cotouch
