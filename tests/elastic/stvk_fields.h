// Bodies and displacement fields that the tests of St. Venant-Kirchhoff bodies share.
#pragma once

#include <cotouch/base/random.h>
#include <cotouch/elastic/modes.h>
#include <cotouch/elastic/stvk_full.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace cotouch::test {

using Field3 = std::vector<double>;  // x, y and z of every node in turn

inline const Material k_rubber{.young = 2e6, .poisson = 0.3, .density = 1000};

inline TetMesh small_box() {
  return tet_box({0.2, 0.1, 0.15}, {3, 2, 2});
}

inline Field3 random_field(std::size_t size, double amplitude, std::uint64_t seed) {
  Random random(seed);
  Field3 field(size);
  for (double& x : field) x = random.uniform(-amplitude, amplitude);
  return field;
}

// u(X) = G X at every node.
inline Field3 affine(const TetMesh& mesh, const Mat3& g) {
  Field3 field;
  for (const Vec3d& node : mesh.nodes) {
    const Vec3d u = g * node;
    field.insert(field.end(), {u.x, u.y, u.z});
  }
  return field;
}

inline Field3 sum(const Field3& a, double s, const Field3& b) {
  Field3 c(a);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] += s * b[i];
  return c;
}

inline double dot(const Field3& a, const Field3& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double largest(const Field3& a) {
  double most = 0;
  for (const double x : a) most = std::max(most, std::abs(x));
  return most;
}

inline Field3 force(const StvkFull& body, const Field3& u) {
  Field3 f(body.size());
  body.force(u, f);
  return f;
}

inline Field3 tangent(const StvkFull& body, const Field3& u, const Field3& v) {
  Field3 f(body.size());
  body.tangent_times(u, v, f);
  return f;
}

// Smooth fields: products of powers of the coordinates, with random factors. Not orthonormal.
inline Shapes smooth_shapes(const TetMesh& mesh, std::uint32_t count, std::uint64_t seed = 1) {
  Shapes shapes{static_cast<std::uint32_t>(mesh.nodes.size()), count, {}};
  Random random(seed);
  for (std::uint32_t s = 0; s < count; ++s) {
    std::array<Vec3d, 8> factors;
    for (Vec3d& factor : factors) factor = random.direction();
    for (const Vec3d& node : mesh.nodes) {
      const double x = node.x / 0.2, y = node.y / 0.1, z = node.z / 0.15;
      const std::array<double, 8> powers{x, y, z, x * x, x * y, y * z, z * x, x * x * x};
      Vec3d u;
      for (std::size_t i = 0; i < powers.size(); ++i) u += factors[i] * powers[i] * 0.1;
      shapes.values.insert(shapes.values.end(), {u.x, u.y, u.z});
    }
  }
  return shapes;
}

// The sum of the shapes, each times its coordinate.
inline Field3 displacement(const Shapes& shapes, const Field3& q) {
  Field3 u(3 * std::size_t{shapes.nodes});
  for (std::size_t a = 0; a < shapes.count; ++a)
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += q[a] * shapes[a][i];
  return u;
}

// The scalar product of every shape with a field.
inline Field3 projection(const Shapes& shapes, const Field3& f) {
  Field3 result(shapes.count);
  for (std::size_t a = 0; a < shapes.count; ++a)
    for (std::size_t i = 0; i < f.size(); ++i) result[a] += shapes[a][i] * f[i];
  return result;
}

}  // namespace cotouch::test
