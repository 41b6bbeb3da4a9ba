// The St. Venant-Kirchhoff body with all its nodes: Hooke's law for Green's strain, so that a body may turn and bend
// far as long as its material stretches little. Too slow to touch; reduced bodies (stvk_polynomials.h) are made from it
// and tested against it.
//
// With the displacement u and its gradient G in a tetrahedron,
//   E = (G + G' + G'G) / 2,   W = sum over tetrahedra of volume * (lambda/2 tr(E)^2 + mu E:E):
// a polynomial of the fourth degree in u. A displacement holds x, y and z of every node of the mesh in turn, metres.
#pragma once

#include <cotouch/elastic/material.h>
#include <cotouch/elastic/tet_gradient.h>

#include <span>
#include <vector>

namespace cotouch {

class StvkFull {
 public:
  StvkFull(const TetMesh& mesh, const Material& material);

  std::size_t size() const { return size_; }  // numbers in a displacement

  double energy(std::span<const double> displacement) const;  // W, J
  // f = dW/du, N. The body pulls back with -f.
  void force(std::span<const double> displacement, std::span<double> force) const;
  // (df/du) v at u.
  void tangent_times(std::span<const double> u, std::span<const double> v, std::span<double> product) const;
  // The second derivative of f along v and w at rest, (d^2f/du^2) : v w. Symmetric in v and w.
  void curvature_at_rest(std::span<const double> v, std::span<const double> w, std::span<double> curvature) const;

 private:
  Mat3 stress(const Mat3& strain) const;  // Hooke: lambda tr(E) 1 + 2 mu E

  std::size_t size_ = 0;
  double lambda_ = 0, mu_ = 0;
  std::vector<TetGradient> tets_;
};

}  // namespace cotouch
