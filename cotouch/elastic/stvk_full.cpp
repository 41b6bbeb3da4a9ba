#include <cotouch/elastic/stvk_full.h>

#include <algorithm>

namespace cotouch {
namespace {

Mat3 symmetric(const Mat3& a) {
  return (a + a.transposed()) * 0.5;
}

double trace(const Mat3& a) {
  return a(0, 0) + a(1, 1) + a(2, 2);
}

// Green's strain of a displacement gradient.
Mat3 green(const Mat3& g) {
  return symmetric(g) + g.transposed() * g * 0.5;
}

// Adds the forces at a tetrahedron's nodes: the derivative of volume * P:G with respect to the displacement.
void add_forces(const TetGradient& tet, const Mat3& p, std::span<double> force) {
  for (std::size_t k = 0; k < 4; ++k) {
    const Vec3d f = p * tet.slope[k] * tet.volume;
    for (std::size_t i = 0; i < 3; ++i) force[3 * std::size_t{tet.nodes[k]} + i] += f[i];
  }
}

}  // namespace

StvkFull::StvkFull(const TetMesh& mesh, const Material& material)
    : size_(3 * mesh.nodes.size()), lambda_(material.lambda()), mu_(material.mu()) {
  tets_.reserve(mesh.tets.size());
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) tets_.push_back(tet_gradient(mesh, t));
}

Mat3 StvkFull::stress(const Mat3& strain) const {
  return Mat3::identity() * (lambda_ * trace(strain)) + strain * (2 * mu_);
}

double StvkFull::energy(std::span<const double> displacement) const {
  double sum = 0;
  for (const TetGradient& tet : tets_) {
    const Mat3 e = green(tet.of(displacement.data()));
    sum += tet.volume / 2 * trace(e * stress(e));
  }
  return sum;
}

void StvkFull::force(std::span<const double> displacement, std::span<double> force) const {
  std::ranges::fill(force, 0);
  for (const TetGradient& tet : tets_) {
    const Mat3 g = tet.of(displacement.data());
    add_forces(tet, (Mat3::identity() + g) * stress(green(g)), force);
  }
}

void StvkFull::tangent_times(std::span<const double> u, std::span<const double> v, std::span<double> product) const {
  std::ranges::fill(product, 0);
  for (const TetGradient& tet : tets_) {
    const Mat3 g = tet.of(u.data()), f = Mat3::identity() + g, h = tet.of(v.data());
    const Mat3 strain_change = symmetric(f.transposed() * h);
    add_forces(tet, h * stress(green(g)) + f * stress(strain_change), product);
  }
}

void StvkFull::curvature_at_rest(std::span<const double> v, std::span<const double> w,
                                 std::span<double> curvature) const {
  std::ranges::fill(curvature, 0);
  for (const TetGradient& tet : tets_) {
    const Mat3 g = tet.of(v.data()), h = tet.of(w.data());
    add_forces(tet, g * stress(symmetric(h)) + h * stress(symmetric(g)) + stress(symmetric(g.transposed() * h)),
               curvature);
  }
}

}  // namespace cotouch
