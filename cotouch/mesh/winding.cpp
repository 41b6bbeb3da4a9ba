#include <cotouch/base/cancel.h>
#include <cotouch/base/parallel.h>
#include <cotouch/base/trig.h>
#include <cotouch/mesh/subdivide.h>
#include <cotouch/mesh/triangle_tree.h>
#include <cotouch/mesh/winding.h>

#include <algorithm>

namespace cotouch {
namespace {

// Small leaves cost memory, large ones exact solid angles.
constexpr std::uint32_t k_leaf_size = 8;

// Sine and cosine, up to a common factor, of half the solid angle of triangle abc seen from the origin
// (van Oosterom & Strackee 1983). Both zero where the origin lies on a corner.
SinCos half_solid_angle(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const double la = norm(a), lb = norm(b), lc = norm(c);
  return {dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb};
}

// Adds angles in (-pi, pi] given by sine and cosine without computing any of them: it multiplies complex numbers and
// counts how often the product passes the negative real axis. One angle is computed at the end.
class AngleSum {
 public:
  void add(const SinCos& angle) {
    const double size = std::fabs(angle.sin) + std::fabs(angle.cos);
    if (!(size > 0)) return;
    const double s = angle.sin / size, c = angle.cos / size;
    const double next_sin = sin_ * c + cos_ * s;
    const double next_cos = cos_ * c - sin_ * s;
    // Two angles from the same half plane, and their sum in the other: it passed pi (or -pi).
    if (sin_ >= 0 && s >= 0 && next_sin < 0) ++turns_;
    if (sin_ < 0 && s < 0 && next_sin >= 0) --turns_;
    sin_ = next_sin;
    cos_ = next_cos;
    // Each factor is between 0.7 and 1 long; bring the product back before it gets too short to count.
    if (++since_rescale_ == 256) {
      const double grow = 1 / (std::fabs(sin_) + std::fabs(cos_));
      sin_ *= grow;
      cos_ *= grow;
      since_rescale_ = 0;
    }
  }
  double total() const { return angle_of(sin_, cos_) + 2 * k_pi * turns_; }

 private:
  double sin_ = 0, cos_ = 1;
  int turns_ = 0;
  int since_rescale_ = 0;
};

// Long triangles cut into pieces that make compact clusters: uncut, the slivers of a CAD face would keep every cluster
// near every point. The pieces see the same solid angle together. So few triangles that all of them can count exactly
// stay as they are.
TriangleMesh compact_pieces(const TriangleMesh& mesh) {
  constexpr std::size_t k_few = 256;
  if (mesh.triangles.size() <= k_few) return mesh;
  const Vec3d size = mesh.bounds().size();
  return with_short_edges(mesh, std::max({size.x, size.y, size.z}) / 32, 2 * mesh.triangles.size() + 200'000);
}

}  // namespace

WindingNumber::WindingNumber(const TriangleMesh& whole, double far) : far_(far) {
  const TriangleMesh mesh = compact_pieces(whole);
  const TriangleTree tree = build_triangle_tree(mesh, k_leaf_size);
  triangles_.reserve(tree.order.size());
  for (const std::uint32_t index : tree.order) {
    const auto [a, b, c] = mesh.corners(index);
    triangles_.push_back({a, b, c});
  }
  nodes_.resize(tree.nodes.size());
  parallel_for(nodes_.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const TriangleTree::Node& from = tree.nodes[n];
      nodes_[n].first = from.first;
      nodes_[n].count = from.count;
      nodes_[n].right = from.right;
      expand(nodes_[n], from.box.center(), far);
    }
  });
}

