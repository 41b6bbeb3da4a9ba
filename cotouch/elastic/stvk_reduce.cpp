// Green's strain of u = sum q_a U_a in a tetrahedron, with G_a the gradient of U_a:
//   E = sum over a of q_a sym(G_a) + sum over a <= b of q_a q_b e_ab,
//   e_ab = sym(G_a' G_b), half of it if a = b:
// a sum over pairs of x = (1, q), each with a strain of six numbers. These are scaled so that the energy is the sum of
// their squares; then the energy of all products of two pairs is one matrix product over all tetrahedra.
#include <cotouch/elastic/stvk_polynomials.h>

#include <cotouch/base/error.h>
#include <cotouch/elastic/dense.h>
#include <cotouch/elastic/packed_ldl.h>
#include <cotouch/elastic/tet_gradient.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace cotouch {
namespace {

constexpr std::size_t k_strains = 6;
constexpr std::size_t k_batch = 128;  // tetrahedra whose strains are held at a time

using Row = std::array<double, StvkPolynomials::k_most>;  // a number for each shape
using Strain = std::array<double*, k_strains>;            // where xx, yy, zz, yz, zx and xy are written

class Strains {
 public:
  Strains(const Material& material, const Shapes& shapes) : shapes_(shapes) {
    // W = (lambda/2 + mu/3) tr(E)^2 + mu E~:E~, where E~ is E without its mean stretch.
    trace_ = std::sqrt(material.lambda() / 2 + material.mu() / 3);
    rest_ = std::sqrt(material.mu());
  }

  // Writes six rows of a number for each pair of x, in the order of a packed matrix of (1 + shapes) rows.
  void write(const TetGradient& tet, double* out) {
    const std::size_t r = shapes_.count, n = r + 1, pairs = packed_size(n);
    for (std::size_t a = 0; a < r; ++a) {
      const Mat3 g = tet.of(shapes_[a]);
      for (std::size_t i = 0; i < 9; ++i) gradient_[i][a] = g.m[i];
    }
    Strain e;
    for (std::size_t i = 0; i < k_strains; ++i) {
      e[i] = out + i * pairs;
      *e[i]++ = 0;  // the constant times itself
    }
    write_linear(e);
    for (std::size_t a = 0; a < r; ++a) write_pairs(a, e);
    scale(std::sqrt(tet.volume), out, pairs);
  }

 private:
  void write_linear(Strain& e) const {
    const auto& g = gradient_;
    for (std::size_t a = 0; a < shapes_.count; ++a) {
      *e[0]++ = g[0][a];
      *e[1]++ = g[4][a];
      *e[2]++ = g[8][a];
      *e[3]++ = (g[5][a] + g[7][a]) / 2;
      *e[4]++ = (g[6][a] + g[2][a]) / 2;
      *e[5]++ = (g[1][a] + g[3][a]) / 2;
    }
  }

  // e_ab for all b >= a. Column i of G_a times column j of G_b is at G[i], G[3 + i], G[6 + i].
  void write_pairs(std::size_t a, Strain& e) const {
    const auto& g = gradient_;
    const std::size_t count = shapes_.count - a;
    const auto write_one = [&](double* to, std::size_t i, std::size_t j) {
      const double i0 = g[i][a] / 2, i1 = g[3 + i][a] / 2, i2 = g[6 + i][a] / 2;
      const double j0 = g[j][a] / 2, j1 = g[3 + j][a] / 2, j2 = g[6 + j][a] / 2;
      const double *bi0 = &g[i][a], *bi1 = &g[3 + i][a], *bi2 = &g[6 + i][a];
      const double *bj0 = &g[j][a], *bj1 = &g[3 + j][a], *bj2 = &g[6 + j][a];
      for (std::size_t b = 0; b < count; ++b)
        to[b] = i0 * bj0[b] + i1 * bj1[b] + i2 * bj2[b] + (j0 * bi0[b] + j1 * bi1[b] + j2 * bi2[b]);
      to[0] /= 2;
    };
    constexpr std::array<std::array<std::size_t, 2>, k_strains> places{
        {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}}};
    for (std::size_t i = 0; i < k_strains; ++i) {
      write_one(e[i], places[i][0], places[i][1]);
      e[i] += count;
    }
  }

  // Strains become numbers the sum of whose squares is the energy: the mean stretch, and five without it.
  void scale(double root_of_volume, double* out, std::size_t pairs) const {
    const double trace = trace_ * root_of_volume, rest = rest_ * root_of_volume;
    const double two = rest * std::sqrt(0.5), six = rest * std::sqrt(1.0 / 6), shear = rest * std::sqrt(2.0);
    double *const xx = out, *const yy = out + pairs, *const zz = out + 2 * pairs;
    for (std::size_t p = 0; p < pairs; ++p) {
      const double x = xx[p], y = yy[p], z = zz[p];
      xx[p] = trace * (x + y + z);
      yy[p] = two * (x - y);
      zz[p] = six * (x + y - 2 * z);
    }
    for (double* p = out + 3 * pairs; p != out + 6 * pairs; ++p) *p *= shear;
  }

  const Shapes& shapes_;
  double trace_ = 0, rest_ = 0;
  std::array<Row, 9> gradient_{};  // row-major, as Mat3
};

// The coefficients of F from the energies of products of two pairs, of which the lower triangle is given.
std::vector<double> collect(const std::vector<double>& products, std::uint32_t size) {
  const std::size_t n = std::size_t{size} + 1, pairs = packed_size(n);
  std::vector<std::array<std::size_t, 2>> factors;
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a; b < n; ++b) factors.push_back({a, b});
  std::vector<double> coefficients(StvkPolynomials::coefficient_count(size));
  for (std::size_t p = 1; p < pairs; ++p)
    for (std::size_t q = p; q < pairs; ++q) {
      std::array<std::size_t, 4> x{factors[p][0], factors[p][1], factors[q][0], factors[q][1]};
      std::sort(x.begin(), x.end());
      coefficients[StvkPolynomials::coefficient_index(size, x[0], x[1], x[2], x[3])] +=
          (p == q ? 1 : 2) * products[q + p * pairs];
    }
  return coefficients;
}

}  // namespace

StvkPolynomials reduce_stvk(const TetMesh& mesh, const Material& material, const Shapes& shapes, Progress& progress) {
  if (shapes.count < 1 || shapes.count > StvkPolynomials::k_most)
    throw Error("An elastic body bends in " + std::to_string(shapes.count) + " ways; it can have from 1 to " +
                    std::to_string(StvkPolynomials::k_most) + ".",
                ErrorCode::invalid_argument);
  const std::size_t pairs = packed_size(std::size_t{shapes.count} + 1);
  std::vector<double> strains(k_batch * k_strains * pairs), products(pairs * pairs);
  Strains writer(material, shapes);
  for (std::size_t begin = 0; begin < mesh.tets.size(); begin += k_batch) {
    progress.update("Reducing the body", static_cast<double>(begin) / static_cast<double>(mesh.tets.size()));
    const std::size_t end = std::min(mesh.tets.size(), begin + k_batch);
    for (std::size_t t = begin; t < end; ++t)
      writer.write(tet_gradient(mesh, t), strains.data() + (t - begin) * k_strains * pairs);
    const ConstDense transposed{strains.data(), pairs, (end - begin) * k_strains, 1, pairs};
    add_product(Dense(products.data(), pairs, pairs), 1, transposed, transposed.transposed(), Half::lower);
  }
  const auto coefficients = std::make_shared<std::vector<double>>(collect(products, shapes.count));
  return StvkPolynomials({shapes.count, *coefficients}, coefficients);
}

}  // namespace cotouch
