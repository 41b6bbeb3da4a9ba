// The generalised winding number of any triangles: how often the surface winds around a point.
//
// One inside a closed outward-oriented surface, zero outside; for open, overlapping or partly flipped surfaces it
// varies smoothly in between, which makes it the measure of "inside" for polygon soup (Jacobson, Kavan & Sorkine 2013):
//   w(p) = 1/(4 pi) * sum over triangles of the signed solid angle seen from p.
// Clusters of triangles that are far away compared with their size are replaced by the first terms of their multipole
// series (Barill, Dickson, Schmidt, Levin & Jacobson 2018); near ones count exactly.
#pragma once

#include <cotouch/mesh/mesh.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cotouch {

class WindingNumber {
 public:
  WindingNumber() = default;
  // A cluster counts as far when its distance exceeds `far` times its radius. The error of the whole sum is below
  // 1e-2 at the default (typically half of that, twice that for bundles of slivers; see the tests) and falls with the
  // third power of `far`.
  explicit WindingNumber(const TriangleMesh& mesh, double far = 2.0);

  // Safe to call from several threads at once; the same bits on every machine.
  double at(const Vec3d& p) const noexcept;

  // How many series and solid angles at(p) adds up.
  std::size_t terms(const Vec3d& p) const noexcept;
  // Counts clusters as far sooner, until close to the surface a point takes no more than `most` terms on average, but
  // no sooner than at 1.2 times their radius. Large triangles that cross each other everywhere would take thousands.
  // The error is then below 0.4, but it is that of far clusters: across a triangle the number still jumps by one.
  void limit_terms(std::size_t most);

 private:
  // The series about `center`, with r = center - p:
  //   4 pi w = dipole . r / |r|^3 + quadrupole(r) / |r|^5 + octupole(r) / |r|^7,
  // the last two polynomials of degree two and three in r given by their coefficients.
  struct Node {
    Vec3d center;
    double far_squared;  // the series is good beyond this distance from the center
    Vec3d dipole;
    double quadrupole[6];        // of xx yy zz xy xz yz
    double octupole[10];         // of xxx yyy zzz xxy xxz xyy yyz xzz yzz xyz
    std::uint32_t first, count;  // triangles
    std::uint32_t right;         // zero in a leaf; the left child follows directly
  };
  struct Corners {
    Vec3d a, b, c;
  };

  void expand(Node& node, const Vec3d& fallback_center, double far) const;
  // Calls far(node, r, r.r) with r = center - p, or near(leaf), for nodes that together hold all triangles.
  template <class Far, class Near>
  void visit(const Vec3d& p, const Far& far, const Near& near) const;

  double far_ = 0;
  std::vector<Node> nodes_;
  std::vector<Corners> triangles_;  // in the order of the tree
};

}  // namespace cotouch