// Moments of the area vectors A about the center: C_ij = sum x_i A_j and S_ijk = sum x_i x_j A_k, integrated over each
// triangle, contracted with the derivatives of r / |r|^3.
void WindingNumber::expand(Node& node, const Vec3d& fallback_center, double far) const {
  Vec3d weighted;
  double area = 0;
  for (std::uint32_t t = node.first; t < node.first + node.count; ++t) {
    throw_if_cancelled();
    const auto& [a, b, c] = triangles_[t];
    const double twice = norm(cross(b - a, c - a));
    weighted += (a + b + c) * (twice / 3);
    area += twice;
  }
  node.center = area > 0 ? weighted / area : fallback_center;

  double radius_squared = 0;
  double m[3][3] = {}, s[3][3][3] = {};
  node.dipole = {};
  for (std::uint32_t t = node.first; t < node.first + node.count; ++t) {
    const Vec3d u[3] = {triangles_[t].a - node.center, triangles_[t].b - node.center, triangles_[t].c - node.center};
    const Vec3d area_vector = cross(u[1] - u[0], u[2] - u[0]) * 0.5;
    const Vec3d sum = u[0] + u[1] + u[2];
    for (const Vec3d& corner : u) radius_squared = std::max(radius_squared, norm_squared(corner));
    node.dipole += area_vector;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) m[i][j] += sum[i] * area_vector[j] / 3;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j) {
        // The mean of x_i x_j over a triangle.
        const double second = (u[0][i] * u[0][j] + u[1][i] * u[1][j] + u[2][i] * u[2][j] + sum[i] * sum[j]) / 12;
        for (std::size_t k = 0; k < 3; ++k) s[i][j][k] += second * area_vector[k];
      }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    s[1][0][k] = s[0][1][k];
    s[2][0][k] = s[0][2][k];
    s[2][1][k] = s[1][2][k];
  }
  node.far_squared = far * far * radius_squared;

  // Second term: tr(C) r.r - 3 r'Cr.
  const double trace = m[0][0] + m[1][1] + m[2][2];
  for (std::size_t i = 0; i < 3; ++i) node.quadrupole[i] = trace - 3 * m[i][i];
  node.quadrupole[3] = -3 * (m[0][1] + m[1][0]);
  node.quadrupole[4] = -3 * (m[0][2] + m[2][0]);
  node.quadrupole[5] = -3 * (m[1][2] + m[2][1]);

  // Third term: 15/2 S(r,r,r) - 9/2 (s.r)(r.r) with s the trace of the symmetric part of S.
  const auto symmetric = [&](std::size_t i, std::size_t j, std::size_t k) {
    return (s[i][j][k] + s[j][k][i] + s[k][i][j]) / 3;
  };
  Vec3d traces;
  for (std::size_t k = 0; k < 3; ++k) traces[k] = symmetric(0, 0, k) + symmetric(1, 1, k) + symmetric(2, 2, k);
  for (std::size_t i = 0; i < 3; ++i) node.octupole[i] = 7.5 * symmetric(i, i, i) - 4.5 * traces[i];
  node.octupole[3] = 22.5 * symmetric(0, 0, 1) - 4.5 * traces.y;
  node.octupole[4] = 22.5 * symmetric(0, 0, 2) - 4.5 * traces.z;
  node.octupole[5] = 22.5 * symmetric(0, 1, 1) - 4.5 * traces.x;
  node.octupole[6] = 22.5 * symmetric(1, 1, 2) - 4.5 * traces.z;
  node.octupole[7] = 22.5 * symmetric(0, 2, 2) - 4.5 * traces.x;
  node.octupole[8] = 22.5 * symmetric(1, 2, 2) - 4.5 * traces.y;
  node.octupole[9] = 45 * symmetric(0, 1, 2);
}

template <class Far, class Near>
void WindingNumber::visit(const Vec3d& p, const Far& far, const Near& near) const {
  std::uint32_t stack[TriangleTree::k_max_depth + 2];
  std::size_t size = 0;
  if (!nodes_.empty()) stack[size++] = 0;
  while (size > 0) {
    const std::uint32_t index = stack[--size];
    const Node& node = nodes_[index];
    const Vec3d r = node.center - p;
    const double r2 = norm_squared(r);
    if (r2 > node.far_squared) {
      far(node, r, r2);
    } else if (node.right == 0) {
      near(node);
    } else {
      stack[size++] = node.right;
      stack[size++] = index + 1;
    }
  }
}

double WindingNumber::at(const Vec3d& p) const noexcept {
  AngleSum angles;
  double series = 0;
  const auto far = [&](const Node& node, const Vec3d& r, double r2) {
    const double* q = node.quadrupole;
    const double* o = node.octupole;
    const double xx = r.x * r.x, yy = r.y * r.y, zz = r.z * r.z, xy = r.x * r.y;
    const double second = q[0] * xx + q[1] * yy + q[2] * zz + q[3] * xy + q[4] * r.x * r.z + q[5] * r.y * r.z;
    const double third = (o[0] * r.x + o[3] * r.y + o[4] * r.z) * xx + (o[1] * r.y + o[5] * r.x + o[6] * r.z) * yy +
                         (o[2] * r.z + o[7] * r.x + o[8] * r.y) * zz + o[9] * xy * r.z;
    const double inverse2 = 1 / r2;
    series += (dot(node.dipole, r) + (second + third * inverse2) * inverse2) * inverse2 / std::sqrt(r2);
  };
  const auto near = [&](const Node& leaf) {
    for (std::uint32_t t = leaf.first; t < leaf.first + leaf.count; ++t)
      angles.add(half_solid_angle(triangles_[t].a - p, triangles_[t].b - p, triangles_[t].c - p));
  };
  visit(p, far, near);
  return series / (4 * k_pi) + angles.total() / (2 * k_pi);
}

std::size_t WindingNumber::terms(const Vec3d& p) const noexcept {
  std::size_t count = 0;
  visit(
      p, [&](const Node&, const Vec3d&, double) { ++count; }, [&](const Node& leaf) { count += leaf.count; });
  return count;
}

void WindingNumber::limit_terms(std::size_t most) {
  constexpr std::size_t k_points = 64;
  constexpr double k_nearest = 1.2, k_step = 0.9;
  const auto mean = [&] {
    const std::size_t points = std::min(triangles_.size(), k_points);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < points; ++i) {
      const auto& [a, b, c] = triangles_[i * triangles_.size() / points];
      throw_if_cancelled();
      sum += terms((a + b + c) / 3.0);
    }
    return sum / points;
  };
  while (far_ * k_step >= k_nearest && !triangles_.empty() && mean() > most) {
    far_ *= k_step;
    for (Node& node : nodes_) node.far_squared *= k_step * k_step;
  }
}

}  // namespace cotouch
